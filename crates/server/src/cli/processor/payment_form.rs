//! The payment form of a checkout session, for tests: `GET /form/{id}` describes it, `POST` submits a card.

use super::ProcessorState;
use axum::extract::{Path, State};
use axum::response::Response;
use bytes::Bytes;
use dropleaf_pay::stripe::CheckoutStatus;
use dropleaf_pay::stripe::sandbox::{Authentication, CardDetails, CheckoutForm, FormOutcome};
use serde_json::{Value, json};
use std::sync::Arc;

/// What a client posts, as a form.
#[derive(Default)]
struct SubmittedForm {
    number: String,
    expiry: String,
    cvc: String,
    authentication: Option<Authentication>,
}

impl SubmittedForm {
    fn read(body: &[u8]) -> Result<Self, &'static str> {
        let mut form = Self::default();
        for (name, value) in form_urlencoded::parse(body) {
            match &*name {
                "number" => form.number = value.into_owned(),
                "exp" => form.expiry = value.into_owned(),
                "cvc" => form.cvc = value.into_owned(),
                "authentication" => {
                    form.authentication = match &*value {
                        "" => None,
                        "approved" => Some(Authentication::Approved),
                        "failed" => Some(Authentication::Failed),
                        _ => return Err("`authentication` must be approved or failed."),
                    }
                }
                _ => return Err("The form has the fields number, exp, cvc and authentication."),
            }
        }
        Ok(form)
    }
}

pub(super) async fn show(State(state): State<Arc<ProcessorState>>, Path(session): Path<String>) -> Response {
    match state.sandbox.form(&session).await {
        Ok(Some(form)) => state.json(200, &form_json(&form)),
        Ok(None) => state.error(404, "invalid_request_error", "No such checkout.session."),
        Err(error) => state.storage_failed(&error),
    }
}

fn form_json(form: &CheckoutForm) -> Value {
    let status = match form.status {
        CheckoutStatus::Open => "open",
        CheckoutStatus::Complete => "complete",
        CheckoutStatus::Expired => "expired",
    };
    json!({
        "product": form.product,
        "amount": form.price.minor_units,
        "currency": form.price.currency.as_str(),
        "status": status,
        "cancel_url": form.cancel_url,
        "expires_at": form.expires_at,
        "how": "POST number, exp (MM/YY), cvc and, after 3-D Secure, authentication (approved or failed) as a form.",
    })
}

pub(super) async fn submit(
    State(state): State<Arc<ProcessorState>>,
    Path(session): Path<String>,
    body: Bytes,
) -> Response {
    let form = match SubmittedForm::read(&body) {
        Ok(form) => form,
        Err(message) => return state.error(400, "invalid_request_error", message),
    };
    let card = CardDetails { number: &form.number, expiry: &form.expiry, cvc: &form.cvc };
    match state.sandbox.submit(&session, card, form.authentication).await {
        Ok((outcome, events)) => {
            state.events.queue(events);
            let (status, body) = outcome_json(outcome);
            state.json(status, &body)
        }
        Err(error) => state.storage_failed(&error),
    }
}

fn outcome_json(outcome: FormOutcome) -> (u16, Value) {
    match outcome {
        FormOutcome::Paid { return_url } => (200, json!({ "outcome": "paid", "return_url": return_url })),
        FormOutcome::Processing { return_url } => {
            (200, json!({ "outcome": "processing", "return_url": return_url }))
        }
        FormOutcome::AuthenticationRequired => (200, json!({ "outcome": "authentication_required" })),
        FormOutcome::Declined { code, message } => {
            (402, json!({ "outcome": "declined", "code": code, "message": message }))
        }
        FormOutcome::InvalidCard { code, message } => {
            (400, json!({ "outcome": "invalid_card", "code": code, "message": message }))
        }
        FormOutcome::AlreadyComplete => (409, json!({ "outcome": "already_complete" })),
        FormOutcome::Expired => (410, json!({ "outcome": "expired" })),
        FormOutcome::NotFound => (404, json!({ "outcome": "not_found" })),
        FormOutcome::Fault => (500, json!({ "outcome": "fault" })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_and_unknown_fields_are_refused() {
        let form =
            SubmittedForm::read(b"number=4242+4242&exp=12%2F34&cvc=123&authentication=failed").unwrap();
        assert_eq!(
            (form.number.as_str(), form.expiry.as_str(), form.cvc.as_str()),
            ("4242 4242", "12/34", "123")
        );
        assert_eq!(form.authentication, Some(Authentication::Failed));
        assert_eq!(SubmittedForm::read(b"").unwrap().authentication, None);
        assert!(SubmittedForm::read(b"authentication=yes").is_err());
        assert!(SubmittedForm::read(b"pin=1").is_err());
    }
}
