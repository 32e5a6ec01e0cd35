//! Builds our own error and notice responses with strict headers: no scripts, no framing, no caching.

use super::{OutBody, empty};
use dropleaf_pages as pages;
use http::{HeaderValue, Response, StatusCode, header};

/// A response for programs: JSON or a line of text.
pub fn bare(status: StatusCode, kind: &'static str, body: String) -> Response<OutBody> {
    let policy = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    locked(status, kind, body, policy)
}

/// A response with one of our own pages.
pub fn designed(status: StatusCode, page: pages::Rendered) -> Response<OutBody> {
    let policy = designed_policy(page.style_source);
    let mut response = locked(status, "text/html; charset=utf-8", page.html, policy);
    let headers = response.headers_mut();
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    response
}

fn locked(status: StatusCode, kind: &'static str, body: String, policy: HeaderValue) -> Response<OutBody> {
    let mut response = empty(status);
    *response.body_mut() = body.into();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert("x-robots-tag", HeaderValue::from_static("noindex, nofollow, noarchive"));
    response
}

/// The policy of our own pages: only their one inline style.
pub fn designed_policy(style_source: &str) -> HeaderValue {
    policy(style_source, "")
}

/// The same for a page with one of our scripts, which sends requests to this host only.
pub fn scripted_policy(style_source: &str) -> HeaderValue {
    policy(
        style_source,
        "; script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'",
    )
}

fn policy(style_source: &str, more: &str) -> HeaderValue {
    let text = format!(
        "default-src 'none'; style-src {style_source}; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'{more}"
    );
    HeaderValue::from_str(&text)
        .unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"))
}
