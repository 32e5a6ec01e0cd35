//! Serves the MCP server card, which describes `/mcp` without a credential: one document with the members of SEP-2127
//! and SEP-1649, and the catalogue that lists it. Both use the constants of the handler. Spec §4 MCP.

use super::Mcp;
use super::handler::{INSTRUCTIONS, NAME, TITLE, VERSIONS, capabilities, identity};
use super::openapi::{AiCatalog, ServerCard};
use crate::http::view;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use dropleaf_core::host::Origin;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use std::sync::Arc;

/// Below the address of the endpoint, where SEP-2127 expects it.
pub(super) const BESIDE: &str = "/mcp/server-card";
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";
const CARD: &str = "application/mcp-server-card+json";
const CATALOG: &str = "application/ai-catalog+json";
/// At most 100 characters.
pub(in crate::http) const DESCRIPTION: &str =
    "Publish HTML as private pages with unguessable links and read feedback from viewers.";

/// Get the server card of `/mcp`
///
/// The transport, the protocol versions and the capabilities, without a credential.
#[utoipa::path(
    get, path = "/.well-known/mcp/server-card.json", tag = "Documents", operation_id = "getServerCard",
    params(("If-None-Match" = Option<String>, Header, description = "The `ETag` of the cached card.")),
    responses(
        (status = 200, description = "The card", body = ServerCard),
        (status = 304, description = "Not modified"),
    ),
    security(()),
)]
pub(super) async fn well_known(State(mcp): State<Arc<Mcp>>, headers: HeaderMap) -> Response {
    document(card(&mcp.state.resolved.hosts.base).to_string(), "application/json", &headers)
}

/// Get the server card under `/mcp`
///
/// The same card with the media type of SEP-2127.
#[utoipa::path(
    get, path = BESIDE, tag = "Documents", operation_id = "getServerCardBeside",
    params(("If-None-Match" = Option<String>, Header, description = "The `ETag` of the cached card.")),
    responses(
        (status = 200, description = "The card", content_type = "application/mcp-server-card+json", body = ServerCard),
        (status = 304, description = "Not modified"),
    ),
    security(()),
)]
pub(super) async fn beside(State(mcp): State<Arc<Mcp>>, headers: HeaderMap) -> Response {
    document(card(&mcp.state.resolved.hosts.base).to_string(), CARD, &headers)
}

/// List the server cards
#[utoipa::path(
    get, path = "/.well-known/ai-catalog.json", tag = "Documents", operation_id = "getAiCatalog",
    params(("If-None-Match" = Option<String>, Header, description = "The `ETag` of the cached catalog.")),
    responses(
        (status = 200, description = "The catalog", content_type = "application/ai-catalog+json", body = AiCatalog),
        (status = 304, description = "Not modified"),
    ),
    security(()),
)]
pub(super) async fn catalog(State(mcp): State<Arc<Mcp>>, headers: HeaderMap) -> Response {
    document(entries(&mcp.state.resolved.hosts.base).to_string(), CATALOG, &headers)
}

/// List the server cards, beside them
///
/// The same catalog where earlier drafts of SEP-2127 expect it.
#[utoipa::path(
    get, path = "/.well-known/mcp/catalog.json", tag = "Documents", operation_id = "getMcpCatalog",
    params(("If-None-Match" = Option<String>, Header, description = "The `ETag` of the cached catalog.")),
    responses(
        (status = 200, description = "The catalog", body = AiCatalog),
        (status = 304, description = "Not modified"),
    ),
    security(()),
)]
pub(super) async fn mcp_catalog(State(mcp): State<Arc<Mcp>>, headers: HeaderMap) -> Response {
    document(entries(&mcp.state.resolved.hosts.base).to_string(), "application/json", &headers)
}

fn entries(base: &Origin) -> Value {
    // A colon would end the host part of the URN.
    let host = base.host.trim_matches(['[', ']']).replace(':', "-");
    let entry = json!({
        "identifier": format!("urn:air:{host}:mcp:{NAME}"),
        "displayName": TITLE,
        "type": CARD,
        "url": format!("{}{BESIDE}", base.url()),
    });
    json!({"specVersion": "1.0", "entries": [entry]})
}

fn card(origin: &Origin) -> Value {
    let base = origin.url();
    let endpoint = format!("{base}/mcp");
    let newest_first: Vec<_> = VERSIONS.iter().rev().collect();
    let identity = identity();
    json!({
        "$schema": SCHEMA,
        "name": format!("{}/{NAME}", origin.namespace()),
        "version": identity.version,
        "title": TITLE,
        "description": DESCRIPTION,
        "websiteUrl": base,
        "icons": [{"src": format!("{base}/favicon.svg"), "mimeType": "image/svg+xml", "sizes": ["any"]}],
        "remotes": [{
            "type": "streamable-http",
            "url": endpoint,
            "supportedProtocolVersions": newest_first,
            "headers": [{
                "name": "Authorization",
                "description": "Bearer and an API key (stk_live_…) or an OAuth access token",
                "isRequired": true,
                "isSecret": true,
            }],
        }],
        // From here on the members of SEP-1649; where both define one, SEP-2127 applies.
        "protocolVersion": newest_first.first(),
        "serverInfo": identity,
        "transport": {"type": "streamable-http", "endpoint": endpoint},
        "capabilities": capabilities(),
        "instructions": INSTRUCTIONS,
        "authentication": {"required": true, "schemes": ["bearer", "oauth2"]},
        "documentationUrl": format!("{base}/auth.md"),
        "iconUrl": format!("{base}/favicon.svg"),
        "tools": "dynamic",
        "resources": "dynamic",
        "prompts": "dynamic",
    })
}

/// A document that changes only with the settings and the server program.
pub(in crate::http) fn document(body: String, kind: &'static str, headers: &HeaderMap) -> Response {
    let etag = format!("\"{}\"", blake3::hash(body.as_bytes()).to_hex());
    let condition = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let mut response = if condition.is_some_and(|condition| view::matches(condition, etag.as_bytes())) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, kind)], body).into_response()
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "public, max-age=3600"),
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "Content-Type, If-None-Match"),
        (header::ACCESS_CONTROL_EXPOSE_HEADERS, "ETag"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.extend(HeaderValue::from_str(&etag).ok().map(|etag| (header::ETAG, etag)));
    response
}
