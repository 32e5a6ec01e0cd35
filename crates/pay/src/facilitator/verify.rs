//! Interprets the response to `POST /verify`.

use serde_json::Value;

use super::{Expected, Reason, ReplyStatus, object};

/// Whether a facilitator would settle a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VerifyAnswer {
    Valid,
    Refused(Reason),
    /// No reliable response, for this reason: the payment is neither valid nor refused.
    Fault(&'static str),
}

/// Interprets a response. A yes counts only with a success.
pub fn read_verify(status: ReplyStatus, body: &[u8], expected: &Expected) -> VerifyAnswer {
    if status == ReplyStatus::Failed {
        return VerifyAnswer::Fault("the status is unexpected");
    }
    let Some(answer) = object(body) else { return VerifyAnswer::Fault("the body is not a JSON object") };
    match answer.get("isValid") {
        Some(Value::Bool(true)) if status != ReplyStatus::Success => {
            VerifyAnswer::Fault("it is valid but the status says otherwise")
        }
        Some(Value::Bool(true)) if !expected.fits_payer(&answer) => {
            VerifyAnswer::Fault("it names another payer")
        }
        Some(Value::Bool(true)) => VerifyAnswer::Valid,
        Some(Value::Bool(false)) => {
            let reason = Reason::of(&answer, "invalidReason");
            // The facilitator failed, not the payment.
            if reason.text.contains("unexpected") {
                return VerifyAnswer::Fault("it reported an unexpected error");
            }
            VerifyAnswer::Refused(reason)
        }
        _ => VerifyAnswer::Fault("isValid is not a boolean"),
    }
}
