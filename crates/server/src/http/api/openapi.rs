//! The OpenAPI document: generated from the routes, completed with what every operation has in common.

use super::operations;
use crate::http::pay;
use dropleaf_app::PaymentSettings;
use dropleaf_core::Code;
use dropleaf_core::ledger::dollars;
use dropleaf_core::payment::Item;
use dropleaf_core::scope::Scope;
use dropleaf_core::unlock::Sku;
use serde_json::{Value, json};
use std::sync::LazyLock;
use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "dropleaf",
        version = "1.0.0",
        description = "A private host for the pages that software agents make. Send one file, get back an unguessable link.",
        license(name = "Apache-2.0 OR MIT", identifier = "Apache-2.0 OR MIT")
    ),
    tags(
        (name = "Sites", description = "Publish pages and govern them."),
        (name = "Share tokens", description = "Links that open a page's password gate."),
        (name = "Uploads", description = "Files for addresses that were made before."),
        (name = "Feedback", description = "What viewers said about a page."),
        (name = "API keys", description = "The credentials of an account."),
        (name = "Account", description = "What an account is and may do."),
        (name = "Payments", description = "Pages and keys for whoever pays, and limits lifted for money, with x402."),
    )
)]
struct Head;

/// The signature of the wallet that paid for a page.
const WALLET: &str = "wallet_signature";

/// The error statuses any operation may answer with; docs/errors.md has the codes.
const COMMON: &[u16] = &[400, 401, 403, 404, 405, 408, 421, 429, 500, 503];
/// Those that only a change can meet.
const CHANGING: &[u16] = &[402, 409, 410, 413, 422, 507];

/// Those of operations that settle a payment.
const PAYING: &[u16] = &[502];

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let mut router = operations().merge(pay::kept()).merge(pay::operations());
    let mut document = Head::openapi();
    document.merge(std::mem::take(router.get_openapi_mut()));
    let mut document = serde_json::to_value(document).unwrap_or_default();
    complete(&mut document);
    document
});

/// The document as it is checked in.
pub fn text() -> String {
    serde_json::to_string_pretty(&*DOCUMENT).unwrap_or_default()
}

/// The document as this server serves it, with its own address and prices. Without `payments` nothing is sold.
pub(super) fn served(base_url: &str, payments: Option<&PaymentSettings>) -> Value {
    let mut document = DOCUMENT.clone();
    document["servers"] = json!([{"url": base_url}]);
    document["components"]["securitySchemes"]["oauth2"] = oauth2(base_url);
    match payments {
        Some(payments) => priced(&mut document, payments),
        None => unsold(&mut document),
    }
    document
}

/// What catalogues read: what an operation costs.
fn priced(document: &mut Value, payments: &PaymentSettings) {
    let price = |item| dollars(payments.prices.of(item));
    for (path, item) in [("/publish", Item::Publish), ("/provision", Item::Provision)] {
        if !payments.is_payable(item) {
            continue;
        }
        document["paths"][path]["post"]["x-payment-info"] =
            json!({"protocols": ["x402"], "pricingMode": "fixed", "price": price(item), "currency": "USD"});
    }
    let payable: Vec<Item> =
        Sku::ALL.map(Item::Unlock).into_iter().filter(|item| payments.is_payable(*item)).collect();
    let amounts = payable.iter().map(|item| payments.prices.of(*item));
    let (Some(least), Some(most)) = (amounts.clone().min(), amounts.max()) else { return };
    let [least, most] = [least, most].map(dollars);
    let unlocks = payable.iter().map(|item| (item.as_str().to_owned(), Value::from(price(*item))));
    document["paths"]["/unlock"]["post"]["x-payment-info"] = json!({
        "protocols": ["x402"], "pricingMode": "range", "minPrice": least,
        "maxPrice": most, "currency": "USD",
        "prices": unlocks.collect::<serde_json::Map<_, _>>(),
    });
}

/// Takes away what is not there when nothing is sold. The wallet's signature stays: it opens pages that were paid for before.
fn unsold(document: &mut Value) {
    if let Some(tags) = document["tags"].as_array_mut() {
        tags.retain(|tag| tag["name"] != pay::TAG);
    }
    let is_sold = |operation: &Value| {
        operation["tags"].as_array().is_some_and(|tags| tags.iter().any(|tag| tag == pay::TAG))
    };
    if let Some(paths) = document["paths"].as_object_mut() {
        paths.retain(|_, item| !item.as_object().is_some_and(|item| item.values().any(is_sold)));
    }
    drop_unused(document);
}

/// Takes away schemas that nothing refers to.
fn drop_unused(document: &mut Value) {
    loop {
        let text = document.to_string();
        let Some(schemas) = document["components"]["schemas"].as_object_mut() else { return };
        let before = schemas.len();
        schemas.retain(|name, _| text.contains(&format!("\"#/components/schemas/{name}\"")));
        if schemas.len() == before {
            return;
        }
    }
}

