//! A payment intent: the processor's record of one payment.

use super::{Money, ObjectId, answer};
use crate::json::Object;

/// A payment intent, as far as we need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    pub id: ObjectId,
    pub status: IntentStatus,
    pub amount: Money,
    pub amount_received: Money,
    /// The latest attempt to charge the card.
    pub charge: Option<ObjectId>,
    /// Our id of the purchase, if the charge of a token made this payment.
    pub request_id: Option<String>,
    /// Why the latest attempt failed.
    pub failure_code: Option<String>,
    pub livemode: bool,
}

/// The state of a payment intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntentStatus {
    /// The attempt failed, or there was none: no money moved.
    RequiresPaymentMethod,
    /// The cardholder must confirm, for example with 3-D Secure.
    RequiresAction,
    Processing,
    Succeeded,
    Canceled,
    /// A state that our requests do not lead to.
    Other,
}

impl Intent {
    pub(super) fn read(object: &Object) -> Option<Self> {
        if !answer::is_a(object, "payment_intent") {
            return None;
        }
        let status = match answer::text(object, "status")? {
            "requires_payment_method" => IntentStatus::RequiresPaymentMethod,
            "requires_action" => IntentStatus::RequiresAction,
            "processing" => IntentStatus::Processing,
            "succeeded" => IntentStatus::Succeeded,
            "canceled" => IntentStatus::Canceled,
            _ => IntentStatus::Other,
        };
        let request_id = answer::member(object, "metadata").and_then(|it| answer::text(it, "request_id"));
        Some(Self {
            id: answer::id(object, "id")?,
            status,
            amount: answer::money(object, "amount")?,
            amount_received: answer::money(object, "amount_received")?,
            charge: answer::id(object, "latest_charge"),
            request_id: request_id.map(str::to_owned),
            failure_code: answer::member(object, "last_payment_error").and_then(decline_code),
            livemode: object.get("livemode").and_then(serde_json::Value::as_bool)?,
        })
    }
}

/// The most specific code of an error.
pub(super) fn decline_code(error: &Object) -> Option<String> {
    answer::code(error, "decline_code").or_else(|| answer::code(error, "code"))
}
