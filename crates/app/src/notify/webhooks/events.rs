//! Statements that write events, for the transaction of the change they tell of.

use crate::app::App;
use dropleaf_core::Result;
use dropleaf_core::account::Account;
use dropleaf_core::custom_domain::CustomDomain;
use dropleaf_core::payment::Payment;
use dropleaf_core::site::{Site, State};
use dropleaf_core::webhook::{Event, EventType, Subject};
use dropleaf_store::Stmt;
use dropleaf_store::webhook_outbox::{self, OutboxCondition, OutboxEvent};

impl App {
    /// Writes an event for every endpoint of the account that wants it. Put the statements last: they lock endpoints, which
    /// come after accounts and pages in the order of locks.
    pub(crate) fn event_stmts(&self, event: &Event<'_>) -> [Stmt; 2] {
        self.event_stmts_if(event, OutboxCondition::Always)
    }

    /// The same under a condition that is checked in the transaction.
    pub(crate) fn event_stmts_if(&self, event: &Event<'_>, condition: OutboxCondition<'_>) -> [Stmt; 2] {
        let now = self.now();
        let row = OutboxEvent {
            id: &self.minter.ordered_id("evt", now),
            event_type: event.event_type,
            account_id: event.account_id,
            site_id: event.subject.site_id(),
            body: &event.payload(now),
            now,
        };
        webhook_outbox::enqueue(&row, condition, self.settings.webhooks.waiting)
    }

    /// The event of a page that ends; none if it had ended that way, or if its owner ended it.
    pub(crate) fn site_end_stmts(&self, before: &Site, state: State) -> Vec<Stmt> {
        let event_type = match state {
            State::Expired => EventType::SiteExpired,
            State::Burnt => EventType::SiteBurnt,
            State::TakenDown => EventType::SiteTakenDown,
            State::Live | State::Deleted => return Vec::new(),
        };
        let Some(account_id) = before.account_id.as_deref().filter(|_| before.state != state) else {
            return Vec::new();
        };
        let expires_at = before.expires_at.filter(|_| state == State::Expired);
        let subject = Subject::Site { id: &before.id, expires_at };
        self.event_stmts(&Event { event_type, account_id, subject }).into()
    }

    /// The event of a comment. None if the page has no owner.
    pub(crate) fn feedback_stmts(&self, event_type: EventType, site: &Site, feedback_id: &str) -> Vec<Stmt> {
        let Some(account_id) = site.account_id.as_deref() else { return Vec::new() };
        let subject = Subject::Feedback { site_id: &site.id, id: feedback_id };
        self.event_stmts(&Event { event_type, account_id, subject }).into()
    }

    /// The event of a comment that is about to be resolved, unless it is resolved already. Goes before that change.
    pub(crate) fn resolving_stmts(&self, account_id: &str, site_id: &str, feedback_id: &str) -> [Stmt; 2] {
        let subject = Subject::Feedback { site_id, id: feedback_id };
        let event = Event { event_type: EventType::FeedbackResolved, account_id, subject };
        self.event_stmts_if(&event, OutboxCondition::Unresolved(feedback_id))
    }

    /// The event of a comment whose resolution was undone, if it is open now. Goes after that change.
    pub(crate) fn undoing_stmts(&self, account_id: &str, site_id: &str, feedback_id: &str) -> [Stmt; 2] {
        let subject = Subject::Feedback { site_id, id: feedback_id };
        let event = Event { event_type: EventType::FeedbackReopened, account_id, subject };
        self.event_stmts_if(&event, OutboxCondition::Unresolved(feedback_id))
    }

    /// Whether the account has an endpoint, for changes with so many events that their statements are left out otherwise.
    pub(crate) async fn has_webhooks(&self, account: &Account) -> Result<bool> {
        Ok(!self.store.list_webhooks(&account.id, None).await?.is_empty())
    }

    /// The event of a page's first view, unless it was viewed before. Goes before the views are added, with the row of the
    /// page locked.
    pub(crate) fn first_view_stmts(&self, account_id: &str, site_id: &str) -> [Stmt; 2] {
        let subject = Subject::Site { id: site_id, expires_at: None };
        let event = Event { event_type: EventType::SiteFirstViewed, account_id, subject };
        self.event_stmts_if(&event, OutboxCondition::Unviewed(site_id))
    }

    /// The event of a domain that stops working.
    pub(crate) fn domain_stmts(&self, before: &CustomDomain, after: &CustomDomain) -> Vec<Stmt> {
        if !before.is_verified() || after.is_verified() {
            return Vec::new();
        }
        let subject = Subject::Domain { site_id: &before.site_id, hostname: before.hostname.as_str() };
        let (event_type, account_id) = (EventType::DomainLapsed, before.account_id.as_str());
        self.event_stmts(&Event { event_type, account_id, subject }).into()
    }

    /// The event of a payment that was fulfilled. None if it has no account.
    pub(crate) fn payment_stmts(&self, payment: &Payment) -> Vec<Stmt> {
        let Some(account_id) = payment.account_id.as_deref() else { return Vec::new() };
        let subject = Subject::Payment { id: &payment.id, item: payment.item.as_str() };
        self.event_stmts(&Event { event_type: EventType::PaymentReceived, account_id, subject }).into()
    }
}
