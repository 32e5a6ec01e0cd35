//! Middleware around every dashboard request: no other origin may read or frame the response.

use super::response::Failure;
use crate::http::error::{self, Wants};
use crate::http::layer::run_handler;
use crate::http::state::ApiState;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderValue, header};

pub(in crate::http) async fn exchange(
    State(state): State<ApiState>,
    request: Request,
    next: Next,
) -> Response {
    let wants = Wants::of(request.headers());
    let mut handled = run_handler(&state, request, next).await;
    // Scripts of our pages request JSON.
    if wants == Wants::Json
        && let Some(Failure(error)) = handled.response.extensions_mut().remove::<Failure>()
    {
        handled.response = error::respond(&error, Wants::Json).map(Body::new);
    }
    let headers = handled.response.headers_mut();
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::HeaderName::from_static("x-robots-tag"), "noindex, nofollow, noarchive"),
    ];
    for (name, value) in fixed {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    handled.finish()
}
