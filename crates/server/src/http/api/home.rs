//! Pages for people at the API's address: the reference, and what browsers and robots ask for.

use super::{ApiState, openapi};
use crate::http::error::designed_policy;
use crate::pages::{self, Rendered};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header;

pub(in crate::http) fn designed(page: Rendered) -> Response {
    let headers = [
        (header::CONTENT_TYPE, http::HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, designed_policy(page.style_source)),
        (header::X_FRAME_OPTIONS, http::HeaderValue::from_static("DENY")),
        (
            header::HeaderName::from_static("cross-origin-opener-policy"),
            http::HeaderValue::from_static("same-origin"),
        ),
    ];
    (headers, page.html).into_response()
}

pub(super) async fn docs(State(state): State<ApiState>) -> Response {
    let base = state.resolved.hosts.base.url();
    designed(pages::docs(&openapi::served(&base, state.app.selling().ok()), &base))
}

pub(super) async fn openapi(State(state): State<ApiState>) -> Response {
    let document = openapi::served(&state.resolved.hosts.base.url(), state.app.selling().ok());
    ([(header::CONTENT_TYPE, "application/json")], document.to_string()).into_response()
}

pub(super) async fn favicon() -> Response {
    (
        [(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "public, max-age=86400")],
        pages::FAVICON_SVG,
    )
        .into_response()
}

pub(super) async fn robots() -> Response {
    (
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8")],
        "User-agent: *\nAllow: /$\nAllow: /docs\nAllow: /auth.md\nAllow: /llms.txt\nAllow: /design-guide\nDisallow: /\n",
    )
        .into_response()
}
