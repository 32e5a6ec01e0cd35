//! Payment protocols that are not live here. A client that sends a payment of one believes to have paid, so it is refused
//! before anything else is looked at, never ignored. An x402 proof beside it goes first: its money may have moved already.

use super::counter::has_proof;
use crate::http::api::ApiError;
use axum::extract::FromRequestParts;
use dropleaf_core::{Code, Error};
use http::header::AUTHORIZATION;
use http::request::Parts;

/// A request without an MPP credential (`Authorization: Payment …`), or with an x402 proof too. First in the signature of what is paid for.
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
