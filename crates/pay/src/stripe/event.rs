//! Events that the processor sends to the webhook. They may arrive twice and in any order, so the caller records their ids and
//! makes their effects idempotent. Verify the signature of the raw body first.

use serde_json::Value;

use super::{Checkout, Intent, Money, ObjectId, answer};
use crate::json::Object;

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub id: ObjectId,
    pub created: i64,
    /// Whether real money is concerned.
    pub livemode: bool,
    pub kind: EventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// The person completed the form; the session shows whether it is paid.
    CheckoutCompleted(Checkout),
    /// A delayed payment was received.
    CheckoutAsyncPaymentSucceeded(Checkout),
    /// A delayed payment failed. The session itself looks the same as before.
    CheckoutAsyncPaymentFailed(Checkout),
    CheckoutExpired(Checkout),
    IntentSucceeded(Intent),
    IntentFailed(Intent),
    ChargeRefunded(RefundedCharge),
    /// A refund was created or changed; it may have failed.
    RefundChanged(ChangedRefund),
    /// A disputed amount was taken from our account.
    DisputeFundsWithdrawn(Dispute),
    /// We won the dispute and got the amount back.
    DisputeFundsReinstated(Dispute),
    /// Any other event; nothing needs to be done.
    Other,
}

/// A charge after a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundedCharge {
    pub charge: ObjectId,
    pub payment_intent: Option<ObjectId>,
    /// The sum of all refunds of this charge so far, not of the latest alone.
    pub amount_refunded: Money,
}

/// A refund that was created or changed. What it is now has to be asked for, because events arrive in any order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedRefund {
    pub id: ObjectId,
    pub payment_intent: Option<ObjectId>,
}

/// A dispute: the cardholder told the bank that the payment is not right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispute {
    pub id: ObjectId,
    pub charge: Option<ObjectId>,
    pub payment_intent: Option<ObjectId>,
    pub amount: Money,
}

/// Why a body is not an event that we can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventFault {
    /// It is too long, or not an event.
    NotAnEvent,
    /// Its type is one that we handle, but its object cannot be read.
    UnreadableObject,
}

impl Event {
    pub fn parse(body: &[u8]) -> Result<Self, EventFault> {
        let event = answer::object(body).ok_or(EventFault::NotAnEvent)?;
        let head = || {
            let is_event = answer::is_a(&event, "event");
            let livemode = event.get("livemode").and_then(Value::as_bool)?;
            let object = answer::member(&event, "data").and_then(|data| answer::member(data, "object"))?;
            let (id, created) = (answer::id(&event, "id")?, answer::time(&event, "created")?);
            is_event.then_some((id, created, livemode, answer::text(&event, "type")?, object))
        };
        let (id, created, livemode, name, object) = head().ok_or(EventFault::NotAnEvent)?;
        let kind = EventKind::read(name, object).ok_or(EventFault::UnreadableObject)?;
        Ok(Self { id, created, livemode, kind })
    }
}

impl EventKind {
    fn read(name: &str, object: &Object) -> Option<Self> {
        Some(match name {
            "checkout.session.completed" => Self::CheckoutCompleted(Checkout::read(object)?),
            "checkout.session.async_payment_succeeded" => {
                Self::CheckoutAsyncPaymentSucceeded(Checkout::read(object)?)
            }
            "checkout.session.async_payment_failed" => {
                Self::CheckoutAsyncPaymentFailed(Checkout::read(object)?)
            }
            "checkout.session.expired" => Self::CheckoutExpired(Checkout::read(object)?),
            "payment_intent.succeeded" => Self::IntentSucceeded(Intent::read(object)?),
            "payment_intent.payment_failed" => Self::IntentFailed(Intent::read(object)?),
            "charge.refunded" => Self::ChargeRefunded(RefundedCharge::read(object)?),
            "refund.created" | "refund.updated" | "refund.failed" | "charge.refund.updated" => {
                Self::RefundChanged(ChangedRefund::read(object)?)
            }
            "charge.dispute.funds_withdrawn" => Self::DisputeFundsWithdrawn(Dispute::read(object)?),
            "charge.dispute.funds_reinstated" => Self::DisputeFundsReinstated(Dispute::read(object)?),
            _ => Self::Other,
        })
    }
}

impl RefundedCharge {
    fn read(object: &Object) -> Option<Self> {
        if !answer::is_a(object, "charge") {
            return None;
        }
        Some(Self {
            charge: answer::id(object, "id")?,
            payment_intent: answer::id(object, "payment_intent"),
            amount_refunded: answer::money(object, "amount_refunded")?,
        })
    }
}

impl ChangedRefund {
    fn read(object: &Object) -> Option<Self> {
        if !answer::is_a(object, "refund") {
            return None;
        }
        Some(Self { id: answer::id(object, "id")?, payment_intent: answer::id(object, "payment_intent") })
    }
}

impl Dispute {
    fn read(object: &Object) -> Option<Self> {
        if !answer::is_a(object, "dispute") {
            return None;
        }
        Some(Self {
            id: answer::id(object, "id")?,
            charge: answer::id(object, "charge"),
            payment_intent: answer::id(object, "payment_intent"),
            amount: answer::money(object, "amount")?,
        })
    }
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
