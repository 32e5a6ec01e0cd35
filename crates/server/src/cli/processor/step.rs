//! What happens to a payment later, for tests: `POST /sandbox/{checkout session or payment intent}/{step}`.

use super::ProcessorState;
use axum::extract::{Path, State};
use axum::response::Response;
use bytes::Bytes;
use dropleaf_core::number;
use dropleaf_pay::stripe::sandbox::{PaymentRef, Step, StepKind};
use std::sync::Arc;

const SESSION: &str = "cs_";

pub(super) async fn take(
    State(state): State<Arc<ProcessorState>>,
    Path((id, step)): Path<(String, String)>,
    body: Bytes,
) -> Response {
    let kind = match parse(&step, &body) {
        Ok(kind) => kind,
        Err(message) => return state.error(400, "invalid_request_error", message),
    };
    let payment = if id.starts_with(SESSION) { PaymentRef::Checkout(&id) } else { PaymentRef::Intent(&id) };
    state.answer(state.sandbox.step(Step { payment, kind }).await)
}

/// The step with its parameters: `amount` in the smallest unit of the currency, `won` for the end of a dispute.
fn parse(step: &str, body: &[u8]) -> Result<StepKind, &'static str> {
    let (mut amount, mut won) = (None, None);
    for (name, value) in form_urlencoded::parse(body) {
        match &*name {
            "amount" => amount = Some(number::unsigned(&value).ok_or("`amount` must be an integer.")?),
            "won" => match &*value {
                "true" => won = Some(true),
                "false" => won = Some(false),
                _ => return Err("`won` must be true or false."),
            },
            _ => return Err("The parameters of steps are amount and won."),
        }
    }
    match (step, amount, won) {
        ("receive_funds", None, None) => Ok(StepKind::ReceiveFunds),
        ("fail_funds", None, None) => Ok(StepKind::FailFunds),
        ("refund", amount, None) => Ok(StepKind::Refund { amount }),
        ("fail_refund", None, None) => Ok(StepKind::FailRefund),
        ("dispute", amount, None) => Ok(StepKind::OpenDispute { amount }),
        ("close_dispute", None, Some(won)) => Ok(StepKind::CloseDispute { won }),
        ("close_dispute", ..) => Err("`close_dispute` has the parameter won."),
        ("receive_funds" | "fail_funds" | "refund" | "fail_refund" | "dispute", ..) => {
            Err("The step does not have this parameter.")
        }
        _ => Err("The steps are receive_funds, fail_funds, refund, fail_refund, dispute and close_dispute."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_their_own_parameters() {
        assert_eq!(parse("receive_funds", b""), Ok(StepKind::ReceiveFunds));
        assert_eq!(parse("fail_funds", b""), Ok(StepKind::FailFunds));
        assert_eq!(parse("refund", b"amount=50"), Ok(StepKind::Refund { amount: Some(50) }));
        assert_eq!(parse("fail_refund", b""), Ok(StepKind::FailRefund));
        assert_eq!(parse("dispute", b""), Ok(StepKind::OpenDispute { amount: None }));
        assert_eq!(parse("close_dispute", b"won=true"), Ok(StepKind::CloseDispute { won: true }));
        for (step, body) in [
            ("explode", ""),
            ("receive_funds", "amount=1"),
            ("refund", "amount=-1"),
            ("refund", "won=true"),
            ("close_dispute", ""),
            ("close_dispute", "won=maybe"),
            ("dispute", "reason=x"),
        ] {
            assert!(parse(step, body.as_bytes()).is_err(), "{step} {body}");
        }
    }
}
