//! Takes a payment: reads the proof from the headers and runs the paid operation in a task, so that a client that
//! disconnects does not interrupt it.

use super::terms;
use crate::http::api_error::ApiError;
use crate::http::extract::idempotency_key;
use crate::http::foreign_origin::ForeignOrigin;
use crate::http::state::ApiState;
use axum::response::Response;
use dropleaf_app::{Order, PayError, PayRefused, PayRequest, PurchaseResult};
use dropleaf_core::payment::Item;
use dropleaf_core::{Code, Error};
use dropleaf_pay::{Generation, PAYMENT_SIGNATURE, Proof, Refusal, X_PAYMENT, parse_proof};
use http::HeaderMap;
use http::request::Parts;
use serde_json::{Map, Value};
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::oneshot;

/// `Retry-After` in seconds for a payment whose outcome is unknown.
const RETRY_SECONDS: i64 = 10;

/// A completed sale, or the response to send instead.
pub(super) enum Sale {
    Sold { bought: Box<PurchaseResult>, generation: Generation },
    Answer(Response),
}

/// Whether a web page of another origin sent this without a proof: it gets the terms, whatever else it sent.
pub(super) fn is_foreign_question(parts: &Parts) -> bool {
    parts.extensions.get::<ForeignOrigin>().is_some() && !has_proof(&parts.headers)
}

/// Whether a request has a proof, valid or not.
pub(super) fn has_proof(headers: &HeaderMap) -> bool {
    headers.contains_key(PAYMENT_SIGNATURE) || headers.contains_key(X_PAYMENT)
}

/// The proof of the request. None is valid; two are an error.
fn proof(headers: &HeaderMap) -> Result<Option<Proof>, Refusal> {
    let one = |name| {
        let mut values = headers.get_all(name).iter();
        let Some(value) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(Refusal::TwoProofs);
        }
        value.to_str().map(Some).map_err(|_| Refusal::NotBase64)
    };
    parse_proof(one(PAYMENT_SIGNATURE)?, one(X_PAYMENT)?)
}

/// Sells a checked order: with a proof it runs the payment, without one it returns the terms. `more` are further
/// members of the 402 body. `held` is dropped when the operation has ended.
pub(super) async fn sell(
    state: &ApiState,
    headers: &HeaderMap,
    ip: Option<IpAddr>,
    (mut order, request_hash): (Order, [u8; 32]),
    more: Map<String, Value>,
    held: impl Send + 'static,
) -> Result<Sale, ApiError> {
    let item = order.item();
    let proof = match proof(headers) {
        Ok(Some(proof)) => proof,
        Ok(None) => return owed(state, item, more),
        Err(refusal) => {
            order.check()?;
            return refused(state, item, refusal.into(), None, more);
        }
    };
    let generation = proof.generation();
    let idempotency_key = idempotency_key(headers);
    state.app.count_sandbox_sale(item, &proof, ip).await?;
    let request = PayRequest { order, proof, request_hash, idempotency_key, ip };
    let (sender, receiver) = oneshot::channel();
    let app = Arc::clone(&state.app);
    state.tasks.spawn(async move {
        // The client may be gone; the payment is completed anyway.
        let _ = sender.send(app.execute_purchase(request).await);
        drop(held);
    });
    let Ok(outcome) = receiver.await else {
        // The task ended early; the payment's row says how far it got.
        return Err(Error::plain(Code::SettlementUnknown).retry_after(RETRY_SECONDS).into());
    };
    match outcome {
        Ok(bought) => Ok(Sale::Sold { bought: Box::new(bought), generation }),
        Err(error) => refused(state, item, error, Some(generation), more),
    }
}

fn owed(state: &ApiState, item: Item, more: Map<String, Value>) -> Result<Sale, ApiError> {
    let listing = state.app.listing(item)?;
    let answer = if more.is_empty() { terms::owed(&listing) } else { terms::owed_with(&listing, more) };
    Ok(Sale::Answer(answer))
}

/// The terms are repeated only if the payment is known not to have been taken.
fn refused(
    state: &ApiState,
    item: Item,
    error: PayError,
    generation: Option<Generation>,
    more: Map<String, Value>,
) -> Result<Sale, ApiError> {
    let refused: PayRefused = match error {
        PayError::Refused(refused) => refused,
        PayError::Failed(error) => return Err(error.into()),
    };
    let listing = state.app.listing(item)?;
    Ok(Sale::Answer(terms::refused(&listing, &refused, generation, more)?))
}
