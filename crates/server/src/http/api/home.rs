//! Serves the favicon and `robots.txt`, and sets the headers of HTML pages at the API's address.

use crate::http::error::designed_policy;
use axum::response::{IntoResponse, Response};
use dropleaf_pages::{self as pages, Rendered};
use http::{HeaderName, HeaderValue, header};

pub(in crate::http) fn designed(page: Rendered) -> Response {
    (designed_headers(designed_policy(page.style_source)), page.html).into_response()
}

pub(in crate::http) fn designed_headers(policy: HeaderValue) -> [(HeaderName, HeaderValue); 4] {
    [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    ]
}

pub(in crate::http) async fn favicon() -> Response {
    (
        [(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "public, max-age=86400")],
        pages::FAVICON_SVG,
    )
        .into_response()
}

pub(in crate::http) async fn robots() -> Response {
    (
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8")],
        "User-agent: *\nAllow: /$\nAllow: /docs\nAllow: /auth.md\nAllow: /llms.txt\nAllow: /design-guide\nDisallow: /\n",
    )
        .into_response()
}
