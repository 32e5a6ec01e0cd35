//! Middleware around every request to the router: request id, time limit, panic handler, log line. `api/layer.rs` and
//! `web/layer.rs` add the response headers.

use super::api_error::ApiError;
use super::deadline::{self, Deadline};
use super::error;
use super::state::ApiState;
use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use dropleaf_core::Error;
use dropleaf_core::rate::RateLimitStatus;
use futures_util::FutureExt;
use http::{HeaderValue, Method};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use tracing::Instrument;

/// Routes that settle a payment or, for operators, query its state.
const PAID_ROUTES: [&str; 4] = ["/publish", "/provision", "/unlock", "/operator/payments/"];
/// Routes that return a secret once. A write that commits after the 503 would lose it for the client: its code or
/// refresh token would be used up, or a key would exist that it does not know.
const HANDOUT_ROUTES: [&str; 5] =
    ["/oauth/token", "/device/token", "/api-keys", "/sites/{idOrSlug}/share-tokens", "/appeals"];

/// Returns the key of a paid session once.
const POLL_ROUTE: &str = "/pay/sessions/{code}/poll";

/// Data about one request that handlers leave for this middleware.
#[derive(Debug, Clone, Default)]
pub(in crate::http) struct Exchange(Arc<Mutex<Option<RateLimitStatus>>>);

impl Exchange {
    pub(in crate::http) fn note_standing(&self, standing: RateLimitStatus) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(standing);
    }
}

/// A response with the headers this middleware has still to add.
#[derive(Debug)]
pub(in crate::http) struct HandlerResponse {
    pub response: Response,
    id: String,
    exchange: Exchange,
    head: bool,
}

impl HandlerResponse {
    pub(in crate::http) fn finish(mut self) -> Response {
        let headers = self.response.headers_mut();
        if let Ok(id) = HeaderValue::from_str(&self.id) {
            headers.insert("x-request-id", id);
        }
        if let Some(standing) = *self.exchange.0.lock().unwrap_or_else(PoisonError::into_inner) {
            error::rate_headers(headers, standing);
        }
        if self.head {
            *self.response.body_mut() = Body::empty();
        }
        self.response
    }
}

/// Runs a handler with a request id, a time limit and a panic handler, and writes the log line.
pub(in crate::http) async fn run_handler(
    state: &ApiState,
    mut request: Request,
    next: Next,
) -> HandlerResponse {
    let id = state.app.request_id();
    let exchange = Exchange::default();
    request.extensions_mut().insert(exchange.clone());
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map_or("(none)", MatchedPath::as_str).to_owned();
    let head = method == Method::HEAD;
    let span = tracing::info_span!("request", id, %method, route);
    let deadline = Deadline::new(state.resolved.config.limits.request_seconds);
    let request = request.map(|body| Body::new(deadline.watch(body)));
    let is_exempt = is_exempt(&method, &route);
    let work = AssertUnwindSafe(next.run(request)).catch_unwind();
    let work = async { if is_exempt { Ok(work.await) } else { deadline.limit(work).await } };
    let response = match work.instrument(span.clone()).await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => ApiError(Error::internal("handler panicked")).into_response(),
        Err(late) => ApiError(deadline::refusal(late, method.is_safe())).into_response(),
    };
    let _entered = span.enter();
    tracing::info!(status = response.status().as_u16(), "request completed");
    HandlerResponse { response, id, exchange, head }
}

/// Whether a request has no time limit. A request that settles a payment is bounded by the timeouts of the facilitator
/// and the chain, and only it can report what happened to the money.
fn is_exempt(method: &Method, route: &str) -> bool {
    let is_paid = PAID_ROUTES.iter().any(|paid| route.starts_with(paid));
    let is_write = method == Method::POST && (is_paid || HANDOUT_ROUTES.contains(&route));
    is_write || (method == Method::GET && route == POLL_ROUTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_paid_for_or_handed_out_once_has_no_time_limit() {
        let document: serde_json::Value = serde_json::from_str(&crate::http::openapi::text()).unwrap();
        for route in HANDOUT_ROUTES {
            assert!(document["paths"][route]["post"].is_object(), "{route}");
            assert!(is_exempt(&Method::POST, route) && !is_exempt(&Method::GET, route), "{route}");
        }
        assert!(document["paths"][POLL_ROUTE]["get"].is_object() && is_exempt(&Method::GET, POLL_ROUTE));
        assert!(is_exempt(&Method::POST, "/publish"));
        for route in ["/sites", "/sites/{idOrSlug}", "/oauth/revoke", "/mcp", "(none)"] {
            assert!(!is_exempt(&Method::POST, route), "{route}");
        }
    }
}
