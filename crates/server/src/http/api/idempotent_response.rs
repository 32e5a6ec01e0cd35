//! The response to an idempotent request: the current one, or the stored first one if the request is repeated.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use dropleaf_app::{IdempotentResult, StoredOutcome};
use http::{StatusCode, header};

/// A JSON body that is already serialized.
#[derive(Debug)]
pub(in crate::http) struct IdempotentResponse {
    status: StatusCode,
    pub body: Bytes,
}

impl IdempotentResponse {
    pub(in crate::http) fn of<T>(
        done: IdempotentResult<T>,
        status: StatusCode,
        render: impl FnOnce(&T) -> Vec<u8>,
    ) -> Self {
        match done {
            IdempotentResult::New(fresh) => Self { status, body: render(&fresh).into() },
            IdempotentResult::Replayed { outcome: StoredOutcome::Created, body } => {
                Self { status: StatusCode::CREATED, body }
            }
            IdempotentResult::Replayed { outcome: StoredOutcome::Updated, body } => {
                Self { status: StatusCode::OK, body }
            }
        }
    }
}

impl IntoResponse for IdempotentResponse {
    fn into_response(self) -> Response {
        (self.status, [(header::CONTENT_TYPE, "application/json")], self.body).into_response()
    }
}
