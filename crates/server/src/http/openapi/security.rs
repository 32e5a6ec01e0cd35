//! The credentials in the document, and the OAuth scope that an operation needs.

use crate::http::mcp;
use dropleaf_core::scope::Scope;
use serde_json::{Value, json};

pub(super) const API_KEY: &str = "api_key";
pub(super) const CLAIM: &str = "claim_token";
/// The signature of the wallet that paid for a page.
pub(super) const WALLET: &str = "wallet_signature";
const OAUTH: &str = "oauth2";

pub(super) fn schemes(base_url: &str) -> Value {
    json!({
        API_KEY: {"type": "http", "scheme": "bearer", "description": "`Authorization: Bearer stk_live_…`"},
        CLAIM: {
            "type": "apiKey", "in": "header", "name": "Authorization",
            "description": "`Authorization: Claim clm_…`, for a page without an owner"
        },
        WALLET: {
            "type": "apiKey", "in": "header", "name": "Authorization",
            "description": "`Authorization: Wallet challenge=WAUTH-…,sig=0x…`, for a page that the wallet paid for"
        },
        OAUTH: oauth2(base_url),
    })
}

/// Access that a person granted to a program.
fn oauth2(base_url: &str) -> Value {
    let scopes: serde_json::Map<_, _> =
        Scope::ALL.into_iter().map(|scope| (scope.as_str().to_owned(), scope.meaning().into())).collect();
    json!({
        "type": "oauth2",
        "description": "`Authorization: Bearer oat_…`, granted by a user. The scope `sites:write` includes `sites:read`.",
        "flows": {"authorizationCode": {
            "authorizationUrl": format!("{base_url}/oauth/authorize"),
            "tokenUrl": format!("{base_url}/oauth/token"),
            "refreshUrl": format!("{base_url}/oauth/token"),
            "scopes": scopes,
        }},
    })
}

/// Adds OAuth wherever an API key is accepted. The extractors require the scopes written here; a test compares the two.
/// `/mcp` accepts any token; a tool call needs the scope of its tool.
pub(super) fn add_oauth(method: &str, operation: &mut Value) {
    let scope = if method == "get" { Scope::Read } else { Scope::Write };
    let scopes: &[Scope] = if operation["tags"][0] == mcp::TAG { &[] } else { &[scope] };
    let scopes: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
    if let Some(ways) = operation["security"].as_array_mut()
        && let Some(at) = ways.iter().position(|way| way.get(API_KEY).is_some())
    {
        ways.insert(at + 1, json!({OAUTH: scopes}));
    }
}

/// Whether the operation accepts this credential.
pub(super) fn takes(operation: &Value, scheme: &str) -> bool {
    operation["security"].as_array().is_some_and(|ways| ways.iter().any(|way| way.get(scheme).is_some()))
}

/// Whether it can be called without a credential.
pub(super) fn is_open(operation: &Value) -> bool {
    operation["security"].as_array().is_some_and(|ways| ways.contains(&json!({})))
}
