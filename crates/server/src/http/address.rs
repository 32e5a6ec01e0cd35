//! Names in an address are text. What is none names nothing here, and is refused before a handler looks for it, in the
//! shape that its surface has for errors.

use super::api::ApiError;
use super::web::WebError;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use dropleaf_core::{Code, Error, path};

fn require_text(request: &Request) -> Result<(), Error> {
    if path::is_text(request.uri().path()) {
        return Ok(());
    }
    Err(Error::new(
        Code::InvalidRequest,
        "The address cannot be read: its names must be UTF-8, escaped with %.",
    ))
}

/// Before what programs call.
pub(super) async fn for_programs(request: Request, next: Next) -> Result<Response, ApiError> {
    require_text(&request)?;
    Ok(next.run(request).await)
}

/// Before what people look at.
pub(super) async fn for_people(request: Request, next: Next) -> Result<Response, WebError> {
    require_text(&request)?;
    Ok(next.run(request).await)
}
