//! Renders the 402 response for all protocols at once: x402 v2 in a header, v1 in the body, MPP as a challenge. No other
//! file renders one. It must not be cached.

use super::mandate::MandateTermsJson;
use super::receipt::ReceiptFormat;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use dropleaf_app::{Listing, PayRefused};
use dropleaf_core::{Code, Error};
use dropleaf_pay::PAYMENT_REQUIRED;
use dropleaf_pay::mpp::{Challenge, Problem};
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
    /// 1; absent on a server that accepts only cards.
    #[serde(rename = "x402Version")]
    #[schema(nullable = false)]
    x402_version: Option<i64>,
    /// `payment_required`, `payment_refused` after a payment that was refused, or `rail_not_live` after one by a protocol
    /// that is not available.
    error: String,
    error_description: String,
    /// Why a payment was refused.
    #[schema(nullable = false)]
    reason: Option<String>,
    /// The accepted payments, in the format of x402 v1; absent on a server that accepts only cards.
    #[schema(nullable = false)]
    accepts: Option<Vec<Value>>,
    /// True if no money moves.
    #[schema(nullable = false)]
    sandbox: Option<bool>,
    /// For a request with a key: the prepaid balance, in cents.
    #[schema(nullable = false)]
    balance_minor: Option<i64>,
    /// On `/provision`, where mandates (AP2) are accepted: what a mandate must say.
    #[schema(nullable = false)]
    ap2: Option<MandateTermsJson>,
    /// For clients of MPP, in `application/problem+json`: the problem type.
    #[serde(rename = "type")]
    #[schema(nullable = false, format = "uri")]
    problem_type: Option<String>,
    /// For clients of MPP: the title of the problem type.
    #[schema(nullable = false)]
    title: Option<String>,
    /// For clients of MPP: 402.
    #[schema(nullable = false)]
    status: Option<i64>,
    /// For clients of MPP: what is wrong and what to do.
    #[schema(nullable = false)]
    detail: Option<String>,
    /// For clients of MPP: the ID of the challenge in `WWW-Authenticate`.
    #[serde(rename = "challengeId")]
    #[schema(nullable = false)]
    challenge_id: Option<String>,
}

/// The current terms. They are prepared in advance, so this costs little unless `more` has members or the client speaks
/// MPP.
pub(super) fn owed(
    listing: &Listing,
    challenge: Option<&Challenge>,
    more: &Map<String, Value>,
    is_mpp: bool,
) -> Response {
    let body = if more.is_empty() && !is_mpp {
        listing.body.clone()
    } else {
        let mut terms = listing.terms.clone();
        terms.members.extend(more.clone());
        if is_mpp {
            let problem = Problem::PaymentRequired;
            terms.members.extend(problem.members(problem.sentence(), challenge.map(|it| it.id.as_str())));
        }
        Value::Object(terms.body()).to_string().into()
    };
    payment_required(listing.header.clone(), body, challenge, is_mpp)
}

/// The terms again, and why the payment was refused. A malformed payment is a 400 instead.
pub(super) fn refused(
    listing: &Listing,
    refused: &PayRefused,
    challenge: Option<&Challenge>,
    more: &Map<String, Value>,
    is_mpp: bool,
    receipt: Option<&ReceiptFormat>,
) -> Result<Response, Error> {
    if refused.malformed || (is_mpp && refused.problem.status() == 400) {
        let reason = dropleaf_core::error::Fact::Text(refused.reason.clone());
        return Err(Error::new(Code::InvalidPayment, refused.sentence.as_str()).with_fact("reason", reason));
    }
    let mut terms = listing.terms.clone();
    // Clients of v2 show their user the error of the header, so it names the reason.
    terms.error = Some(refused.reason.clone());
    let header = terms.header();
    terms.error = Some(Code::PaymentRefused.as_str().to_owned());
    terms.members.extend(more.clone());
    terms.members.insert("error_description".to_owned(), refused.sentence.clone().into());
    terms.members.insert("reason".to_owned(), refused.reason.clone().into());
    if is_mpp {
        let id = challenge.map(|challenge| challenge.id.as_str());
        terms.members.extend(refused.problem.members(&refused.sentence, id));
    }
    let body = Value::Object(terms.body()).to_string().into();
    let mut response = payment_required(header.into(), body, challenge, is_mpp);
    if let (Some(refusal), Some(ReceiptFormat::X402(generation))) = (&refused.receipt, receipt) {
        super::receipt::write(response.headers_mut(), refusal, *generation);
    }
    Ok(response)
}

/// The terms, for a payment by a protocol that is not available here: the client believes it has paid.
pub(super) fn not_live(
    listing: &Listing,
    challenge: Option<&Challenge>,
    more: &Map<String, Value>,
    sentence: &str,
) -> Response {
    let mut terms = listing.terms.clone();
    let header = terms.header();
    terms.error = Some(Code::RailNotLive.as_str().to_owned());
    terms.members.extend(more.clone());
    terms.members.insert("error_description".to_owned(), sentence.into());
    payment_required(header.into(), Value::Object(terms.body()).to_string().into(), challenge, false)
}

fn payment_required(header: Bytes, body: Bytes, challenge: Option<&Challenge>, is_mpp: bool) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::PAYMENT_REQUIRED;
    let headers = response.headers_mut();
    // Base64 is always a valid header value.
    if let Ok(value) = HeaderValue::from_maybe_shared(header) {
        headers.insert(HeaderName::from_static(PAYMENT_REQUIRED), value);
    }
    if let Some(Ok(value)) = challenge.map(|it| HeaderValue::from_str(&it.www_authenticate)) {
        headers.insert(header::WWW_AUTHENTICATE, value);
    }
    let content_type = if is_mpp { "application/problem+json" } else { "application/json" };
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
