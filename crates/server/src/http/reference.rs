//! Serves `/openapi.json` for programs and `/docs` for people. Both depend only on the settings, so each is rendered
//! once, kept in `reference_cache` and sent with an `ETag`.

use super::api;
use super::api_error::ApiError;
use super::reference_cache::CachedDocument;
use super::state::ApiState;
use crate::http::error::designed_policy;
use crate::http::view;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use dropleaf_core::{Error, Result};
use dropleaf_pages as pages;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// A change of the settings or of the program becomes visible within this time.
const CACHE: &str = "public, max-age=300";

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(openapi_json)).routes(routes!(docs))
}

/// Get the OpenAPI document
///
/// OpenAPI 3.1, with the addresses and prices of this server.
#[utoipa::path(
    get, path = "/openapi.json", tag = "Documents", operation_id = "getOpenApi",
    params(("If-None-Match" = Option<String>, Header, description = "The `ETag` of the cached description.")),
    responses(
        (status = 200, description = "The description", body = Value, example = json!({"openapi": "3.1.0"})),
        (status = 304, description = "Not modified"),
    ),
    security(()),
)]
async fn openapi_json(State(state): State<ApiState>, headers: HeaderMap) -> Result<Response, ApiError> {
    let document = state.reference.openapi.get_or_try_init(|| {
        apart(&state, |document, _| {
            let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            CachedDocument::new(document.to_string(), vec![kind])
        })
    });
    Ok(respond(document.await?, &headers).await?)
}

/// Get the API reference as a page
#[utoipa::path(
    get, path = "/docs", tag = "Documents", operation_id = "getDocs",
    params(("If-None-Match" = Option<String>, Header, description = "The `ETag` of the cached page.")),
    responses(
        (status = 200, description = "The page", content_type = "text/html", body = String),
        (status = 304, description = "Not modified"),
    ),
    security(()),
)]
async fn docs(State(state): State<ApiState>, headers: HeaderMap) -> Result<Response, ApiError> {
    let document = state.reference.docs.get_or_try_init(|| {
        apart(&state, |document, base_url| {
            let page = pages::docs(document, base_url);
            let headers = api::designed_headers(designed_policy(page.style_source));
            CachedDocument::new(page.html, headers.into())
        })
    });
    Ok(respond(document.await?, &headers).await?)
}

/// Renders the document on a blocking thread, because it is long.
async fn apart(state: &ApiState, make: fn(&Value, &str) -> CachedDocument) -> Result<CachedDocument> {
    let state = state.clone();
    let work = move || {
        let hosts = &state.resolved.hosts;
        make(&(state.reference.describe)(hosts, state.app.require_payments().ok()), &hosts.base.url())
    };
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)
}

/// The document in the content coding that the client prefers, or 304 if the client has it.
async fn respond(document: &CachedDocument, headers: &HeaderMap) -> Result<Response> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let coding = view::coding(text(header::ACCEPT_ENCODING));
    let etag = format!("\"{}{}\"", document.hash, coding.name().unwrap_or_default());
    let known = text(header::IF_NONE_MATCH).is_some_and(|known| view::matches(known, etag.as_bytes()));
    let body = if known { Bytes::new() } else { document.encoded(coding).await? };
    let length = body.len();
    let status = if known { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_TYPE);
    if !known {
        headers.extend(document.headers.iter().cloned());
        // Set here because the response to HEAD has no body from which it could be computed.
        headers.insert(header::CONTENT_LENGTH, length.into());
        if let Some(name) = coding.name() {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(name));
        }
    }
    headers.insert(header::ETAG, HeaderValue::from_str(&etag).map_err(Error::internal)?);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(CACHE));
    headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    Ok(response)
}
