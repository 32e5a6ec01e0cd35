//! `/mcp`: the door without the house. It asks for a credential as the MCP specification wants it, so that clients can
//! find out how to sign in; behind it there is nothing yet.

use super::api::{ApiError, ApiState};
use super::error::{self, Wants};
use super::extract::Reader;
use super::oauth::Challenge;
use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::response::Response;
use dropleaf_core::{Code, Error};
use http::{HeaderValue, header};

pub(super) async fn door(State(state): State<ApiState>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let error = match Reader::from_request_parts(&mut parts, &state).await {
        Ok(_) => Error::new(Code::NotFound, "MCP is not built yet; the API at /docs does the same."),
        Err(ApiError(error)) => error,
    };
    let mut response = error::respond(&error, Wants::Json).map(Body::new);
    // Its own document, not the API's: clients compare the resource in it with the address they asked.
    let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", state.resolved.hosts.base.url());
    let challenge = Challenge::of(&error).map(|challenge| challenge.value(&metadata));
    if let Some(value) = challenge.and_then(|value| HeaderValue::from_str(&value).ok()) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    response
}
