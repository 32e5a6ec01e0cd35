//! Reads the parameters of requests to the OAuth endpoints, with a size limit.

use super::error::EndpointError;
use crate::http::{media_type, small_body};
use axum::body::Body;
use bytes::Bytes;
use dropleaf_core::Error;
use dropleaf_core::oauth::params::Params;
use dropleaf_core::oauth::{OAuthCode, OAuthError};
use http::HeaderMap;

/// Maximum size of a body.
const LIMIT: usize = 16 * 1024;

/// Parses a query or a form.
pub(super) fn parse(text: &[u8]) -> Params {
    form_urlencoded::parse(text).into_owned().collect()
}

/// Reads a form body.
pub(super) async fn read(headers: &HeaderMap, body: Body) -> Result<Params, EndpointError> {
    if !media_type::is(headers, media_type::FORM) {
        let detail = "The body must be application/x-www-form-urlencoded.";
        return Err(OAuthError::new(OAuthCode::InvalidRequest, detail).into());
    }
    Ok(parse(&whole(body).await?))
}

/// Reads a short body, with a time limit.
pub(super) async fn whole(body: Body) -> Result<Bytes, Error> {
    small_body::read(body, LIMIT).await
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn parameters_are_decoded() {
        let params = parse(b"a=1&d=x%20y+z&resource=https%3A%2F%2Fa.example");
        assert_eq!(params.required("d").unwrap(), "x y z");
        assert_eq!(params.find("resource").unwrap(), Some("https://a.example"));
    }
}
