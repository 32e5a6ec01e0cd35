//! Serves the documents that catalogs of paid services read. Catalogs probe every address in them with an empty,
//! unpaid POST and keep those that answer 402; unlocks need a key first, so only the service record lists them.

use super::discovery_schemas::{PaidResources, WellKnownX402};
use crate::http::api_error::ApiError;
use crate::http::state::ApiState;
use axum::Json;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use dropleaf_app::Listing;
use dropleaf_core::payment::Item;
use dropleaf_core::{Error, Result, number};
use dropleaf_pay::Network;
use http::header;
use serde_json::{Value, json};
use std::sync::Arc;

const MOST: usize = 100;
const SHOWN: usize = 20;

/// Get the paid resources
///
/// What catalogs of x402 services read. Two shapes of this document are in use; this one satisfies both.
#[utoipa::path(
    get, path = "/.well-known/x402", tags = ["Documents", "Payments"], operation_id = "getPaidResources",
    responses((status = 200, description = "The document", body = WellKnownX402)),
    security(()),
)]
pub(super) async fn well_known(State(state): State<ApiState>) -> Result<Response, ApiError> {
    state.app.require_payments()?;
    let listings = listed(&state);
    let urls: Vec<&str> = listings.iter().map(|listing| listing.terms.resource().url.as_str()).collect();
    let items: Vec<Value> = listings.iter().map(|listing| item(listing)).collect();
    let base = state.resolved.hosts.base.url();
    let mut document = json!({
        "version": 1,
        "x402Version": 2,
        "resources": urls,
        "instructions": format!("Send a POST request to any of these; the 402 response contains the terms. The service record is \
                                 {base}/.well-known/x402-service."),
        "items": items,
    });
    // Absent rather than null: clients expect a number.
    if let Some(since) = listings.iter().map(|listing| listing.since).max() {
        document["lastUpdated"] = since.into();
    }
    Ok(public(document))
}

/// List the paid resources
///
/// Paged and filtered, like the discovery interface of x402 facilitators.
#[utoipa::path(
    get, path = "/discovery/resources", tags = ["Documents", "Payments"], operation_id = "listPaidResources",
    params(
        ("limit" = Option<i64>, Query, minimum = 1, maximum = 100, description = "Page size, 1 to 100; default 20."),
        ("offset" = Option<i64>, Query, minimum = 0, description = "How many to skip."),
        ("type" = Option<String>, Query, description = "`http` or `mcp`."),
        ("network" = Option<String>, Query, description = "Such as `eip155:8453`."),
        ("scheme" = Option<String>, Query, description = "Such as `exact`."),
        ("payTo" = Option<String>, Query, description = "A receiving address."),
        ("extensions" = Option<String>, Query, description = "Extension names, separated by commas."),
    ),
    responses((status = 200, description = "The list", body = PaidResources)),
    security(()),
)]
pub(super) async fn resources(
    State(state): State<ApiState>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    state.app.require_payments()?;
    let query = Query::parse(query.as_deref().unwrap_or_default())?;
    let found: Vec<Value> =
        listed(&state).iter().map(|listing| entry(listing)).filter(|entry| query.matches(entry)).collect();
    let total = found.len();
    let items: Vec<Value> = found.into_iter().skip(query.offset).take(query.limit).collect();
    Ok(public(json!({
        "x402Version": 2,
        "items": items,
        "pagination": { "limit": query.limit, "offset": query.offset, "total": total },
    })))
}

/// The items anyone can pay for.
fn listed(state: &ApiState) -> Vec<Arc<Listing>> {
    let mut all = state.app.listings();
    all.retain(|listing| !matches!(listing.item, Item::Unlock(_)));
    all
}

/// In the shape of the draft well-known document.
fn item(listing: &Listing) -> Value {
    let resource = listing.terms.resource();
    json!({
        "resource": { "url": resource.url, "description": resource.description, "mimeType": resource.mime_type },
        "type": "http",
        "accepts": listing.terms.accepts_v2(),
        "input": { "method": "POST", "routeTemplate": format!("/{}", listing.item.as_str()) },
        "output": { "mimeType": resource.mime_type },
    })
}

/// In the shape of the facilitators' discovery interface.
fn entry(listing: &Listing) -> Value {
    let resource = listing.terms.resource();
    json!({
        "resource": resource.url,
        "type": "http",
        "x402Version": 2,
        "accepts": listing.terms.accepts_v2(),
        "lastUpdated": listing.since,
        "description": resource.description,
        "mimeType": resource.mime_type,
        "serviceName": "dropleaf",
        "metadata": { "category": "hosting", "sandbox": listing.terms.sandbox },
        "extensions": listing.terms.extensions(true),
    })
}

/// Paging and filters.
#[derive(Debug)]
struct Query {
    limit: usize,
    offset: usize,
    kind: Option<String>,
    /// Members of an offer and their required values.
    filters: Vec<(&'static str, String)>,
    extensions: Vec<String>,
}

impl Query {
    fn parse(text: &str) -> Result<Self> {
        let mut query =
            Self { limit: SHOWN, offset: 0, kind: None, filters: Vec::new(), extensions: Vec::new() };
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            let number = || number::unsigned::<usize>(&value);
            match &*name {
                "limit" => {
                    let good = number().filter(|limit| (1..=MOST).contains(limit));
                    query.limit = good.ok_or_else(|| Error::field("limit", "must be 1 to 100"))?;
                }
                "offset" => {
                    query.offset = number().ok_or_else(|| Error::field("offset", "must be 0 or more"))?;
                }
                "type" => {
                    if !matches!(&*value, "http" | "mcp") {
                        return Err(Error::field("type", "must be http or mcp"));
                    }
                    query.kind = Some(value.into_owned());
                }
                "network" => {
                    let network = Network::parse(&value).or_else(|| Network::parse_v1(&value));
                    let name = network.ok_or_else(|| {
                        Error::field("network", "must be the name of a network such as eip155:8453")
                    })?;
                    query.filters.push(("network", name.to_string()));
                }
                "scheme" => query.filters.push(("scheme", value.into_owned())),
                "payTo" => query.filters.push(("payTo", value.into_owned())),
                "extensions" => {
                    query.extensions.extend(value.split(',').map(|name| name.trim().to_owned()));
                }
                _ => {}
            }
        }
        Ok(query)
    }

    /// A single offer must match all filters. Addresses are compared case-insensitively: in EVM addresses case is only
    /// a checksum.
    fn matches(&self, entry: &Value) -> bool {
        let has = |offer: &Value| {
            self.filters.iter().all(|(name, value)| {
                offer[*name].as_str().is_some_and(|text| text.eq_ignore_ascii_case(value))
            })
        };
        let offers = entry["accepts"].as_array();
        self.kind.as_deref().is_none_or(|kind| entry["type"] == kind)
            && offers.is_some_and(|offers| offers.iter().any(has))
            && self.extensions.iter().all(|name| entry["extensions"].get(name).is_some())
    }
}

fn public(value: Value) -> Response {
    ([(header::CACHE_CONTROL, "public, max-age=60")], Json(value)).into_response()
}
