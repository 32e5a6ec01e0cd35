//! Pay sessions: a program creates one, shows its link to a person, and polls until it is paid. The key of a new account is
//! delivered by polling, exactly once.

use super::card_payment::DeliveredKey;
use crate::accounts::suspension::require_active_account;
use crate::app::App;
use crate::pay::unlock::already_unlocked;
use dropleaf_core::account::Account;
use dropleaf_core::pay_session::{BEGIN_SECONDS, Feature, PaySession, PaySessionState, SMALLEST_MINOR};
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::{Code, Error, Result, secret};
use dropleaf_store::{Stmt, pay_sessions, processor_events};
use std::net::IpAddr;

/// Why no card is charged.
pub(in crate::pay) const NO_PROCESSOR: &str = "No card processor is configured.";
/// Sessions that no one began to pay are kept this long after they expired, so that their programs learn it.
const UNPAID_SECONDS: i64 = 86_400;
/// All others; as long as an undelivered key.
const KEPT_SECONDS: i64 = 90 * 86_400;
/// The processor repeats an event for a few days.
const EVENT_SECONDS: i64 = 30 * 86_400;
/// A dispute is decided within months.
const DISPUTE_SECONDS: i64 = 2 * 365 * 86_400;
const DELETED_AT_ONCE: i64 = 5000;
/// Longer texts are neither codes nor slugs.
const SECRET_BYTES: usize = 64;

/// A request for a pay session.
#[derive(Debug)]
pub struct NewPaySession<'a> {
    pub feature: Feature,
    /// `None`: the default of the feature.
    pub amount_minor: Option<i64>,
    /// The account that buys; none is needed for a new account.
    pub account: Option<&'a Account>,
    pub ip: Option<IpAddr>,
}

/// A new pay session, with the secrets that are not stored.
#[derive(Debug)]
pub struct CreatedPaySession {
    pub session: PaySession,
    /// What its program polls with.
    pub code: String,
    /// The last part of the address of the pay page.
    pub slug: String,
}

/// A pay session for the program that polls it.
#[derive(Debug)]
pub struct PolledPaySession {
    pub session: PaySession,
    pub state: PaySessionState,
    /// The key of the new account; only in the first response after the payment.
    pub key: Option<DeliveredKey>,
    /// Whether the key was delivered, by this response or before. `None` until there is one.
    pub is_key_delivered: Option<bool>,
}

impl App {
    /// Whether people can pay by card here.
    pub const fn accepts_cards(&self) -> bool {
        self.payments.processor.is_some()
    }

