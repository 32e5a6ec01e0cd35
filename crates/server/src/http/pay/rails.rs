//! Refuses payments of protocols that are not available here. A client that sends one believes it has paid, so this is
//! checked first and never ignored. An x402 proof in the same request takes precedence: its money may already have
//! moved.

use super::purchase::has_proof;
use crate::http::api_error::ApiError;
use axum::extract::FromRequestParts;
use dropleaf_core::{Code, Error};
use http::header::AUTHORIZATION;
use http::request::Parts;

/// A request without an MPP credential (`Authorization: Payment …`), or with an x402 proof too. Comes first in the
/// signature of paid handlers.
#[derive(Debug)]
pub(super) struct NoOtherRail;

impl<S: Sync> FromRequestParts<S> for NoOtherRail {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let is_mpp = |value: &http::HeaderValue| {
            let scheme = value.as_bytes().split(|byte| *byte == b' ').next().unwrap_or_default();
            scheme.eq_ignore_ascii_case(b"payment")
        };
        if !has_proof(&parts.headers) && parts.headers.get_all(AUTHORIZATION).iter().any(is_mpp) {
            return Err(Error::plain(Code::RailNotLive).into());
        }
        Ok(Self)
    }
}
