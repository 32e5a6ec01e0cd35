//! Advances a reserved payment to completion: settles it, interprets the answer, and fulfils the purchase. Run by the
//! request, or by the recovery task for a payment left open; the lease in its row (`held_until`) decides who may work on
//! it.

use super::purchase::payment_in_flight;
use super::settle::{Settlement, SettlementHistory, receipt, refused_by};
use super::{PayError, PurchaseResult};
use crate::app::App;
use dropleaf_core::error::Fact;
use dropleaf_core::payment::{Payment, PaymentState};
use dropleaf_core::{Code, Error};
use dropleaf_pay::Outcome;
use dropleaf_pay::facilitator::Reason;
use dropleaf_store::{DbError, Stmt, bundles, idempotency, payments};
use std::pin::pin;
use std::time::Duration;

/// Lease of a worker on a payment, in seconds, and how often it is renewed.
pub(super) const LEASE_SECONDS: i64 = 30;
const LEASE_RENEWAL: Duration = Duration::from_secs(10);
/// Pause between attempts to learn an outcome: as long as the payment has been open, so that pauses double. Requests in
/// between do not affect it.
pub(super) const FIRST_PAUSE: i64 = 30;
const LONGEST_PAUSE: i64 = 3600;
/// `Retry-After` while an outcome is unknown; the facilitator is not asked earlier.
const RETRY_AFTER_SECONDS: i64 = 10;
/// Attempts without a pause: a client that retries at once is usually right to.
const UNTHROTTLED_ATTEMPTS: i64 = 5;

impl App {
    /// Whether the configured facilitator may be asked about the payment: the sandbox is never asked about real money,
    /// nor another facilitator about sandbox money. A settled payment needs none.
    pub(super) fn is_same_mode(&self, payment: &Payment) -> bool {
        let mode = self.settings.payments.as_ref().map(super::PaymentSettings::is_sandbox);
        payment.state == PaymentState::Settled || mode == Some(payment.sandbox)
    }

    /// Takes over a payment that another worker left.
    pub(super) async fn acquire_payment_lease(&self, payment: &Payment) -> Result<Payment, PayError> {
        let now = self.now();
        if !self.is_same_mode(payment) {
            let why = "it was reserved under a different `payments.mode`";
            return Err(outcome_unknown(payment.transaction.as_deref(), Error::internal(why)));
        }
        let mut held = payment.clone();
        match payment.state {
            // No worker holds it; `held_until` is the time of the next attempt.
            PaymentState::Unknown => held.state = PaymentState::Settling,
            _ if payment.held_until > now => {
                return Err(payment_in_flight((payment.held_until - now).min(5)));
            }
            _ => {}
        }
        if held.state == PaymentState::Settling {
            held.attempts += 1;
        }
        held.held_until = now + LEASE_SECONDS;
        self.update_payment(payment, held).await
    }

    /// Advances a payment as far as possible. `delivers`: its sender waits for the response. The future is large, so callers
    /// box it.
    pub(super) async fn advance_payment(
        &self,
        payment: Payment,
        delivers: bool,
    ) -> Result<PurchaseResult, PayError> {
        let past = SettlementHistory::of(&payment);
        let mut payment = payment;
        if payment.state == PaymentState::Verified {
            if self.now() >= payment.valid_until {
                self.refuse_payment(&payment, "expired").await?;
                return Err(PayError::Refused(refused_by(&Reason::new("expired"), None)));
            }
            // Written before the facilitator is asked: from here on the money may have moved.
            let now = self.now();
            let asking = Payment {
                state: PaymentState::Settling,
                attempts: payment.attempts + 1,
                held_until: now + LEASE_SECONDS,
                ..payment.clone()
            };
            payment = self.update_payment(&payment, asking).await?;
        }
        if let (PaymentState::Settled, Some(transaction)) = (payment.state, payment.transaction.clone()) {
            return self.fulfil_payment(payment, transaction, delivers).await;
        }
        let settlement =
            self.settle_payment(&mut payment, past).await.map_err(|error| outcome_unknown(None, error))?;
        match settlement {
            Settlement::Settled { transaction } => self.fulfil_payment(payment, transaction, delivers).await,
            Settlement::NotSettled(reason) => {
                self.refuse_payment(&payment, &reason.text).await?;
                tracing::info!(payment = payment.id, reason = reason.text, "payment refused");
                let receipt = receipt(&payment, Outcome::Refused { reason: reason.text.clone() });
                Err(PayError::Refused(refused_by(&reason, receipt)))
            }
            Settlement::Ambiguous { why, transaction } => {
                Err(self.park_payment(payment, why, transaction).await)
            }
        }
    }