    /// Why no shared payment token can be charged for a key; `None` if it can. A token is charged exactly the price, and the
    /// processor charges no less than its minimum. Pay links charge the minimum and credit the difference.
    pub fn token_unavailable(&self) -> Option<&'static str> {
        if !self.accepts_cards() {
            return Some(NO_PROCESSOR);
        }
        let price = self.settings.payments.as_ref().map(|sold| sold.prices.cents_of(Item::Provision));
        (price? < SMALLEST_MINOR)
            .then_some("The price is below the smallest amount that a card is charged, $0.50.")
    }

    pub async fn create_pay_session(&self, new: NewPaySession<'_>) -> Result<CreatedPaySession> {
        let item = new.feature.item();
        let sold = self.require_payments()?;
        self.require_processor()?;
        if new.feature.needs_account() && new.account.is_none() {
            return Err(Error::plain(Code::AuthRequired));
        }
        if let Some(account) = new.account {
            account.check_active()?;
        }
        let (price, now) = (sold.prices.cents_of(item), self.now());
        let amount_minor = new.feature.amount(new.amount_minor, price)?;
        match (new.feature, new.account) {
            (Feature::Provision, _) => {
                self.check_provision_allowed()?;
                self.count_sandbox_sale(item, new.ip).await?;
            }
            (Feature::Unlock(sku), Some(account)) if self.is_unlocked(&account.id, sku).await? => {
                return Err(already_unlocked());
            }
            _ => {}
        }
        let (code, slug) = (self.minter.page_token(), self.minter.pay_slug());
        let session = PaySession {
            id: self.minter.ordered_id("ps", now),
            code_hash: secret::hash(&code),
            slug_hash: secret::hash(&slug),
            feature: new.feature,
            amount_minor,
            price_minor: price,
            sandbox: sold.is_sandbox(),
            // A new account is independent of the caller's.
            account_id: new.account.filter(|_| new.feature.needs_account()).map(|account| account.id.clone()),
            state: PaySessionState::Pending,
            checkout_id: None,
            payment_id: None,
            created_at: now,
            expires_at: now + BEGIN_SECONDS,
            checked_at: 0,
        };
        let stmts = vec![pay_sessions::insert(&session)];
        self.store.commit(require_active_account(session.account_id.as_deref(), stmts)).await?;
        tracing::info!(session = session.id, feature = session.feature.as_str(), "pay session created");
        Ok(CreatedPaySession { session, code, slug })
    }

    /// The session behind the address of a pay page, as the processor knows it now.
    pub async fn find_pay_page(&self, slug: &str) -> Result<PaySession> {
        Ok(self.find_pay_page_with_certainty(slug).await?.0)
    }

    /// The session behind a pay page, and whether the processor's answer is current: a payment of this moment may be missing if the
    /// processor was asked before it, or cannot be reached.
    pub async fn find_pay_page_with_certainty(&self, slug: &str) -> Result<(PaySession, bool)> {
        let unknown = || Error::new(Code::NotFound, "This payment link does not exist.");
        if slug.len() > SECRET_BYTES {
            return Err(unknown());
        }
        let found = self.store.find_pay_session_by_slug(secret::hash(slug)).await?;
        self.refresh_pay_session(found.ok_or_else(unknown)?).await
    }

    /// What became of a session. Takes the key of a completed one: it is in this response and in no other.
    pub async fn poll_pay_session(&self, code: &str) -> Result<PolledPaySession> {
        let unknown = || Error::new(Code::NotFound, "There is no pay session with this code.");
        if code.len() > SECRET_BYTES {
            return Err(unknown());
        }
        let found = self.store.find_pay_session_by_code(secret::hash(code)).await?;
        let (session, _) = self.refresh_pay_session(found.ok_or_else(unknown)?).await?;
        let state = session.state_at(self.now());
        let mut polled = PolledPaySession { state, session, key: None, is_key_delivered: None };
        let is_provision = polled.session.feature == Feature::Provision;
        if let (PaySessionState::Completed, true, Some(id)) =
            (state, is_provision, &polled.session.payment_id)
        {
            polled.key = self.take_provisioned_key(id).await?;
            let is_delivered = match polled.key {
                Some(_) => true,
                None => self.get_payment(id).await?.delivered_at.is_some(),
            };
            polled.is_key_delivered = Some(is_delivered);
        }
        Ok(polled)
    }

    /// The session after asking the processor, if there is something to ask and no one asked a moment ago. A processor that
    /// cannot be reached changes nothing: the next request asks again. Also returns whether the processor knows no more.
    async fn refresh_pay_session(&self, session: PaySession) -> Result<(PaySession, bool)> {
        if !self.may_check(&session) {
            let is_certain = !self.was_checked_just_now(&session);
            return Ok((session, is_certain));
        }
        let is_certain = match self.check_pay_session(&session).await {
            Ok(has_asked) => has_asked,
            Err(error) => {
                tracing::warn!(%error, source = ?error.source, session = session.id, "pay session not checked");
                false
            }
        };
        Ok((self.store.find_pay_session(&session.id).await?.unwrap_or(session), is_certain))
    }

    /// The payment of a session, unless it was refused or went back before anything was delivered.
    pub async fn find_received_payment(&self, session: &PaySession) -> Result<Option<Payment>> {
        let Some(id) = &session.payment_id else { return Ok(None) };
        let payment = self.get_payment(id).await?;
        let is_over = matches!(payment.state, PaymentState::Refused | PaymentState::Refunded);
        Ok((!is_over).then_some(payment))
    }

    /// Deletes old sessions and events.
    pub(crate) fn delete_old_pay_sessions(&self) -> [Stmt; 3] {
        let now = self.now();
        [
            pay_sessions::delete_unpaid(now - UNPAID_SECONDS, DELETED_AT_ONCE),
            pay_sessions::delete_ended(now - KEPT_SECONDS, DELETED_AT_ONCE),
            processor_events::delete_old(now - EVENT_SECONDS, now - DISPUTE_SECONDS),
        ]
    }
}
