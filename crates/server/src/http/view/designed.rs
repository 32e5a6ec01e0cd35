//! A designed page as an answer to a viewer, with the headers of our own pages.

use super::headers;
use crate::http::error::designed_policy;
use crate::http::{OutBody, empty};
use crate::pages::Rendered;
use http::{HeaderValue, Response, StatusCode, header};

pub(super) fn answer(page: Rendered, status: StatusCode) -> Response<OutBody> {
    let mut response = empty(status);
    let policy = designed_policy(page.style_source);
    *response.body_mut() = page.html.into();
    let headers = response.headers_mut();
    headers::common(headers);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    headers.insert("x-robots-tag", HeaderValue::from_static("noindex, nofollow, noarchive"));
    response
}
