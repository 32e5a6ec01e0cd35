//! The response to an idempotent request: the current one, or the stored first one if the request is repeated.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use dropleaf_app::Done;
use http::{StatusCode, header};

/// A JSON body that is already serialized.
#[derive(Debug)]
pub(in crate::http) struct Written {
    status: StatusCode,
    pub body: Bytes,
}

impl Written {
    pub(in crate::http) fn of<T>(
        done: Done<T>,
        status: StatusCode,
        render: impl FnOnce(&T) -> Vec<u8>,
    ) -> Self {
        match done {
            Done::Fresh(fresh) => Self { status, body: render(&fresh).into() },
            Done::Again { status: first, body } => {
                Self { status: StatusCode::from_u16(first).unwrap_or(status), body }
            }
        }
    }
}

impl IntoResponse for Written {
    fn into_response(self) -> Response {
        (self.status, [(header::CONTENT_TYPE, "application/json")], self.body).into_response()
    }
}
