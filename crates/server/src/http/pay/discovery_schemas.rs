//! Describes the payment discovery documents for the OpenAPI document. `service_record` and `discovery` write them.

use super::menu::{self, RailJson};
use serde_json::Value;
use utoipa::ToSchema;

// Spec §9.2.
/// The public service record.
#[derive(Debug, ToSchema)]
#[schema(example = json!({
    "record_version": 1,
    "service": {"name": "dropleaf", "url": "http://localhost:8080", "openapi": "http://localhost:8080/openapi.json"},
    "protocol": {"name": "x402", "versions": [1, 2], "scheme": "exact"},
    "mpp": {"live": true, "method": "evm", "intent": "charge"},
    "rails": menu::example(), "mode": "sandbox", "sandbox": true,
    "offers": [{"item": "publish", "method": "POST", "url": "http://localhost:8080/publish", "price": "0.50", "amount": "500000"}],
    "update_credential": {"method": "PUT", "url": "http://localhost:8080/sites/{id}", "price": "0.00"},
    "limits": {"publish_bytes": 10_485_760}, "settlements": {"total": 0},
    "discovery": {"x402": "http://localhost:8080/.well-known/x402", "resources": "http://localhost:8080/discovery/resources"}
}))]
#[expect(dead_code, reason = "describes the document; `service_record` writes it")]
pub(super) struct ServiceRecord {
    /// 1.
    record_version: i64,
    #[schema(value_type = Object)]
    service: Value,
    #[schema(value_type = Object)]
    protocol: Value,
    /// How to pay with MPP instead, and whether that is possible.
    #[schema(value_type = Object)]
    mpp: Value,
    /// Every payment protocol, and whether it is live; the same as in `GET /provision`.
    #[schema(value_type = Vec<RailJson>)]
    rails: Value,
    /// `sandbox` or `live`.
    mode: String,
    /// True when no money moves.
    sandbox: bool,
    /// The items for sale with their terms.
    #[schema(value_type = Vec<Object>)]
    offers: Vec<Value>,
    /// How to update a paid page later, free of charge.
    #[schema(value_type = Object)]
    update_credential: Value,
    #[schema(value_type = Object)]
    limits: Value,
    /// The number of settled payments: in total, per network, per item.
    #[schema(value_type = Object)]
    settlements: Value,
    #[schema(value_type = Object)]
    discovery: Value,
}

/// The resources anyone can pay for, in the form that catalogs expect.
#[derive(Debug, ToSchema)]
#[schema(example = json!({
    "version": 1, "x402Version": 2, "resources": ["http://localhost:8080/publish", "http://localhost:8080/provision"],
    "instructions": "Send a POST request to any of these; the 402 response contains the terms. The service record is \
                     http://localhost:8080/.well-known/x402-service.",
    "items": [], "lastUpdated": 1_794_706_860
}))]
#[expect(dead_code, reason = "describes the document; `discovery` writes it")]
pub(super) struct WellKnownX402 {
    version: i64,
    #[schema(rename = "x402Version")]
    x402_version: i64,
    /// Addresses.
    resources: Vec<String>,
    instructions: String,
    #[schema(value_type = Vec<Object>)]
    items: Vec<Value>,
    /// Epoch seconds; absent while nothing is on offer.
    #[schema(rename = "lastUpdated", nullable = false)]
    last_updated: Option<i64>,
}

/// One page of the paid resources.
#[derive(Debug, ToSchema)]
#[schema(example = json!({
    "x402Version": 2,
    "items": [{"resource": "http://localhost:8080/publish", "type": "http", "x402Version": 2, "serviceName": "dropleaf"}],
    "pagination": {"limit": 20, "offset": 0, "total": 1}
}))]
#[expect(dead_code, reason = "describes the document; `discovery` writes it")]
pub(super) struct PaidResources {
    #[schema(rename = "x402Version")]
    x402_version: i64,
    #[schema(value_type = Vec<Object>)]
    items: Vec<Value>,
    pagination: Pagination,
}

#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the document; `discovery` writes it")]
pub(super) struct Pagination {
    limit: i64,
    offset: i64,
    /// Total number of items.
    total: i64,
}
