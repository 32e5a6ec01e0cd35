//! The answer of `POST /settle`. The costliest mistake is to take an unknown outcome for a refusal: the payer
//! would sign again and pay twice.

use serde_json::Value;

use super::{Expected, Reason, object};
use crate::json::{self, Object};

/// What became of a settlement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettleAnswer {
    /// The money moved, by this transaction.
    Settled { transaction: String },
    /// The money did not move and this request will not move it.
    Refused(Reason),
    /// It is on its way, by this transaction if it is known: ask again with the same body.
    Pending { transaction: Option<String> },
    /// Nothing is known, and why: ask again with the same body, and never tell the payer to sign anew.
    Unknown(&'static str),
}

/// Reads an answer.
pub fn read_settle(status: u16, body: &[u8], expected: &Expected) -> SettleAnswer {
    if !(200..500).contains(&status) || (300..400).contains(&status) {
        return SettleAnswer::Unknown("the status is not an answer");
    }
    let Some(answer) = object(body) else { return SettleAnswer::Unknown("the body is not a JSON object") };
    match answer.get("success") {
        Some(Value::Bool(true)) => settled(status, &answer, expected),
        Some(Value::Bool(false)) => refused(&answer),
        _ => SettleAnswer::Unknown("success is not a boolean"),
    }
}

fn settled(status: u16, answer: &Object, expected: &Expected) -> SettleAnswer {
    let amount = answer.get("amount").filter(|amount| !amount.is_null());
    let Some(transaction) = transaction(answer) else {
        return SettleAnswer::Unknown("it names no transaction");
    };
    if status != 200 {
        SettleAnswer::Unknown("it is settled but the status says otherwise")
    } else if !expected.fits_network(answer) {
        SettleAnswer::Unknown("it names another network")
    } else if !expected.fits_payer(answer) {
        SettleAnswer::Unknown("it names another payer")
    } else if amount.is_some_and(|amount| amount.as_str() != Some(expected.amount.to_string().as_str())) {
        SettleAnswer::Unknown("it names another amount")
    } else {
        SettleAnswer::Settled { transaction }
    }
}

fn refused(answer: &Object) -> SettleAnswer {
    let reason = Reason::of(answer, "errorReason");
    let transaction = transaction(answer);
    let has = |words: &[&str]| words.iter().any(|word| reason.text.contains(word));
    if has(&["pending"]) {
        return SettleAnswer::Pending { transaction };
    }
    // These are said when a transaction was sent and nobody saw where it went, or nothing is said at all.
    if has(&["unexpected", "timed_out", "timeout", "unknown_error", "unspecified"]) {
        return SettleAnswer::Unknown("it lost sight of the transaction");
    }
    // One that was sent and did not fail may yet arrive.
    if transaction.is_some() && !has(&["failed", "revert", "invalid", "exceeded", "insufficient"]) {
        return SettleAnswer::Unknown("it refuses but names a transaction");
    }
    SettleAnswer::Refused(reason)
}

/// A transaction's name: hexadecimal or base58, and nothing that could not be shown.
fn transaction(answer: &Object) -> Option<String> {
    let text = json::text(answer, "transaction").ok()?;
    let clean = (1..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric());
    clean.then(|| text.to_owned())
}
