//! Errors of the OAuth endpoints that programs call, with the codes of the RFCs. Other failures get the API's error
//! format.

use crate::http::api_error::ApiError;
use axum::Json;
use axum::response::{IntoResponse, Response};
use dropleaf_core::Error;
use dropleaf_core::oauth::{OAuthCode, OAuthError, OAuthFailure};
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

#[derive(Debug)]
pub(in crate::http) struct EndpointError {
    refusal: OAuthFailure,
    /// The client authenticated in a header, so the error has a `WWW-Authenticate` header (RFC 6749 §5.2).
    by_header: bool,
}

impl EndpointError {
    pub(super) fn by_header(refusal: OAuthFailure) -> Self {
        Self { refusal, by_header: true }
    }
}

impl From<OAuthFailure> for EndpointError {
    fn from(refusal: OAuthFailure) -> Self {
        Self { refusal, by_header: false }
    }
}

impl From<OAuthError> for EndpointError {
    fn from(error: OAuthError) -> Self {
        OAuthFailure::from(error).into()
    }
}

impl From<Error> for EndpointError {
    fn from(error: Error) -> Self {
        OAuthFailure::from(error).into()
    }
}

impl IntoResponse for EndpointError {
    fn into_response(self) -> Response {
        let error = match self.refusal {
            OAuthFailure::OAuth(error) => error,
            OAuthFailure::Failed(error) => return ApiError(error).into_response(),
        };
        let unknown = error.code == OAuthCode::InvalidClient;
        let status = if unknown { StatusCode::UNAUTHORIZED } else { StatusCode::BAD_REQUEST };
        let body = json!({"error": error.code.as_str(), "error_description": error.detail});
        let mut response = (status, Json(body)).into_response();
        if unknown && self.by_header {
            let asks = HeaderValue::from_static("Basic realm=\"dropleaf\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, asks);
        }
        response
    }
}
