//! Renders the 402 response for both x402 versions at once: v2 in a header, v1 in the body. No other file renders one.
//! It must not be cached.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use dropleaf_app::{Listing, PayRefused};
use dropleaf_core::{Code, Error};
use dropleaf_pay::{Generation, PAYMENT_REQUIRED};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// The amount owed, for clients of x402 v1; clients of v2 read the header `PAYMENT-REQUIRED`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "x402Version": 1, "error": "payment_required", "error_description": Code::PaymentRequired.meaning(),
    "accepts": [{
        "scheme": "exact", "network": "base", "maxAmountRequired": "500000",
        "resource": "http://localhost:8080/publish", "description": "Publish one permanent private HTML page",
        "mimeType": "application/json", "payTo": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
        "maxTimeoutSeconds": 180, "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "extra": {"name": "USD Coin", "version": "2"}
    }]
}))]
pub(super) struct TermsJson {
    #[serde(rename = "x402Version")]
    x402_version: i64,
    /// `payment_required`, or `payment_refused` after a payment that was refused.
    error: String,
    error_description: String,
    /// Why a payment was refused.
    #[schema(nullable = false)]
    reason: Option<String>,
    /// The accepted payments, in the format of x402 v1.
    accepts: Vec<Value>,
    /// True if no money moves.
    #[schema(nullable = false)]
    sandbox: Option<bool>,
    /// On `/unlock`: the prepaid balance, in cents.
    #[schema(nullable = false)]
    balance_minor: Option<i64>,
}

/// The current terms. They are prepared in advance, so this costs almost nothing.
pub(super) fn owed(listing: &Listing) -> Response {
    challenge(listing.header.clone(), listing.body.clone())
}

/// The same with further members in the body.
pub(super) fn owed_with(listing: &Listing, more: Map<String, Value>) -> Response {
    let mut terms = listing.terms.clone();
    terms.members.extend(more);
    challenge(listing.header.clone(), Value::Object(terms.body()).to_string().into())
}

/// The terms again, and why the payment was refused. A malformed payment is a 400 instead.
pub(super) fn refused(
    listing: &Listing,
    refused: &PayRefused,
    generation: Option<Generation>,
    more: Map<String, Value>,
) -> Result<Response, Error> {
    if refused.malformed {
        let reason = dropleaf_core::error::Fact::Text(refused.reason.clone());
        return Err(Error::new(Code::InvalidPayment, refused.sentence.as_str()).with_fact("reason", reason));
    }
    let mut terms = listing.terms.clone();
    // Clients of v2 show their user the error of the header, so it names the reason.
    terms.error = Some(refused.reason.clone());
    let header = terms.header();
    terms.error = Some(Code::PaymentRefused.as_str().to_owned());
    terms.members.extend(more);
    terms.members.insert("error_description".to_owned(), refused.sentence.clone().into());
    terms.members.insert("reason".to_owned(), refused.reason.clone().into());
    let mut response = challenge(header.into(), Value::Object(terms.body()).to_string().into());
    if let (Some(receipt), Some(generation)) = (&refused.receipt, generation) {
        super::receipt::write(response.headers_mut(), receipt, generation);
    }
    Ok(response)
}

fn challenge(header: Bytes, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::PAYMENT_REQUIRED;
    let headers = response.headers_mut();
    // Base64 is always a valid header value.
    if let Ok(value) = HeaderValue::from_maybe_shared(header) {
        headers.insert(HeaderName::from_static(PAYMENT_REQUIRED), value);
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
