//! Serves `/custom-domains`: host names of owners that show one of their pages. Spec §4 Custom domains.

use super::api_keys::OkJson;
use super::custom_domain_json::{CustomDomainJson, CustomDomainsJson};
use super::idempotent_response::IdempotentResponse;
use crate::http::api_error::ApiError;
use crate::http::extract::{Incoming, Maker, Owner, Reader, Remover, idempotency_key, idempotent_request};
use crate::http::state::ApiState;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use dropleaf_app::{Caller, DomainChange, DomainView, NewDomain};
use dropleaf_core::Error;
use dropleaf_core::request_hash::RequestHash;
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"hostname": "reports.customer.example", "site_id": "site_k3v5q7x2m4n6p8r1t9w0", "primary": true}))]
pub(super) struct CustomDomainBody {
    /// A name of your own, such as `reports.example.com`. It may have Unicode letters.
    hostname: String,
    /// The ID, the slug or the token of the page that it shows.
    site_id: String,
    /// Whether the page's `url` shows this name once it is verified; false by default.
    #[schema(nullable = false)]
    primary: Option<bool>,
}

/// What to change; fields that are not sent keep their value.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"primary": true}))]
pub(super) struct CustomDomainChangeBody {
    /// The ID, the slug or the token of the page that it shows.
    #[schema(nullable = false)]
    site_id: Option<String>,
    /// Whether the page's `url` shows this name while it is verified. A page has one such name.
    #[schema(nullable = false)]
    primary: Option<bool>,
}

/// List your custom domains
#[utoipa::path(
    get, path = "/custom-domains", tag = "Custom domains", operation_id = "listCustomDomains",
    responses((status = 200, description = "The domains, oldest first", body = CustomDomainsJson)),
    security(("api_key" = [])),
)]
pub(super) async fn list(
    State(state): State<ApiState>,
    Reader(account): Reader,
) -> Result<Json<CustomDomainsJson>, ApiError> {
    Ok(Json(CustomDomainsJson::of(&state, &account).await?))
}

/// Add a custom domain
///
/// Enter one of the `records` at your DNS provider. The name works when a check finds the record: checks run automatically,
/// or at once with `POST /custom-domains/{hostname}/verify`.
#[utoipa::path(
    post, path = "/custom-domains", tag = "Custom domains", operation_id = "addCustomDomain",
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes retries safe for 24 hours.")),
    request_body(content = CustomDomainBody, content_type = "application/json"),
    responses((status = 201, description = "The domain with the DNS records to enter", body = CustomDomainJson)),
    security(("api_key" = [])),
)]
pub(super) async fn create(
    State(state): State<ApiState>,
    Maker(known): Maker,
    headers: HeaderMap,
    body: Body,
) -> Result<IdempotentResponse, ApiError> {
    let mut fields = Incoming { state: &state, headers: &headers, body }.fields(64 * 1024).await?;
    let CustomDomainBody { hostname, site_id, primary } = fields.take()?;
    let new_domain = NewDomain { hostname, site: site_id, primary: primary.unwrap_or_default() };
    let warnings = fields.unknown()?;
    let caller = Caller::of(known, None);
    Ok(add_domain(&state, &caller, new_domain, warnings, idempotency_key(&headers)).await?)
}

/// Adds a domain. `warnings` are about unknown fields of the request.
pub(in crate::http) async fn add_domain(
    state: &ApiState,
    caller: &Caller,
    new_domain: NewDomain,
    warnings: Vec<String>,
    key: Option<String>,
) -> Result<IdempotentResponse, Error> {
    let request_hash = RequestHash::new("custom-domains")
        .field("hostname", &new_domain.hostname)
        .field("site", &new_domain.site)
        .field("primary", new_domain.primary.to_string())
        .finish();
    let once = idempotent_request(state, key, caller, Some(request_hash));
    let render = |view: &DomainView| CustomDomainJson::written(view, warnings.clone());
    let done = state.app.add_domain(caller.account()?, new_domain, once.as_ref(), render).await?;
    Ok(IdempotentResponse::of(done, StatusCode::CREATED, render))
}

/// Read a custom domain
#[utoipa::path(
    get, path = "/custom-domains/{hostname}", tag = "Custom domains", operation_id = "getCustomDomain",
    params(("hostname" = String, Path, description = "The name, in ASCII or with Unicode letters.")),
    responses((status = 200, description = "The domain", body = CustomDomainJson)),
    security(("api_key" = [])),
)]
pub(super) async fn read(
    State(state): State<ApiState>,
    Reader(account): Reader,
    Path(hostname): Path<String>,
) -> Result<Json<CustomDomainJson>, ApiError> {
    Ok(Json(CustomDomainJson::new(&state.app.get_domain(&account, &hostname).await?)))
}

/// Change a custom domain
///
/// Shows another page at the name, or makes it the primary name of its page.
#[utoipa::path(
    patch, path = "/custom-domains/{hostname}", tag = "Custom domains", operation_id = "changeCustomDomain",
    params(("hostname" = String, Path, description = "The name, in ASCII or with Unicode letters.")),
    request_body(content = CustomDomainChangeBody, content_type = "application/json"),
    responses((status = 200, description = "The changed domain", body = CustomDomainJson)),
    security(("api_key" = [])),
)]
pub(super) async fn change(
    State(state): State<ApiState>,
    Owner(account): Owner,
    Path(hostname): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<CustomDomainJson>, ApiError> {
    let mut fields = Incoming { state: &state, headers: &headers, body }.fields(64 * 1024).await?;
    let CustomDomainChangeBody { site_id, primary } = fields.take()?;
    let warnings = fields.unknown()?;
    let change = DomainChange { site: site_id, primary };
    let view = state.app.change_domain(&account, &hostname, change).await?;
    Ok(Json(CustomDomainJson::new(&view).warned(warnings)))
}

/// Delete a custom domain
///
/// The name stops working immediately; the page keeps its other addresses.
#[utoipa::path(
    delete, path = "/custom-domains/{hostname}", tag = "Custom domains", operation_id = "deleteCustomDomain",
    params(("hostname" = String, Path, description = "The name, in ASCII or with Unicode letters.")),
    responses((status = 200, description = "Deleted", body = OkJson)),
    security(("api_key" = [])),
)]
pub(super) async fn delete(
    State(state): State<ApiState>,
    Remover(known): Remover,
    Path(hostname): Path<String>,
) -> Result<Json<OkJson>, ApiError> {
    state.app.delete_domain(&known.account, &hostname).await?;
    Ok(Json(OkJson::yes()))
}

/// Check a custom domain now
///
/// Looks up the DNS records and returns the domain. `status` says what the check found, and `last_error` what to do about
/// it. If a DNS server does not answer, `status` stays as it was.
#[utoipa::path(
    post, path = "/custom-domains/{hostname}/verify", tag = "Custom domains", operation_id = "verifyCustomDomain",
    params(("hostname" = String, Path, description = "The name, in ASCII or with Unicode letters.")),
    responses((status = 200, description = "The domain after the check", body = CustomDomainJson)),
    security(("api_key" = [])),
)]
pub(super) async fn verify(
    State(state): State<ApiState>,
    Owner(account): Owner,
    Path(hostname): Path<String>,
) -> Result<Json<CustomDomainJson>, ApiError> {
    Ok(Json(CustomDomainJson::new(&state.app.verify_domain(&account, &hostname).await?)))
}
