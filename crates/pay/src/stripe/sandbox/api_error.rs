//! Errors in the form in which the processor reports them. Messages never repeat what was sent.

use std::fmt;

use serde_json::{Value, json};

use super::decline::Decline;

/// An error answer.
#[derive(Clone, PartialEq)]
pub(super) struct ApiError {
    pub(super) status: u16,
    kind: &'static str,
    code: Option<&'static str>,
    message: &'static str,
    param: Option<String>,
    /// The decline and the payment intent and charge that it concerns.
    declined: Option<Box<Declined>>,
}

#[derive(Clone, PartialEq)]
struct Declined {
    decline: Decline,
    intent: Value,
    charge: Option<String>,
}

impl ApiError {
    const fn new(status: u16, kind: &'static str, code: Option<&'static str>, message: &'static str) -> Self {
        Self { status, kind, code, message, param: None, declined: None }
    }

    /// A request that cannot be carried out.
    pub(super) const fn invalid(code: Option<&'static str>, message: &'static str) -> Self {
        Self::new(400, "invalid_request_error", code, message)
    }

    pub(super) fn missing(param: &str) -> Self {
        Self::invalid(Some("parameter_missing"), "A required parameter is missing.").at(param)
    }

    pub(super) const fn unauthorized() -> Self {
        let message = "Send a test secret key (sk_test_…) as a Bearer token or as the user name of Basic authentication.";
        Self::new(401, "invalid_request_error", None, message)
    }

    pub(super) const fn unknown_route() -> Self {
        Self::new(404, "invalid_request_error", None, "Unrecognized request URL.")
    }

    /// The object in the path does not exist.
    pub(super) const fn not_found(message: &'static str) -> Self {
        Self::new(404, "invalid_request_error", Some("resource_missing"), message)
    }

    /// An object that a parameter names does not exist.
    pub(super) fn no_such(param: &str, message: &'static str) -> Self {
        Self::invalid(Some("resource_missing"), message).at(param)
    }

    pub(super) const fn key_reused() -> Self {
        let message =
            "An idempotency key can only be used again with the same endpoint and the same parameters.";
        Self::new(400, "idempotency_error", None, message)
    }

    /// An object in storage cannot be read or written.
    pub(super) const fn internal() -> Self {
        Self::new(500, "api_error", None, "An object of the sandbox cannot be read.")
    }

    /// A card that was declined, with the payment intent as it is now.
    pub(super) fn declined(decline: Decline, intent: Value, charge: Option<String>) -> Self {
        let mut error = Self::new(402, decline.error_type(), Some(decline.code()), decline.message());
        error.declined = Some(Box::new(Declined { decline, intent, charge }));
        error
    }

    /// Names the parameter at fault, if its name is harmless.
    pub(super) fn at(mut self, param: &str) -> Self {
        let clean = (1..=100).contains(&param.len())
            && param.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'[' | b']'));
        self.param = clean.then(|| param.to_owned());
        self
    }

    pub(super) fn body(&self) -> Value {
        let mut error = json!({ "type": self.kind, "message": self.message });
        if let Some(code) = self.code {
            error["code"] = code.into();
            error["doc_url"] =
                format!("https://docs.stripe.com/error-codes#{}", code.replace('_', "-")).into();
        }
        if let Some(param) = &self.param {
            error["param"] = param.as_str().into();
        }
        if let Some(declined) = &self.declined {
            error["payment_intent"] = declined.intent.clone();
            if let Some(code) = declined.decline.decline_code() {
                error["decline_code"] = code.into();
            }
            if let Some(charge) = &declined.charge {
                error["charge"] = charge.as_str().into();
            }
        }
        json!({ "error": error })
    }
}

/// Keeps the name of a parameter out of logs, because a client may send anything as one.
impl fmt::Debug for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiError")
            .field("status", &self.status)
            .field("code", &self.code)
            .field("message", &self.message)
            .finish_non_exhaustive()
    }
}
