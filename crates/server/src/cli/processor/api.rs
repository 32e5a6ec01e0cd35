//! Requests to the processor's API: every path below `/v1/`. Tests can make them fail.

use super::ProcessorState;
use super::fault::{FaultKind, Work};
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use dropleaf_pay::stripe::sandbox::Request;
use http::{HeaderMap, HeaderName, Method, Uri, header};
use std::sync::Arc;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

pub(super) async fn call(
    State(state): State<Arc<ProcessorState>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    // A header that is not text is wrong, not absent.
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let query = uri.query().unwrap_or_default().as_bytes();
    let request = Request {
        method: method.as_str(),
        path: uri.path(),
        authorization: text(header::AUTHORIZATION),
        idempotency_key: text(IDEMPOTENCY_KEY),
        parameters: if method == Method::GET { query } else { &body },
    };
    let Some(fault) = state.faults.take(uri.path()) else {
        return state.answer(state.sandbox.call(&request).await);
    };
    let runs = match fault.work() {
        Work::None => 0,
        Work::Once => 1,
        Work::Twice => 2,
    };
    let mut done = None;
    for _ in 0..runs {
        done = Some(state.answer(state.sandbox.call(&request).await));
    }
    match (fault, done) {
        (FaultKind::Replay, Some(done)) => done,
        // The client does not learn what was done.
        _ => state.fail(fault).await,
    }
}

impl ProcessorState {
    /// Fails as requested.
    async fn fail(&self, fault: FaultKind) -> Response {
        match fault {
            FaultKind::Error | FaultKind::ErrorAfter | FaultKind::Replay => {
                self.error(500, "api_error", "The sandbox fails because a test requested it.")
            }
            FaultKind::RateLimit => self.error(429, "invalid_request_error", "Too many requests."),
            FaultKind::Garbage => Response::new("<html>Bad gateway".into()),
            FaultKind::Close | FaultKind::CloseAfter => cut_off(),
            FaultKind::Stall | FaultKind::StallAfter => {
                // Until the client gives up, or the processor ends.
                self.stopping.cancelled().await;
                cut_off()
            }
        }
    }
}

/// A response whose body fails at once, so that the connection is closed before it is complete.
fn cut_off() -> Response {
    let broken = futures_util::stream::once(async {
        Err::<Bytes, _>(std::io::Error::other("the connection is closed because a test requested it"))
    });
    Response::new(axum::body::Body::from_stream(broken))
}
