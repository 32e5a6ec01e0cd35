//! The request that a payment is for, as far as a challenge binds the payment to it.

use super::body_digest::BodyDigest;

/// What a challenge is issued for with the first request, and compared with when the second one brings the payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaidRequest<'a> {
    /// Method and path, and every part of the query that decides what is bought: `POST /publish`.
    pub route: &'a str,
    /// `None` for a request without a body.
    pub digest: Option<BodyDigest>,
}

impl<'a> PaidRequest<'a> {
    pub fn new(route: &'a str, body: &[u8]) -> Self {
        Self { route, digest: (!body.is_empty()).then(|| BodyDigest::of(body)) }
    }
}
