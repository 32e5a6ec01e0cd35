//! Serves `/.well-known/x402-service`: the public record of what is sold here, how to pay and how to update a paid page
//! later. Spec §4 discovery, §9.2.

use super::discovery_schemas::ServiceRecord;
use super::menu::RAILS;
use crate::http::api_error::ApiError;
use crate::http::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use dropleaf_app::{CHALLENGE_SECONDS, Listing, Mode};
use dropleaf_core::ledger::dollars;
use dropleaf_core::payment::{Item, Settlements};
use http::header;
use serde_json::{Map, Value, json};

const RECORD_VERSION: u32 = 1;

/// Get the service record
///
/// The public record of what is sold: protocol, offers, every payment protocol and whether it is live, how to update a paid page later, limits,
/// counts of settlements.
#[utoipa::path(
    get, path = "/.well-known/x402-service", tags = ["Documents", "Payments"], operation_id = "getServiceRecord",
    responses((status = 200, description = "The record", body = ServiceRecord)),
    security(()),
)]
pub(super) async fn read(State(state): State<ApiState>) -> Result<Response, ApiError> {
    let payments = state.app.require_payments()?;
    let base = state.resolved.hosts.base.url();
    let at = |path: &str| format!("{base}{path}");
    let mode = match payments.mode {
        Mode::Sandbox => "sandbox",
        Mode::Live => "live",
    };
    let offers: Vec<Value> = state.app.listings().iter().map(|listing| offer(listing)).collect();
    let free = state.resolved.settings.plans.find("free");
    let settled = state.app.settlements().await?;
    let record = json!({
        "record_version": RECORD_VERSION,
        "service": {
            "name": "dropleaf",
            "description": "Private hosting for pages made by software agents.",
            "url": base,
            "agents_url": state.resolved.hosts.agents.as_ref().map(dropleaf_core::host::Origin::url),
            "documentation": at("/auth.md"),
            "openapi": at("/openapi.json"),
        },
        "protocol": {
            "name": "x402",
            "versions": [1, 2],
            "scheme": "exact",
            "proof_headers": { "1": "X-PAYMENT", "2": "PAYMENT-SIGNATURE" },
            "receipt_headers": { "1": "X-PAYMENT-RESPONSE", "2": "PAYMENT-RESPONSE" },
        },
        "mpp": {
            "live": state.app.listings().iter().any(|listing| listing.has_mpp()),
            "method": "evm",
            "intent": "charge",
            "challenge_header": "WWW-Authenticate",
            "credential_headers": ["Authorization", "Payment-Authorization"],
            "receipt_header": "Payment-Receipt",
        },
        RAILS: state.app.rails(),
        "mode": mode,
        "sandbox": payments.is_sandbox(),
        "offers": offers,
        "update_credential": {
            "method": "PUT",
            "url": at("/sites/{id}"),
            "price": "0.00",
            "credentials": [
                { "scheme": "Claim", "header": "Authorization: Claim <claim_token>", "until": "the page is claimed" },
                {
                    "scheme": "Wallet",
                    "header": "Authorization: Wallet challenge=<challenge>,sig=<signature>",
                    "challenge_url": at("/wallet-auth/challenge"),
                    "challenge_seconds": CHALLENGE_SECONDS,
                    "signature": "EIP-191 personal_sign by the externally owned account that paid",
                },
            ],
        },
        "limits": {
            "publish_bytes": payments.publish_bytes,
            "page_lifetime_seconds": null,
            "counts_against_quota": false,
            "revisions": null,
            "max_timeout_seconds": payments.max_timeout_seconds,
            "provisioned_plan": {
                "name": free.name,
                "active_pages": free.active_pages,
                "longest_life_seconds": free.longest_life_seconds,
                "publishes_a_day": free.publishes_a_day,
            },
        },
        "settlements": counts(&settled),
        "discovery": { "x402": at("/.well-known/x402"), "resources": at("/discovery/resources") },
    });
    Ok(([(header::CACHE_CONTROL, "public, max-age=60")], Json(record)).into_response())
}

fn offer(listing: &Listing) -> Value {
    let resource = listing.terms.resource();
    let amount = listing.terms.offers().first().map_or(0, |offer| offer.amount.units());
    let credential = matches!(listing.item, Item::Unlock(_)).then_some("API key, or OAuth with sites:write");
    json!({
        "item": listing.item.as_str(),
        "method": "POST",
        "url": resource.url,
        "description": resource.description,
        "price": dollars(amount),
        "amount": amount.to_string(),
        "decimals": 6,
        "currency": "USD",
        "credential": credential,
        "accepts": listing.terms.accepts_v2(),
    })
}

/// In total, and per network and item.
fn counts(settled: &Settlements) -> Value {
    let mut by_network = Map::new();
    let mut by_item = Map::new();
    for one in &settled.0 {
        for (sums, name) in [(&mut by_network, &one.network), (&mut by_item, &one.item)] {
            let sum = sums.get(name).and_then(Value::as_i64).unwrap_or(0);
            sums.insert(name.clone(), (sum + one.count).into());
        }
    }
    json!({ "total": settled.total(), "by_network": by_network, "by_item": by_item })
}
