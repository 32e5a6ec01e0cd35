//! Refuses paths that are not UTF-8 before they reach a handler, with the error format of the API or of pages. Also
//! refuses a write with a protection (such as a password) in its query, where it would be ignored.

use super::web::WebError;
use crate::http::api_error::ApiError;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use dropleaf_core::{Code, Error, lookalike, path};
use http::Method;

fn require_text(request: &Request) -> Result<(), Error> {
    if path::is_text(request.uri().path()) {
        return Ok(());
    }
    Err(Error::new(Code::InvalidRequest, "The address is invalid: names must be percent-encoded UTF-8."))
}

/// At most [`lookalike::MOST_UNKNOWN`] names are checked; requests with more are refused.
fn refuse_protections(request: &Request) -> Result<(), Error> {
    let writes = matches!(*request.method(), Method::POST | Method::PUT | Method::PATCH);
    let Some(query) = request.uri().query().filter(|_| writes) else { return Ok(()) };
    let names: Vec<_> = form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name).collect();
    if names.len() > lookalike::MOST_UNKNOWN {
        return Err(Error::new(Code::InvalidRequest, "The address has too many parameters."));
    }
    lookalike::refuse_in_address(names.iter().map(AsRef::as_ref))
}

/// Middleware for the API.
pub(super) async fn for_programs(request: Request, next: Next) -> Result<Response, ApiError> {
    require_text(&request)?;
    refuse_protections(&request)?;
    Ok(next.run(request).await)
}

/// Middleware for pages.
pub(super) async fn for_people(request: Request, next: Next) -> Result<Response, WebError> {
    require_text(&request)?;
    Ok(next.run(request).await)
}
