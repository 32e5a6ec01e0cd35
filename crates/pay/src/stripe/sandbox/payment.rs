//! A payment: the payment intent with its latest charge, its refunds and its dispute, stored as one object so that one version
//! guards the money.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::api_error::ApiError;
use super::charge::{Charge, ChargeStatus};
use super::decline::Decline;
use super::dispute::Dispute;
use super::null_members::with_nulls;
use super::parameters::Metadata;
use super::payment_method::UsedCard;
use super::refund::Refund;
use super::stored::{ObjectKind, Record};
use super::transaction::{Transaction, derived_id};
use crate::stripe::{Currency, Money};

/// Members of a payment intent that the sandbox has no use for; clients expect them all the same.
const NULL_MEMBERS: [&str; 24] = [
    "allowed_payment_method_types",
    "application",
    "application_fee_amount",
    "canceled_at",
    "cancellation_reason",
    "client_secret",
    "customer",
    "customer_account",
    "description",
    "excluded_payment_method_types",
    "managed_payments",
    "on_behalf_of",
    "payment_method_configuration_details",
    "payment_record",
    "processing",
    "receipt_email",
    "review",
    "setup_future_usage",
    "shipping",
    "source",
    "statement_descriptor",
    "statement_descriptor_suffix",
    "transfer_data",
    "transfer_group",
];

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Payment {
    pub(super) id: String,
    pub(super) created: i64,
    pub(super) amount: u64,
    pub(super) currency: Currency,
    pub(super) metadata: Metadata,
    pub(super) status: PaymentState,
    /// The checkout session that it belongs to, if any.
    pub(super) session: Option<String>,
    pub(super) method: Option<String>,
    pub(super) card: Option<UsedCard>,
    pub(super) charge: Option<Charge>,
    pub(super) last_decline: Option<Decline>,
    /// The sum of the refunds that stand.
    pub(super) refunded: u64,
    #[serde(default)]
    pub(super) refunds: Vec<Refund>,
    pub(super) dispute: Option<Dispute>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PaymentState {
    RequiresPaymentMethod,
    RequiresAction,
    Processing,
    Succeeded,
    Canceled,
}

impl Record for Payment {
    const KIND: ObjectKind = ObjectKind::Payment;

    fn id(&self) -> &str {
        &self.id
    }
}

impl Payment {
    pub(super) fn new(id: String, price: Money, metadata: Metadata, now: i64) -> Self {
        Self {
            id,
            created: now,
            amount: price.minor_units,
            currency: price.currency,
            metadata,
            status: PaymentState::RequiresPaymentMethod,
            session: None,
            method: None,
            card: None,
            charge: None,
            last_decline: None,
            refunded: 0,
            refunds: Vec::new(),
            dispute: None,
        }
    }

    /// The id of the payment intent of a checkout session. It is derived, so that both can be loaded by the session's id.
    pub(super) fn id_for_session(session: &str) -> String {
        derived_id("pi_3", 23, format!("payment intent of {session}").as_bytes())
    }

    /// The payment intent in the path of a request.
    pub(super) fn get(transaction: &Transaction<'_>, id: &str) -> Result<Self, ApiError> {
        transaction.load(id)?.ok_or(ApiError::not_found("No such payment_intent."))
    }

    /// Begins an attempt with a card.
    pub(super) fn use_card(&mut self, transaction: &mut Transaction<'_>, card: UsedCard) {
        self.method = Some(transaction.new_id("pm_1", 24));
        self.card = Some(card);
        self.last_decline = None;
    }

    /// The money was received.
    pub(super) fn succeed(&mut self, transaction: &mut Transaction<'_>) -> Result<(), ApiError> {
        self.set_charge(transaction, ChargeStatus::Succeeded);
        self.status = PaymentState::Succeeded;
        transaction.save(self)?;
        transaction.emit("charge.succeeded", &self.charge_json());
        transaction.emit("payment_intent.succeeded", &self.intent_json());
        Ok(())
    }

    /// The card was declined; another one may be tried. Returns the error that a request is answered with.
    pub(super) fn decline(
        &mut self,
        transaction: &mut Transaction<'_>,
        decline: Decline,
    ) -> Result<ApiError, ApiError> {
        self.status = PaymentState::RequiresPaymentMethod;
        self.last_decline = Some(decline);
        // A cardholder who does not confirm stops the payment before the card is charged.
        let is_charged = decline != Decline::AuthenticationFailed;
        if is_charged {
            self.set_charge(transaction, ChargeStatus::Failed(decline));
        }
        transaction.save(self)?;
        if is_charged {
            transaction.emit("charge.failed", &self.charge_json());
        }
        transaction.emit("payment_intent.payment_failed", &self.intent_json());
        let charge = self.charge.as_ref().filter(|_| is_charged).map(|charge| charge.id.clone());
        Ok(ApiError::declined(decline, self.intent_json(), charge))
    }

    /// The cardholder must confirm.
    pub(super) fn require_action(&mut self, transaction: &mut Transaction<'_>) -> Result<(), ApiError> {
        self.status = PaymentState::RequiresAction;
        transaction.save(self)?;
        transaction.emit("payment_intent.requires_action", &self.intent_json());
        Ok(())
    }

    /// Cancels a payment that was not made; its checkout session must be expired instead.
    pub(super) fn cancel(transaction: &mut Transaction<'_>, id: &str) -> Result<Value, ApiError> {
        let mut payment = Self::get(transaction, id)?;
        let is_open =
            matches!(payment.status, PaymentState::RequiresPaymentMethod | PaymentState::RequiresAction);
        if !is_open || payment.session.is_some() {
            let message = "This payment intent cannot be canceled in its present state.";
            return Err(ApiError::invalid(Some("payment_intent_unexpected_state"), message));
        }
        payment.status = PaymentState::Canceled;
        transaction.save(&payment)?;
        transaction.emit("payment_intent.canceled", &payment.intent_json());
        Ok(payment.intent_json())
    }

    /// The money is under way.
    pub(super) fn stall(&mut self, transaction: &mut Transaction<'_>) -> Result<(), ApiError> {
        self.set_charge(transaction, ChargeStatus::Pending);
        self.status = PaymentState::Processing;
        transaction.save(self)?;
        transaction.emit("payment_intent.processing", &self.intent_json());
        Ok(())
    }

    /// A charge that is pending gets a result; otherwise a new one is made.
    fn set_charge(&mut self, transaction: &mut Transaction<'_>, status: ChargeStatus) {
        match &mut self.charge {
            Some(charge) if charge.status == ChargeStatus::Pending => charge.status = status,
            charge => {
                let id = transaction.new_id("ch_3", 23);
                *charge = Some(Charge { id, created: transaction.now(), status });
            }
        }
    }

    fn received(&self) -> u64 {
        if self.status == PaymentState::Succeeded { self.amount } else { 0 }
    }

    pub(super) fn intent_json(&self) -> Value {
        let charge = self.charge.as_ref().map(|charge| charge.id.as_str());
        let methods = json!({ "allow_redirects": "never", "enabled": true });
        let members = json!({
            "id": self.id,
            "object": "payment_intent",
            "amount": self.amount,
            "amount_capturable": 0,
            "amount_details": { "tip": {} },
            "amount_received": self.received(),
            "automatic_payment_methods": if self.session.is_none() { methods } else { Value::Null },
            "capture_method": "automatic_async",
            "confirmation_method": "automatic",
            "created": self.created,
            "currency": self.currency,
            "last_payment_error": self.last_decline.map(|decline| decline.json(charge)),
            "latest_charge": charge,
            "livemode": false,
            "metadata": self.metadata,
            "next_action": self.next_action(),
            // After a decline the method is removed, so that another one can be given.
            "payment_method": self.method.as_ref().filter(|_| self.last_decline.is_none()),
            "payment_method_options": { "card": { "request_three_d_secure": "automatic" } },
            "payment_method_types": ["card"],
            "status": self.status,
        });
        with_nulls(members, &NULL_MEMBERS)
    }

    fn next_action(&self) -> Value {
        match self.status {
            PaymentState::RequiresAction => {
                json!({ "type": "use_stripe_sdk", "use_stripe_sdk": { "type": "three_d_secure_redirect" } })
            }
            _ => Value::Null,
        }
    }
}
