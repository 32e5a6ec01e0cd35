//! Middleware around every request to the router: request id, time limit, panic handler, log line. `api/layer.rs` and
//! `web/layer.rs` add the response headers.

use super::api_error::ApiError;
use super::deadline::{self, Deadline, LONG_FACTOR};
use super::error;
use super::state::ApiState;
use crate::config::Config;
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
use std::time::Duration;
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
    let deadline = Deadline::new(time_limit(&state.resolved.config, &method, &route));
    let request = request.map(|body| Body::new(deadline.watch(body)));
    let work = deadline.limit(AssertUnwindSafe(next.run(request)).catch_unwind());
    let response = match work.instrument(span.clone()).await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => ApiError(Error::internal("handler panicked")).into_response(),
        Err(late) => ApiError(deadline::refusal(late, method.is_safe())).into_response(),
    };
    let _entered = span.enter();
    tracing::info!(status = response.status().as_u16(), "request completed");
    HandlerResponse { response, id, exchange, head }
}

/// The time limit of a request.
fn time_limit(config: &Config, method: &Method, route: &str) -> Duration {
    let ordinary = Duration::from_secs(config.limits.request_seconds.max(1));
    let long = ordinary * LONG_FACTOR;
    if method == Method::POST && PAID_ROUTES.iter().any(|paid| route.starts_with(paid)) {
        // Only it can report what happened to the money, so it may take as long as the facilitator and the chain, which have
        // time limits of their own.
        let payments = &config.payments;
        return long
            + Duration::from_secs(payments.verify_timeout_seconds + 2 * payments.settle_timeout_seconds);
    }
    let is_handout = method == Method::POST && HANDOUT_ROUTES.contains(&route);
    if is_handout || (method == Method::GET && route == POLL_ROUTE) { long } else { ordinary }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, Sources};

    #[test]
    fn what_is_paid_for_or_handed_out_once_gets_more_time() {
        let config = Layers::load(&Sources::default()).unwrap().config().unwrap();
        let seconds = |method, route| time_limit(&config, &method, route).as_secs();
        let document: serde_json::Value = serde_json::from_str(&crate::http::openapi::text()).unwrap();
        for route in HANDOUT_ROUTES {
            assert!(document["paths"][route]["post"].is_object(), "{route}");
            assert_eq!((seconds(Method::POST, route), seconds(Method::GET, route)), (120, 30), "{route}");
        }
        assert!(document["paths"][POLL_ROUTE]["get"].is_object());
        assert_eq!(seconds(Method::GET, POLL_ROUTE), 120);
        assert_eq!(seconds(Method::POST, "/publish"), 120 + 10 + 2 * 75);
        for route in ["/sites", "/sites/{idOrSlug}", "/oauth/revoke", "/mcp", "(none)"] {
            assert_eq!(seconds(Method::POST, route), 30, "{route}");
        }
    }
}
