//! Advances a reserved payment to completion: settles it, interprets the answer, and fulfils the purchase. Run by the
//! request, or by the recovery task for a payment left open.

use super::cards::{NOT_TAKEN, card_refused, not_taken};
use super::lease::{FIRST_PAUSE, LEASE_SECONDS, LONGEST_PAUSE, update_error};
use super::purchase_result::{RETRY_AFTER_SECONDS, outcome_unknown, refused_by};
use super::request_identity::scope_of;
use super::settle::{Settlement, SettlementHistory, receipt};
use super::{PayError, PurchaseResult};
use crate::app::App;
use dropleaf_core::Error;
use dropleaf_core::payment::{Payment, PaymentState};
use dropleaf_pay::Outcome;
use dropleaf_pay::facilitator::Reason;
use dropleaf_store::{Stmt, bundles, idempotency, pay_sessions, payments};

/// Attempts without a pause: a client that retries at once is usually right to.
const UNTHROTTLED_ATTEMPTS: i64 = 5;

impl App {
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
                let is_card = !payment.rail.is_on_chain();
                let expired = || refused_by(&Reason::new("expired"), None);
                return Err(if is_card { card_refused("expired") } else { expired() }.into());
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
                if !payment.rail.is_on_chain() {
                    return Err(card_refused(&reason.text).into());
                }
                let receipt = receipt(&payment, Outcome::Refused { reason: reason.text.clone() });
                Err(PayError::Refused(refused_by(&reason, receipt)))
            }
            Settlement::NotTaken => {
                self.refuse_payment(&payment, NOT_TAKEN).await?;
                Err(not_taken().into())
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
        if state == PaymentState::Refunded {
            stmts.push(pay_sessions::fail(&payment.id));
        }
        stmts
    }
}

/// Keeps the identifiers of an undecided payment from expiring before it is examined again.
pub(super) fn keep_identifiers(payment: &Payment) -> Stmt {
    idempotency::extend_reference(&scope_of(payment), payment.id.as_bytes(), payment.held_until)
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