    /// Parks a payment whose outcome is unknown, to be examined later.
    async fn park_payment(
        &self,
        payment: Payment,
        why: &'static str,
        transaction: Option<String>,
    ) -> PayError {
        let mut left = payment.clone();
        left.state = PaymentState::Unknown;
        left.reason = Some(why.to_owned());
        left.transaction = transaction.or(left.transaction);
        left.updated_at = self.now();
        let open_for = (left.updated_at - left.created_at).max(0);
        left.held_until = left.updated_at + (open_for + FIRST_PAUSE).min(LONGEST_PAUSE);
        tracing::error!(
            payment = payment.id,
            why,
            attempts = payment.attempts,
            transaction = left.transaction,
            "payment outcome unknown"
        );
        let error = outcome_unknown(left.transaction.as_deref(), Error::internal(why));
        // If this fails, the payment stays in state `settling`, which has the same effect.
        let stmts = vec![payments::update(&payment, &left), keep_identifiers(&left)];
        if let Err(failed) = self.store.commit(stmts).await {
            tracing::warn!(error = %failed, payment = payment.id, "payment not parked");
        }
        error
    }

    /// The money did not move: releases what was reserved.
    async fn refuse_payment(&self, payment: &Payment, reason: &str) -> Result<(), PayError> {
        self.store.commit(self.refuse_payment_stmts(payment, reason)).await.map(|_| ()).map_err(update_error)
    }

    pub(super) fn refuse_payment_stmts(&self, payment: &Payment, reason: &str) -> Vec<Stmt> {
        self.end_payment_stmts(payment, PaymentState::Refused, reason)
    }

    /// The statements that end a payment without fulfilling it and release what was reserved for it.
    pub(super) fn end_payment_stmts(
        &self,
        payment: &Payment,
        state: PaymentState,
        reason: &str,
    ) -> Vec<Stmt> {
        let now = self.now();
        let mut refused = payment.clone();
        refused.state = state;
        refused.reason = Some(reason.to_owned());
        refused.ask = None;
        refused.draft = None;
        refused.bundle_id = None;
        refused.held_until = now;
        refused.updated_at = now;
        let mut stmts = vec![payments::update(payment, &refused)];
        stmts.extend(payment.bundle_id.as_deref().map(|bundle| bundles::release(bundle, now)));
        stmts.push(idempotency::delete_reference(&scope_of(payment), payment.id.as_bytes()));
        stmts
    }

    pub(super) async fn update_payment(&self, from: &Payment, mut to: Payment) -> Result<Payment, PayError> {
        to.updated_at = self.now();
        self.store.commit(vec![payments::update(from, &to)]).await.map_err(update_error)?;
        Ok(to)
    }

    /// Waits for an answer and renews the lease on the payment meanwhile.
    pub(super) async fn with_payment_lease<T>(
        &self,
        payment: &mut Payment,
        work: impl Future<Output = T>,
    ) -> T {
        let mut work = pin!(work);
        loop {
            if let Ok(done) = tokio::time::timeout(LEASE_RENEWAL, &mut work).await {
                return done;
            }
            let held = Payment { held_until: self.now() + LEASE_SECONDS, ..payment.clone() };
            match self.update_payment(payment, held).await {
                Ok(held) => *payment = held,
                // Another worker may take over. It settles with the same bytes, so nothing is settled twice.
                Err(error) => tracing::warn!(?error, payment = payment.id, "payment lease not renewed"),
            }
        }
    }
}

/// The scope of a payment's identifiers: its payer. Only EVM addresses are case-insensitive.
fn scope_of(payment: &Payment) -> String {
    if payment.payer.starts_with("0x") {
        format!("payer:{}", payment.payer.to_ascii_lowercase())
    } else {
        format!("payer:{}", payment.payer)
    }
}

/// Keeps the identifiers of an undecided payment from expiring before it is examined again.
pub(super) fn keep_identifiers(payment: &Payment) -> Stmt {
    idempotency::extend_reference(&scope_of(payment), payment.id.as_bytes(), payment.held_until)
}

/// After a reservation any failure may still end in settlement, so the client is never told that nothing was charged.
fn update_error(error: DbError) -> PayError {
    match error {
        DbError::Guard(payments::MOVED) => payment_in_flight(1),
        error => outcome_unknown(None, error.into()),
    }
}

/// Refuses a request repeated within seconds, so that it does not trigger another query each time.
pub(super) fn retry_later(payment: &Payment, now: i64) -> Option<PayError> {
    let wait = payment.updated_at + RETRY_AFTER_SECONDS - now;
    let is_repeated = payment.state == PaymentState::Unknown && payment.attempts >= UNTHROTTLED_ATTEMPTS;
    if !is_repeated || !(1..=RETRY_AFTER_SECONDS).contains(&wait) {
        return None;
    }
    let error = Error::internal("it was checked a moment ago");
    Some(match outcome_unknown(payment.transaction.as_deref(), error) {
        PayError::Failed(error) => error.retry_after(wait).into(),
        refused @ PayError::Refused(_) => refused,
    })
}

/// Never answers with new payment terms: a client that signs again may pay twice.
pub(super) fn outcome_unknown(transaction: Option<&str>, source: Error) -> PayError {
    let error = Error::plain(Code::SettlementUnknown).retry_after(RETRY_AFTER_SECONDS).with_source(source);
    match transaction {
        Some(name) => error.with_fact("transaction", Fact::Text(name.to_owned())).into(),
        None => error.into(),
    }
}
