//! What became of an endpoint's events: lists them, sends one again, and sends a test event.

use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::webhook::{Delivery, DeliveryState, Event, EventType, Subject, TESTS};
use dropleaf_core::{Error, Minter, Result};
use dropleaf_store::webhook_outbox::{self, OutboxEvent};
use dropleaf_store::{counters, webhook_deliveries as rows};

const LIST_DEFAULT: i64 = 50;
const LIST_MOST: i64 = 200;

/// Which deliveries to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeliveryQuery {
    pub state: Option<DeliveryState>,
    /// Only those before this position.
    pub before: Option<i64>,
    pub limit: Option<i64>,
}

/// A page of the list, newest first.
#[derive(Debug)]
pub struct DeliveryList {
    pub deliveries: Vec<Delivery>,
    /// For the next page, if there is more.
    pub next_before: Option<i64>,
}

impl App {
    pub async fn list_webhook_deliveries(
        &self,
        account: &Account,
        grant_id: Option<&str>,
        id: &str,
        query: DeliveryQuery,
    ) -> Result<DeliveryList> {
        let limit = query.limit.unwrap_or(LIST_DEFAULT);
        if !(1..=LIST_MOST).contains(&limit) {
            return Err(Error::field("limit", format!("must be 1 to {LIST_MOST}")));
        }
        let endpoint = self.get_webhook(account, grant_id, id).await?;
        let before = query.before.unwrap_or(i64::MAX);
        let mut deliveries = self.store.list_deliveries(&endpoint.id, query.state, before, limit + 1).await?;
        let has_more = i64::try_from(deliveries.len()).is_ok_and(|found| found > limit);
        deliveries.truncate(usize::try_from(limit).unwrap_or_default());
        let next_before = deliveries.last().filter(|_| has_more).map(|last| last.seq);
        Ok(DeliveryList { deliveries, next_before })
    }

    /// Sends a delivery again: a finished one after those that wait for the same page, a waiting one now.
    pub async fn retry_webhook_delivery(
        &self,
        account: &Account,
        grant_id: Option<&str>,
        id: &str,
        delivery_id: &str,
    ) -> Result<Delivery> {
        let endpoint = self.get_webhook(account, grant_id, id).await?;
        let delivery = self.get_webhook_delivery(&endpoint.id, delivery_id).await?;
        let now = self.now();
        let stmts = match delivery.state {
            DeliveryState::Waiting => vec![rows::hurry(&endpoint.id, &delivery.id, now)],
            DeliveryState::Delivered | DeliveryState::Dead => {
                rows::requeue(&endpoint.id, &delivery.id, self.settings.webhooks.waiting, now).into()
            }
        };
        let outcome = self.commit_for_account(&account.id, stmts).await;
        outcome.map_err(|error| self.webhook_guard_error(error))?;
        self.get_webhook_delivery(&endpoint.id, delivery_id).await
    }

    /// Sends a test event to one endpoint, whatever events it wants.
    pub async fn test_webhook(
        &self,
        account: &Account,
        grant_id: Option<&str>,
        id: &str,
    ) -> Result<Delivery> {
        let endpoint = self.get_webhook(account, grant_id, id).await?;
        let now = self.now();
        let event_id = self.minter.ordered_id("evt", now);
        let subject = Subject::Webhook { id: &endpoint.id };
        let event = Event { event_type: EventType::WebhookTest, account_id: &account.id, subject };
        let row = OutboxEvent {
            id: &event_id,
            event_type: event.event_type,
            account_id: &account.id,
            site_id: None,
            body: &event.payload(now),
            now,
        };
        let mut stmts = vec![counters::take(&format!("{}:{}", TESTS.name, account.id), &TESTS, now)];
        stmts.extend(webhook_outbox::enqueue_for(&endpoint.id, &row, self.settings.webhooks.waiting));
        let outcome = self.commit_for_account(&account.id, stmts).await;
        outcome.map_err(|error| self.webhook_guard_error(error))?;
        self.get_webhook_delivery(&endpoint.id, &event_id).await
    }

    async fn get_webhook_delivery(&self, endpoint_id: &str, id: &str) -> Result<Delivery> {
        let unknown = || Error::not_found("delivery");
        if !Minter::is_id("evt", id) {
            return Err(unknown());
        }
        self.store.find_delivery(endpoint_id, id).await?.ok_or_else(unknown)
    }
}
