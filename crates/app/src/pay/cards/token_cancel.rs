//! Ends the charge of a token that only the cardholder could complete: it is canceled at the processor, so that it is not paid
//! later. The answer decides, because the payment may have succeeded meanwhile.

use super::card_refusal::ACTION_REQUIRED;
use super::token_charge::ambiguous;
use crate::app::App;
use crate::pay::settle::Settlement;
use dropleaf_core::payment::{Payment, PaymentState};
use dropleaf_core::{Code, Error, Result};
use dropleaf_pay::facilitator::Reason;
use dropleaf_pay::stripe::{
    ChargeAnswer, ExpectedCharge, Money, ObjectId, cancel_intent, read_charge, retrieve_intent,
};
use dropleaf_store::{DbError, payments};

/// What an operator reads about a payment that was refused and succeeded later.
const SUCCEEDED_LATER: &str = "the card processor reports success after the payment was refused";

impl App {
    /// Cancels a payment that waits for the cardholder, and records its id. Without a clear answer the outcome is unknown, and
    /// the next attempt cancels again.
    pub(super) async fn cancel_waiting_intent(
        &self,
        payment: &mut Payment,
        intent: ObjectId,
        price: Money,
    ) -> Result<Settlement> {
        payment.transaction = Some(intent.to_string());
        let request_id = payment.id.clone();
        let expected = ExpectedCharge { price, request_id: Some(&request_id), intent: Some(&intent) };
        let Ok(processor) = self.require_processor() else {
            return Ok(ambiguous("no card processor is configured any more", Some(intent)));
        };
        let refused = || Settlement::NotSettled(Reason::new(ACTION_REQUIRED));
        // A refused cancellation says nothing about the payment; the payment itself does.
        for request in [cancel_intent(&intent), retrieve_intent(&intent)] {
            let reply = match self.with_payment_lease(payment, processor.send(&request)).await {
                Ok(reply) => reply,
                Err(lost) => {
                    tracing::warn!(payment = request_id, why = lost.0, "card payment not canceled");
                    return Ok(ambiguous(
                        "no response to the cancellation of the card payment",
                        Some(intent),
                    ));
                }
            };
            match read_charge(reply.status, reply.replayed, &reply.body, &expected) {
                ChargeAnswer::Succeeded { intent, .. } => {
                    return Ok(Settlement::Settled { transaction: intent.to_string() });
                }
                ChargeAnswer::Declined { code } => {
                    tracing::info!(payment = request_id, %intent, code, "waiting card payment ended");
                    return Ok(refused());
                }
                ChargeAnswer::Processing { intent } => {
                    return Ok(ambiguous("the card payment is being processed", Some(intent)));
                }
                ChargeAnswer::Mismatch { intent, why } => return Ok(ambiguous(why, Some(intent))),
                ChargeAnswer::Ambiguous { why } => return Ok(ambiguous(why, Some(intent))),
                ChargeAnswer::ActionRequired { .. } if request == retrieve_intent(&intent) => {
                    tracing::warn!(payment = request_id, %intent, "card payment left open at the processor");
                    return Ok(refused());
                }
                ChargeAnswer::ActionRequired { .. }
                | ChargeAnswer::Refused { .. }
                | ChargeAnswer::KeyReused
                | ChargeAnswer::Misconfigured => {}
            }
        }
        Ok(ambiguous("the card processor does not say what became of the card payment", Some(intent)))
    }

    /// A payment that was refused, and that the processor reports as successful, is examined again: money that moved is never
    /// denied. What it was to create is drafted again, as after an operator's decision. Money that went back buys nothing.
    pub(super) async fn reopen_refused_token(&self, payment: &Payment, intent: &str) -> Result<()> {
        if payment.state != PaymentState::Refused || payment.rail.is_on_chain() {
            return Ok(());
        }
        if self.fetch_refunded(payment, intent).await? >= payment.amount {
            return Ok(());
        }
        tracing::error!(payment = payment.id, "card payment succeeded after it was refused");
        let now = self.now();
        let reopened = Payment {
            state: PaymentState::Unknown,
            reason: Some(SUCCEEDED_LATER.to_owned()),
            draft: Some(self.seal_draft(&self.draft_key(), &payment.id)?),
            held_until: now,
            updated_at: now,
            ..payment.clone()
        };
        match self.store.commit(vec![payments::update(payment, &reopened)]).await {
            Ok(_) => Ok(()),
            // The processor repeats the event.
            Err(DbError::Guard(payments::MOVED)) => {
                Err(Error::new(Code::Conflict, "Another request is changing the payment. Try again."))
            }
            Err(error) => Err(error.into()),
        }
    }
}
