//! Handles a repeated payment: returns the same response while it is shown, resumes what was left unfinished, and refuses
//! anything else. Never answers with terms, and never settles twice.

use super::advance::retry_later;
use super::purchase_result::payment_in_flight;
use super::request_identity::RequestIdentity;
use super::{PayError, PurchaseResult};
use crate::app::App;
use dropleaf_core::error::Fact;
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::{Code, Error};
use dropleaf_store::payments;

/// How long a key is shown again after its first delivery.
pub(super) const KEY_SHOWN_SECONDS: i64 = 600;
/// How long an undelivered response is kept for its payer.
pub(super) const UNDELIVERED_SECONDS: i64 = 90 * 86_400;

impl App {
    /// The response of a known payment to this request.
    pub(super) async fn replay_payment(
        &self,
        payment: Payment,
        identity: &RequestIdentity,
    ) -> Result<PurchaseResult, PayError> {
        if !identity.matches_purchase(&payment) || !identity.is_signed_as_strongly(&payment) {
            return Err(payment_used("other_request").into());
        }
        // Once settled, the proof is public on the chain, so its sender need not be the payer.
        let is_sender = identity.is_sender(&payment);
        let is_withheld = payment.item == Item::Provision && !is_sender;
        match payment.state {
            PaymentState::Fulfilled if is_withheld => Err(payment_used("no_longer_shown").into()),
            PaymentState::Fulfilled => self.replay_delivery(payment, is_sender).await,
            PaymentState::Verified
            | PaymentState::Settling
            | PaymentState::Settled
            | PaymentState::Unknown => {
                if let Some(later) = retry_later(&payment, self.now()) {
                    return Err(later);
                }
                let held = self.acquire_payment_lease(&payment).await?;
                let outcome = Box::pin(self.advance_payment(held, is_sender)).await;
                // Any sender may advance the payment for its payer, but learns nothing.
                if is_withheld && outcome.is_ok() { Err(payment_in_flight(1)) } else { outcome }
            }
            PaymentState::Refunded => Err(payment_used("refunded").into()),
            // It was refused on another node just now; the next request starts over.
            PaymentState::Refused => Err(payment_in_flight(1)),
        }
    }

    /// The period for repeats starts with the first delivery to its sender.
    pub(super) async fn replay_delivery(
        &self,
        payment: Payment,
        to_sender: bool,
    ) -> Result<PurchaseResult, PayError> {
        let now = self.now();
        // The response says that the purchase is complete.
        let payment = match self.store.find_durable_payment(&payment.id).await? {
            Some(payment) if payment.state == PaymentState::Fulfilled => payment,
            _ => return Err(payment_in_flight(1)),
        };
        let shown = match payment.item {
            Item::Publish => Some(self.settings.retention.idempotency),
            Item::Provision => Some(KEY_SHOWN_SECONDS),
            Item::Unlock(_) | Item::Topup => None,
        };
        let shown_until = match payment.delivered_at {
            Some(at) => shown.map(|seconds| at + seconds),
            None => shown.map(|_| payment.fulfilled_at.unwrap_or(now) + UNDELIVERED_SECONDS),
        };
        if shown_until.is_some_and(|until| payment.draft.is_none() || now >= until) {
            return Err(payment_used("no_longer_shown").into());
        }
        if to_sender && payment.delivered_at.is_none() {
            self.store.commit(vec![payments::deliver(&payment.id, now)]).await?;
        }
        self.purchase_result(payment, true, to_sender).await
    }
}

/// `reason` is machine-readable.
pub(super) fn payment_used(reason: &str) -> Error {
    Error::plain(Code::PaymentUsed).with_fact("reason", Fact::Text(reason.into()))
}
