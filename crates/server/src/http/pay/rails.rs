//! Payment protocols that are not live here. Whoever sends a payment of one believes to have paid, so it is refused before
//! anything else is looked at, never ignored.

use crate::http::api::ApiError;
use axum::extract::FromRequestParts;
use dropleaf_core::{Code, Error};
use http::header::AUTHORIZATION;
use http::request::Parts;

/// A request without an MPP credential (`Authorization: Payment …`). First in the signature of what is paid for.
#[derive(Debug)]
pub(super) struct NoOtherRail;

impl<S: Sync> FromRequestParts<S> for NoOtherRail {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let is_mpp = |value: &http::HeaderValue| {
            let scheme = value.as_bytes().split(|byte| *byte == b' ').next().unwrap_or_default();
            scheme.eq_ignore_ascii_case(b"payment")
        };
        if parts.headers.get_all(AUTHORIZATION).iter().any(is_mpp) {
            return Err(Error::plain(Code::RailNotLive).into());
        }
        Ok(Self)
    }
}
