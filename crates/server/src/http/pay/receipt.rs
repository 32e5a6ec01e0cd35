//! The response to a successful payment: the goods, and the receipt in the header of the payer's x402 version.

use axum::Json;
use axum::response::{IntoResponse, Response};
use dropleaf_pay::{Generation, Receipt};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;

pub(super) fn paid_response(
    status: StatusCode,
    answer: &impl Serialize,
    receipt: &Receipt,
    generation: Generation,
) -> Response {
    let mut response = (status, Json(answer)).into_response();
    let headers = response.headers_mut();
    // It may hold a secret and is for the paying client only.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    write(headers, receipt, generation);
    response
}

/// `PAYMENT-RESPONSE` or `X-PAYMENT-RESPONSE`.
pub(super) fn write(headers: &mut HeaderMap, receipt: &Receipt, generation: Generation) {
    if let Ok(value) = HeaderValue::from_str(&receipt.header(generation)) {
        headers.insert(HeaderName::from_static(generation.receipt_header()), value);
    }
}
