//! The response to a successful payment: the goods, and the receipt in the header of the payer's protocol.

use axum::Json;
use axum::response::{IntoResponse, Response};
use dropleaf_app::PurchaseResult;
use dropleaf_pay::mpp::{PAYMENT_RECEIPT, PaymentReceipt};
use dropleaf_pay::{Generation, Network, Outcome, Receipt};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;

/// The header in which the payer expects the receipt.
pub(super) enum ReceiptFormat {
    /// `PAYMENT-RESPONSE` or `X-PAYMENT-RESPONSE`.
    X402(Generation),
    /// `Payment-Receipt`.
    Mpp { challenge_id: String },
}

pub(super) fn paid_response(
    status: StatusCode,
    answer: &impl Serialize,
    bought: &PurchaseResult,
    format: &ReceiptFormat,
) -> Response {
    let mut response = (status, Json(answer)).into_response();
    let headers = response.headers_mut();
    // It may hold a secret and is for the paying client only.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    let Some(receipt) = &bought.receipt else { return response };
    match format {
        ReceiptFormat::X402(generation) => write(headers, receipt, *generation),
        ReceiptFormat::Mpp { challenge_id } => {
            let settled_at = bought.payment.fulfilled_at.unwrap_or(bought.payment.updated_at);
            write_mpp(headers, receipt, challenge_id, settled_at);
        }
    }
    response
}

pub(super) fn write(headers: &mut HeaderMap, receipt: &Receipt, generation: Generation) {
    if let Ok(value) = HeaderValue::from_str(&receipt.header(generation)) {
        headers.insert(HeaderName::from_static(generation.receipt_header()), value);
    }
}

/// There is a receipt of MPP only for a payment that was settled.
fn write_mpp(headers: &mut HeaderMap, receipt: &Receipt, challenge_id: &str, settled_at: i64) {
    let (Outcome::Settled { transaction }, Network::Evm(chain_id)) = (&receipt.outcome, receipt.network)
    else {
        return;
    };
    let (reference, challenge_id) = (transaction.clone(), challenge_id.to_owned());
    let receipt = PaymentReceipt { reference, challenge_id, chain_id, settled_at };
    if let Ok(value) = HeaderValue::from_str(&receipt.header()) {
        headers.insert(HeaderName::from_static(PAYMENT_RECEIPT), value);
    }
}
