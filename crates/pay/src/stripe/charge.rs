//! Interprets the answer to a charge of a token, or to the retrieval of its payment intent. An ambiguous answer must never be
//! treated as a decline: the card may have been charged, and the agent would pay twice.

use super::intent::decline_code;
use super::{Intent, IntentStatus, Money, ObjectId, answer};
use crate::json::Object;

/// What an answer must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedCharge<'a> {
    pub price: Money,
    /// Our id of the purchase, as it was sent; `None` for the payment intent of a checkout session, which does not hold it.
    pub request_id: Option<&'a str>,
    /// The payment intent, once it is known.
    pub intent: Option<&'a ObjectId>,
}

/// The outcome of a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeAnswer {
    /// The money was received. If `replayed`, an earlier request with the same key charged it: look up what that one granted,
    /// and grant nothing twice.
    Succeeded { intent: ObjectId, charge: Option<ObjectId>, replayed: bool },
    /// The card was declined, for this reason: no money moved.
    Declined { code: String },
    /// The cardholder must confirm the payment, which an agent cannot: no money moved.
    ActionRequired { intent: ObjectId },
    /// The money is under way: retrieve the intent later.
    Processing { intent: ObjectId },
    /// The processor refuses the request: no money moved. [`is_token_fault`] says whether because of the token.
    Refused { code: Option<String> },
    /// The key was used with other parameters before. This request moved no money, but the earlier one may have.
    KeyReused,
    /// Our secret key, its permissions or the spelling of a parameter is wrong: no money moved, and the operator must act.
    Misconfigured,
    /// Money was received, but not as expected, for this reason: grant nothing and alert an operator.
    Mismatch { intent: ObjectId, why: &'static str },
    /// The outcome is unknown, for this reason: send the same request with the same key again.
    Ambiguous { why: &'static str },
}

/// Interprets an answer. `replayed` says whether it carries the header `Idempotent-Replayed: true`.
pub fn read_charge(status: u16, replayed: bool, body: &[u8], expected: &ExpectedCharge<'_>) -> ChargeAnswer {
    if matches!(status, 401 | 403) {
        return ChargeAnswer::Misconfigured;
    }
    let Some(object) = answer::object(body) else { return ambiguous("the body is not a JSON object") };
    match (status, answer::member(&object, "error")) {
        (200, None) => match Intent::read(&object) {
            Some(intent) => judge(intent, replayed, expected),
            None => ambiguous("the answer is not a payment intent"),
        },
        (402, Some(error)) => declined(error),
        (400 | 404, Some(error)) => refused(error),
        (409 | 429, _) => ambiguous("the processor is busy"),
        (500..600, _) => ambiguous("the processor failed"),
        _ => ambiguous("the status is not an answer of the processor"),
    }
}

/// Whether a refused charge is the fault of the token, which is unknown, deactivated or too limited, and not of another part of
/// the request. The processor documents no codes for tokens that it does not accept.
pub fn is_token_fault(code: Option<&str>) -> bool {
    code.is_none_or(|code| code == "resource_missing" || code.starts_with("shared_payment"))
}

fn ambiguous(why: &'static str) -> ChargeAnswer {
    ChargeAnswer::Ambiguous { why }
}

fn judge(intent: Intent, replayed: bool, expected: &ExpectedCharge<'_>) -> ChargeAnswer {
    if expected.intent.is_some_and(|id| *id != intent.id) {
        return ambiguous("the answer is another payment intent");
    }
    match intent.status {
        IntentStatus::Succeeded => match misfit(&intent, expected) {
            Some(why) => ChargeAnswer::Mismatch { intent: intent.id, why },
            None => ChargeAnswer::Succeeded { intent: intent.id, charge: intent.charge, replayed },
        },
        IntentStatus::Processing => ChargeAnswer::Processing { intent: intent.id },
        IntentStatus::RequiresAction => ChargeAnswer::ActionRequired { intent: intent.id },
        IntentStatus::RequiresPaymentMethod => {
            ChargeAnswer::Declined { code: intent.failure_code.unwrap_or_else(unspecified) }
        }
        IntentStatus::Canceled => ChargeAnswer::Declined { code: "canceled".to_owned() },
        IntentStatus::Other => ambiguous("the payment intent is in an unexpected state"),
    }
}

/// What in a successful charge does not match the expectation.
fn misfit(intent: &Intent, expected: &ExpectedCharge<'_>) -> Option<&'static str> {
    if intent.amount_received.currency != expected.price.currency {
        Some("the currency differs")
    } else if intent.amount_received.minor_units != expected.price.minor_units {
        Some("the amount differs")
    } else if expected.request_id.is_some_and(|id| intent.request_id.as_deref() != Some(id)) {
        Some("it names another purchase")
    } else {
        None
    }
}

/// A decline holds the payment intent, which must not contradict it.
fn declined(error: &Object) -> ChargeAnswer {
    let status = answer::member(error, "payment_intent").and_then(|intent| answer::text(intent, "status"));
    if matches!(status, Some("succeeded" | "processing" | "requires_capture")) {
        return ambiguous("the decline names a payment that was made");
    }
    ChargeAnswer::Declined { code: decline_code(error).unwrap_or_else(unspecified) }
}

fn refused(error: &Object) -> ChargeAnswer {
    let code = answer::code(error, "code");
    match answer::text(error, "type") {
        Some("idempotency_error") => ChargeAnswer::KeyReused,
        // The token cannot be at fault if the processor does not know the parameter that holds it.
        Some("invalid_request_error") if code.as_deref() == Some("parameter_unknown") => {
            ChargeAnswer::Misconfigured
        }
        Some("invalid_request_error") => ChargeAnswer::Refused { code },
        _ => ambiguous("the error has an unexpected type"),
    }
}

fn unspecified() -> String {
    "unspecified".to_owned()
}

#[cfg(test)]
#[path = "charge_tests.rs"]
mod tests;
