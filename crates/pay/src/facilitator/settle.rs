//! Interprets the response to `POST /settle`. An unknown outcome must never be treated as a refusal: the payer would sign again
//! and pay twice.

use serde_json::Value;

use super::{Expected, Reason, ReplyStatus, object};
use crate::json::{self, Object};

/// The outcome of a settlement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettleAnswer {
    /// The money moved, in this transaction.
    Settled { transaction: String },
    /// The money did not move, and this request will not move it.
    Refused(Reason),
    /// The facilitator's transaction is on an EVM chain and failed. It moved nothing, but it may have failed because another
    /// party submitted the same authorization first: only the chain can tell.
    Reverted { reason: Reason, transaction: String },
    /// In progress, in this transaction if it is known: ask again with the same body.
    Pending { transaction: Option<String> },
    /// The outcome is unknown, for the reason `why`: ask again with the same body, and never tell the payer to sign a new
    /// payment.
    /// A transaction that was named is kept for later investigation.
    Unknown { why: &'static str, transaction: Option<String> },
}

pub fn read_settle(status: ReplyStatus, body: &[u8], expected: &Expected) -> SettleAnswer {
    let Some(answer) = object(body) else { return unknown("the body is not a JSON object", None) };
    let transaction = transaction(&answer);
    if status == ReplyStatus::Failed {
        return unknown("the status is unexpected", transaction);
    }
    match (answer.get("success"), transaction) {
        (Some(Value::Bool(true)), Some(transaction)) => match misfit(status, &answer, expected) {
            Some(why) => unknown(why, Some(transaction)),
            None => SettleAnswer::Settled { transaction },
        },
        (Some(Value::Bool(true)), None) => unknown("it names no transaction", None),
        (Some(Value::Bool(false)), transaction) => refused(&answer, transaction, expected),
        (_, transaction) => unknown("success is not a boolean", transaction),
    }
}

fn unknown(why: &'static str, transaction: Option<String>) -> SettleAnswer {
    SettleAnswer::Unknown { why, transaction }
}

/// What in a successful settlement does not match the expectation.
fn misfit(status: ReplyStatus, answer: &Object, expected: &Expected) -> Option<&'static str> {
    let amount = answer.get("amount").filter(|amount| !amount.is_null());
    if status != ReplyStatus::Success {
        Some("it is settled but the status says otherwise")
    } else if !expected.fits_network(answer) {
        Some("it names another network")
    } else if !expected.fits_payer(answer) {
        Some("it names another payer")
    } else if amount.is_some_and(|amount| amount.as_str() != Some(expected.amount.to_string().as_str())) {
        Some("it names another amount")
    } else {
        None
    }
}

/// Words in reasons that are given before anything is sent to a chain, or when it can no longer be included. Names differ between
/// implementations; a payment refused with any other reason may have been sent.
const NEVER_SENT: [&str; 30] = [
    "insufficient_funds",
    "insufficient_balance",
    "expired",
    "valid_before",
    "valid_after",
    "block_height_exceeded",
    "signature",
    "mismatch",
    "unsupported",
    "not_supported",
    "not_allowed",
    "undeployed",
    "not_deployed",
    "simulation_failed",
    "verification_failed",
    "invalid_payload",
    "invalid_payment",
    "invalid_scheme",
    "invalid_network",
    "invalid_x402_version",
    "invalid_exact_evm_payload",
    "invalid_exact_svm_payload",
    "authorization_value",
    "nonce_used",
    "authorization_used",
    "duplicate_settlement",
    "already",
    "fee_payer",
    "recipient",
    "missing",
];

/// A refusal counts only if it is certain that nothing was sent, or that what was sent failed.
fn refused(answer: &Object, transaction: Option<String>, expected: &Expected) -> SettleAnswer {
    let reason = Reason::of(answer, "errorReason");
    let has = |words: &[&str]| words.iter().any(|word| reason.text.contains(word));
    if has(&["pending"]) {
        return SettleAnswer::Pending { transaction };
    }
    if has(&["unexpected", "timed_out", "timeout", "unknown_error", "unspecified", "transfer_event"]) {
        return unknown("it can no longer find the transaction", transaction);
    }
    if let Some(transaction) = transaction {
        // A transaction that was sent and did not fail may still be included.
        return if !has(&["failed", "revert", "transaction_state", "block_height_exceeded"]) {
            unknown("it refuses but names a transaction", Some(transaction))
        } else if expected.network.is_evm() {
            SettleAnswer::Reverted { reason, transaction }
        } else {
            // Only the fee payer can submit a Solana transaction, and a failed one cannot be executed again.
            SettleAnswer::Refused(reason)
        };
    }
    // The reference facilitators report this, without a transaction, when sending threw an error: it may still be in flight.
    if !has(&["transaction_failed"]) && has(&NEVER_SENT) {
        SettleAnswer::Refused(reason)
    } else {
        unknown("it does not confirm that nothing was sent", None)
    }
}

/// The transaction id: hexadecimal or base58, so that it is safe to display.
fn transaction(answer: &Object) -> Option<String> {
    let text = json::text(answer, "transaction").ok()?;
    let clean = (1..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric());
    clean.then(|| text.to_owned())
}
