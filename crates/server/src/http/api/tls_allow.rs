//! Serves `GET /tls/allow`: whether a reverse proxy may obtain a certificate for a name. Caddy's on-demand TLS asks before every
//! order, so that handshakes with made-up names cost no certificate. Answered from memory.

use crate::http::api_error::ApiError;
use crate::http::state::ApiState;
use axum::Json;
use axum::extract::{RawQuery, State};
use dropleaf_core::{Code, Error};
use serde::Serialize;
use utoipa::ToSchema;

/// The address, which is also answered for a proxy that uses another host name than ours.
pub(in crate::http) const PATH: &str = "/tls/allow";

/// The response for a name that may have a certificate.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"allowed": true}))]
pub(super) struct AllowedJson {
    /// `true`; any other name is 404.
    allowed: bool,
}

/// Ask whether a proxy may obtain a certificate for a name
///
/// For Caddy's on-demand TLS. The host names of this server and verified custom domains are allowed. Names below the pages'
/// host are not: they need a wildcard certificate, because anyone could make a proxy order certificates for made-up ones.
#[utoipa::path(
    get, path = "/tls/allow", tag = "Documents", operation_id = "allowCertificate",
    params(("domain" = String, Query, description = "The host name.", example = "reports.example.com")),
    responses((status = 200, description = "The name may have a certificate", body = AllowedJson)),
    security(()),
)]
pub(super) async fn allow(
    State(state): State<ApiState>,
    RawQuery(query): RawQuery,
) -> Result<Json<AllowedJson>, ApiError> {
    let query = query.unwrap_or_default();
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let name = pairs.find(|(name, _)| name == "domain").map(|(_, value)| value).unwrap_or_default();
    let name = name.strip_suffix('.').unwrap_or(&name);
    if name.is_empty() {
        return Err(Error::field(
            "domain",
            "must be the host name, as in /tls/allow?domain=reports.example.com",
        )
        .into());
    }
    if state.resolved.hosts.is_configured(name) || state.app.is_served_domain(name) {
        return Ok(Json(AllowedJson { allowed: true }));
    }
    Err(Error::new(Code::NotFound, "No certificate may be obtained for this name.").into())
}
