//! The error response of the API's handlers.

use crate::http::challenge::Challenge;
use crate::http::error::{self, Wants};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use dropleaf_core::Error;

/// An error returned by a handler.
#[derive(Debug)]
pub(in crate::http) struct ApiError(pub Error);

impl<E: Into<Error>> From<E> for ApiError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = error::respond(&self.0, Wants::Json).map(Body::new);
        if let Some(challenge) = Challenge::of(&self.0) {
            response.extensions_mut().insert(challenge);
        }
        response
    }
}
