//! Events of the card processor. They are signed, may be repeated and may arrive in any order, so every effect is idempotent, and
//! an event about a payment that is not recorded yet waits for it.

use crate::app::App;
use dropleaf_core::pay_session::PaySessionState;
use dropleaf_core::payment::PaymentState;
use dropleaf_core::rail::Rail;
use dropleaf_core::{Code, Error, Result};
use dropleaf_pay::stripe::sandbox::WebhookEvent;
use dropleaf_pay::stripe::{Checkout, Event, EventKind, ObjectId, sign, verify_signature};
use dropleaf_store::{pay_sessions, processor_events};
use serde::{Deserialize, Serialize};

/// Payments whose waiting events are applied by one run of the recovery.
const RECOVERED_MOST: i64 = 50;

/// Something that happened to a payment, as far as it is needed later. Amounts are in cents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum PaymentEvent {
    /// Its refunds changed. The processor is asked for their sum, which may have become smaller, because a refund can fail.
    Refunded {},
    Disputed {
        dispute: String,
        amount: i64,
    },
    Reinstated {
        dispute: String,
    },
}

impl App {
    /// Acts on the body of a webhook. `signature`: the header `Stripe-Signature`.
    pub async fn receive_card_event(&self, body: &[u8], signature: &str) -> Result<()> {
        let cards = self.card_settings().ok_or_else(|| Error::plain(Code::NotFound))?;
        let secrets: Vec<&str> = cards.webhook_secrets.iter().map(String::as_str).collect();
        let invalid = |why: String| Error::plain(Code::InvalidWebhook).with_source(why);
        verify_signature(signature, &secrets, body, self.now())
            .map_err(|fault| invalid(format!("{fault:?}")))?;
        let event = Event::parse(body).map_err(|fault| invalid(format!("{fault:?}")))?;
        tracing::debug!(event = %event.id, "card event received");
        self.apply_card_event(event).await
    }

    /// Delivers events of the embedded sandbox in the way the real processor would.
    pub async fn receive_sandbox_events(&self, events: &[WebhookEvent]) -> Result<()> {
        let secret = self.card_settings().and_then(|cards| cards.webhook_secrets.first().cloned());
        for event in events {
            let signature = sign(secret.as_deref().unwrap_or_default(), self.now(), event.body.as_bytes());
            self.receive_card_event(event.body.as_bytes(), &signature).await?;
        }
        Ok(())
    }

    async fn apply_card_event(&self, event: Event) -> Result<()> {
        let cents =
            |amount: dropleaf_pay::stripe::Money| i64::try_from(amount.minor_units).unwrap_or(i64::MAX);
        match event.kind {
            EventKind::CheckoutCompleted(checkout)
            | EventKind::CheckoutAsyncPaymentSucceeded(checkout)
            | EventKind::CheckoutExpired(checkout) => self.apply_checkout_event(&checkout, false).await,
            EventKind::CheckoutAsyncPaymentFailed(checkout) => {
                self.apply_checkout_event(&checkout, true).await
            }
            EventKind::ChargeRefunded(refund) => {
                self.apply_payment_event(&event.id, refund.payment_intent, PaymentEvent::Refunded {}).await
            }
            EventKind::RefundChanged(refund) => {
                self.apply_payment_event(&event.id, refund.payment_intent, PaymentEvent::Refunded {}).await
            }
            EventKind::DisputeFundsWithdrawn(dispute) => {
                let (id, amount) = (dispute.id.to_string(), cents(dispute.amount));
                let event_of = PaymentEvent::Disputed { dispute: id, amount };
                self.apply_payment_event(&event.id, dispute.payment_intent, event_of).await
            }
            EventKind::DisputeFundsReinstated(dispute) => {
                let event_of = PaymentEvent::Reinstated { dispute: dispute.id.to_string() };
                self.apply_payment_event(&event.id, dispute.payment_intent, event_of).await
            }
            EventKind::IntentSucceeded(intent) => self.apply_intent_event(intent.id.as_str(), true).await,
            EventKind::IntentFailed(intent) => self.apply_intent_event(intent.id.as_str(), false).await,
            EventKind::Other => Ok(()),
        }
    }

    /// A token's payment that was under way is decided: asks about it now instead of later.
    async fn apply_intent_event(&self, intent: &str, has_succeeded: bool) -> Result<()> {
        let Some(payment) = self.store.find_payment_by_intent(intent).await? else { return Ok(()) };
        if payment.rail == Rail::Card {
            return Ok(());
        }
        if has_succeeded {
            self.reopen_refused_token(&payment, intent).await?;
        }
        if matches!(self.get_payment(&payment.id).await?.state, PaymentState::Unknown) {
            self.check_payment_now(&payment.id).await?;
        }
        Ok(())
    }

    /// A form changed. Forms of other products in the same processor account are ignored.
    async fn apply_checkout_event(&self, checkout: &Checkout, has_failed: bool) -> Result<()> {
        let Some(reference) = &checkout.client_reference_id else { return Ok(()) };
        let Some(session) = self.store.find_pay_session(reference).await? else { return Ok(()) };
        if !self.is_mode_of(&session) {
            tracing::error!(
                session = session.id,
                "card event for a session of another `payments.mode` ignored"
            );
            return Ok(());
        }
        if session.checkout_id.is_none() {
            // The event overtook the response that opened the form.
            let recorded = pay_sessions::set_checkout(&session.id, checkout.id.as_str(), self.now());
            self.store.commit(vec![recorded]).await?;
        }
        if !has_failed {
            return self.apply_checkout(&session, checkout).await;
        }
        if session.checkout_id.as_deref().is_none_or(|id| id == checkout.id.as_str()) {
            self.store.commit(vec![pay_sessions::set_state(&session.id, PaySessionState::Failed)]).await?;
        }
        Ok(())
    }

    /// A payment went back, or came back. Without its payment the event waits.
    async fn apply_payment_event(
        &self,
        event_id: &ObjectId,
        intent: Option<ObjectId>,
        event: PaymentEvent,
    ) -> Result<()> {
        let Some(intent) = intent else { return Ok(()) };
        if self.apply_to_payment(intent.as_str(), &event).await? {
            return Ok(());
        }
        let text = serde_json::to_string(&event).map_err(Error::internal)?;
        let stored = processor_events::store(event_id.as_str(), intent.as_str(), &text, self.now());
        self.store.commit(vec![stored]).await?;
        // The payment may have been fulfilled in between.
        self.apply_waiting_events(intent.as_str()).await
    }

    /// Applies the events that waited for a payment, in the order they were received.
    pub(super) async fn apply_waiting_events(&self, intent: &str) -> Result<()> {
        for (id, text) in self.store.list_waiting_events(intent).await? {
            let event: PaymentEvent = serde_json::from_str(&text).map_err(Error::internal)?;
            if self.apply_to_payment(intent, &event).await? {
                self.store.commit(vec![processor_events::delete(&id)]).await?;
            }
        }
        Ok(())
    }

    /// Applies the events that still wait although their payment is decided: the process that fulfilled it did not get to them.
    pub(super) async fn recover_waiting_events(&self) -> Result<()> {
        for intent in self.store.list_decided_intents(RECOVERED_MOST).await? {
            if let Err(error) = self.apply_waiting_events(&intent).await {
                tracing::error!(%error, source = ?error.source, intent, "waiting card event not applied");
            }
        }
        Ok(())
    }
}