fn complete(document: &mut Value) {
    document["components"]["securitySchemes"] = json!({
        "api_key": {"type": "http", "scheme": "bearer", "description": "`Authorization: Bearer stk_live_…`"},
        "claim_token": {
            "type": "apiKey", "in": "header", "name": "Authorization",
            "description": "`Authorization: Claim clm_…`, for a page without an owner"
        },
        WALLET: {
            "type": "apiKey", "in": "header", "name": "Authorization",
            "description": "`Authorization: Wallet challenge=WAUTH-…,sig=0x…`, for a page that the wallet paid for"
        },
        "oauth2": oauth2(""),
    });
    document["components"]["schemas"]["Error"] = json!({
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {"type": "string", "description": "Stable machine-readable code."},
            "error_description": {"type": "string", "description": "What happened and what to do next."},
            "reasons": {
                "type": "array", "items": {"$ref": "#/components/schemas/ReasonJson"},
                "description": "What was found in the content: with `phishing_blocked`, `content_blocked` and `secrets_found`.",
            },
            "content_hash": {
                "type": "string", "description": "Beside `reasons`: the hash by which an appeal allows the content.",
            },
            "appeal_url": {
                "type": "string", "format": "uri",
                "description": "With `phishing_blocked` and `content_blocked`: where to send the same file, with a word on what it is for, \
                                if the page is honest.",
            },
        },
        "example": {"error": "not_found", "error_description": "There is no such site here, or it is not yours."},
    });
    let Some(paths) = document["paths"].as_object_mut() else { return };
    for (method, operation) in paths.values_mut().filter_map(Value::as_object_mut).flatten() {
        if let Some(ways) = operation["security"].as_array_mut()
            && let Some(at) = ways.iter().position(|way| way.get("api_key").is_some())
        {
            // The extractors ask for these; a test holds both together.
            let scope = if method == "get" { Scope::Read } else { Scope::Write };
            ways.insert(at + 1, json!({"oauth2": [scope.as_str()]}));
        }
        let paying = operation["tags"].as_array().is_some_and(|tags| tags.iter().any(|tag| tag == pay::TAG));
        let signed = operation["security"]
            .as_array()
            .is_some_and(|ways| ways.iter().any(|way| way.get(WALLET).is_some()));
        let wallet = operation["operationId"] == "createWalletChallenge";
        let Some(responses) = operation["responses"].as_object_mut() else { continue };
        let changing = if method == "get" { &[] } else { CHANGING };
        let meets = Meets { paying, signed, wallet };
        let paying = if paying { PAYING } else { &[] };
        for status in COMMON.iter().chain(changing).chain(paying) {
            responses.entry(status.to_string()).or_insert_with(|| failure(*status, meets));
        }
    }
}

/// Access that a person gave to a program.
fn oauth2(base_url: &str) -> Value {
    let scopes: serde_json::Map<_, _> =
        Scope::ALL.into_iter().map(|scope| (scope.as_str().to_owned(), scope.meaning().into())).collect();
    json!({
        "type": "oauth2",
        "description": "`Authorization: Bearer oat_…`, from a person who let the program in. The scope `sites:write` includes `sites:read`.",
        "flows": {"authorizationCode": {
            "authorizationUrl": format!("{base_url}/oauth/authorize"),
            "tokenUrl": format!("{base_url}/oauth/token"),
            "refreshUrl": format!("{base_url}/oauth/token"),
            "scopes": scopes,
        }},
    })
}

/// Codes that viewers of pages meet, and callers of the API never.
const FOR_VIEWERS: &[Code] = &[
    Code::PasswordRequired,
    Code::WrongPassword,
    Code::EmailRequired,
    Code::InvalidCode,
    Code::MailNotConfigured,
    Code::CrossSite,
];

/// Codes of operations that settle a payment, and of no other.
const FOR_PAYERS: &[Code] = &[
    Code::PaymentRequired,
    Code::PaymentRefused,
    Code::InvalidPayment,
    Code::RailNotLive,
    Code::PaymentUsed,
    Code::PaymentInFlight,
    Code::FacilitatorUnavailable,
    Code::SettlementUnknown,
    Code::PaidNotSaved,
];

/// Codes of operations that take the signature of a wallet.
const FOR_WALLETS: &[Code] = &[Code::BadSignature, Code::ChallengeUsed, Code::ChallengeExpired];

/// What an operation can meet that most cannot.
#[derive(Clone, Copy)]
struct Meets {
    paying: bool,
    /// With a wallet's signature.
    signed: bool,
    /// For a wallet that is named.
    wallet: bool,
}

impl Meets {
    fn takes(self, code: Code) -> bool {
        (self.paying || !FOR_PAYERS.contains(&code))
            && (self.signed || !FOR_WALLETS.contains(&code))
            && !FOR_VIEWERS.contains(&code)
            && (self.wallet || code != Code::UnknownWallet)
    }
}

/// The response of one error status, with an example of its first code: one that others meet too, if there is one.
fn failure(status: u16, meets: Meets) -> Value {
    let mut codes: Vec<Code> = Code::ALL
        .iter()
        .copied()
        .filter(|code| crate::http::error::status(*code).as_u16() == status && meets.takes(*code))
        .collect();
    codes.sort_by_key(|code| FOR_PAYERS.contains(code));
    let names = codes.iter().map(|code| format!("`{}`", code.as_str())).collect::<Vec<_>>().join(", ");
    let example =
        codes.first().map(|code| json!({"error": code.as_str(), "error_description": code.meaning()}));
    json!({
        "description": names,
        "content": {"application/json": {
            "schema": {"$ref": "#/components/schemas/Error"},
            "example": example,
        }},
    })
}
