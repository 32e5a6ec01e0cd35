//! Serves `/provision`: sells an account with an API key. Spec §4 Payment.

use super::purchase::{Sale, has_proof, is_foreign_question, sell};
use super::rails::NoOtherRail;
use super::receipt::paid_response;
use super::terms::{self, TermsJson};
use crate::http::api_error::ApiError;
use crate::http::extract::{Incoming, client_ip, nullable};
use crate::http::state::ApiState;
use axum::Json;
use axum::body::HttpBody;
use axum::extract::{Request, State};
use axum::response::Response;
use dropleaf_app::{Order, PurchaseResult, PurchasedItem};
use dropleaf_core::ledger::dollars;
use dropleaf_core::payment::Item;
use dropleaf_core::request_hash::RequestHash;
use dropleaf_core::site_change::Field;
use dropleaf_core::{Error, Result};
use http::StatusCode;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

const BODY_BYTES: u64 = 64 * 1024;

/// Payments sent in the body instead of a header.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({}))]
pub(super) struct ProvisionBody {
    /// A shared payment token; this payment protocol is not available here.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, nullable = false)]
    acp_shared_payment_token: Field<IgnoredAny>,
    /// A mandate; this payment protocol is not available here.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<Value>, nullable = false)]
    ap2_mandate: Field<IgnoredAny>,
}

/// The payment protocols for a key.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "price": "1.00", "amount": "1000000", "currency": "USD", "sandbox": true,
    "rails": [{
        "protocol": "x402", "versions": [1, 2], "networks": ["eip155:8453"], "live": true,
        "how": "POST /provision; the 402 response contains the terms."
    }]
}))]
pub(super) struct RailsJson {
    /// In US dollars.
    price: String,
    /// In the smallest unit of a token with 6 decimals.
    amount: String,
    currency: String,
    /// True if no money moves.
    sandbox: bool,
    rails: Vec<RailJson>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RailJson {
    protocol: String,
    versions: Vec<i64>,
    networks: Vec<String>,
    /// Whether it can be used now.
    live: bool,
    how: String,
}

/// A new key, shown once.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "ok": true, "protocol": "x402", "api_key": "stk_live_…", "prefix": "stk_live_0Qm1",
    "usage": "Send `Authorization: Bearer <api_key>` with every request.", "account_id": "acct_k3v5q7x2m4n6p8r1t9w0",
    "plan": "free", "transaction": "0x…", "sandbox": true, "warnings": []
}))]
pub(super) struct ProvisionJson {
    ok: bool,
    /// The payment protocol that settled.
    protocol: String,
    /// The full key, shown once.
    api_key: String,
    /// The first characters of the key.
    prefix: String,
    /// How to send it.
    usage: String,
    account_id: String,
    plan: String,
    /// The transaction that settled the payment.
    transaction: Option<String>,
    /// True if no money moved.
    sandbox: bool,
    warnings: Vec<String>,
}

/// List the payment protocols for a key
///
/// Every payment protocol known here, and which of them are available.
#[utoipa::path(
    get, path = "/provision", tag = "Payments", operation_id = "listRails",
    responses((status = 200, description = "The payment protocols", body = RailsJson)),
    security(()),
)]
pub(super) async fn menu(State(state): State<ApiState>) -> Result<Json<RailsJson>, ApiError> {
    let payments = state.app.require_payments()?;
    let amount = payments.prices.of(Item::Provision);
    let listing = state.app.listing(Item::Provision).ok();
    let networks = listing.iter().flat_map(|listing| listing.terms.offers());
    let x402 = RailJson {
        protocol: "x402".to_owned(),
        versions: vec![1, 2],
        networks: networks.map(|offer| offer.network().to_string()).collect(),
        live: listing.is_some() && state.app.check_provision_allowed().is_ok(),
        how: "POST /provision; the 402 response contains the terms. Repeat with the signed payment in PAYMENT-SIGNATURE (v2) or \
              X-PAYMENT (v1)."
            .to_owned(),
    };
    let rest = [
        ("mpp", "Authorization: Payment <credential> on POST /provision."),
        ("acp", "acp_shared_payment_token in the JSON body of POST /provision."),
        ("ap2", "ap2_mandate in the JSON body of POST /provision."),
        ("card", "POST /pay/sessions creates a link where a person can pay by card."),
    ];
    let rest = rest.map(|(protocol, how)| RailJson {
        protocol: protocol.to_owned(),
        versions: Vec::new(),
        networks: Vec::new(),
        live: false,
        how: format!("{how} Not live here yet."),
    });
    Ok(Json(RailsJson {
        price: dollars(amount),
        amount: amount.to_string(),
        currency: "USD".to_owned(),
        sandbox: payments.is_sandbox(),
        rails: [x402].into_iter().chain(rest).collect(),
    }))
}

/// Pay for an API key
///
/// Creates an account without an email address, on the plan `free`, and its first key. Without a payment the response
/// is 402 with the terms. The same proof returns the same key for ten minutes, from the same network or with the same
/// `Idempotency-Key`; afterwards 409.
#[utoipa::path(
    post, path = "/provision", tag = "Payments", operation_id = "provisionKey",
    params(
        ("PAYMENT-SIGNATURE" = Option<String>, Header, description = "Proof of payment, x402 v2."),
        ("X-PAYMENT" = Option<String>, Header, description = "Proof of payment, x402 v1."),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes retries safe for 24 hours; a second payment of the \
                                                                    same wallet with the same key buys nothing."),
    ),
    request_body(content = Option<ProvisionBody>, content_type = "application/json"),
    responses(
        (
            status = 200, description = "The key, shown once", body = ProvisionJson,
            headers(("PAYMENT-RESPONSE" = String, description = "The receipt; `X-PAYMENT-RESPONSE` for x402 v1.")),
        ),
        (
            status = 402, description = "`payment_required`, `payment_refused`: the terms; nothing was created", body = TermsJson,
            headers(("PAYMENT-REQUIRED" = String, description = "The terms for x402 v2, base64 of JSON.")),
        ),
    ),
    security(()),
)]
pub(super) async fn provision(
    State(state): State<ApiState>,
    _: NoOtherRail,
    request: Request,
) -> Result<Response, ApiError> {
    state.app.check_provision_allowed()?;
    let (parts, body) = request.into_parts();
    if is_foreign_question(&parts) || (!has_proof(&parts.headers) && body.is_end_stream()) {
        return Ok(terms::owed(&*state.app.listing(Item::Provision)?));
    }
    let ip = client_ip(&parts, &state);
    state.app.take_paid_attempt(ip)?;
    let incoming = Incoming { state: &state, headers: &parts.headers, body };
    let mut fields = incoming.fields(BODY_BYTES).await?;
    fields.take::<ProvisionBody>()?.check()?;
    let warnings = fields.warnings();
    let order = (Order::Provision, RequestHash::new("provision").finish());
    match sell(&state, &parts.headers, ip, order, serde_json::Map::new(), ()).await? {
        Sale::Answer(answer) => Ok(answer),
        Sale::Sold { bought, generation } => {
            let answer = ProvisionJson::new(&bought, warnings)?;
            Ok(paid_response(StatusCode::OK, &answer, &bought.receipt, generation))
        }
    }
}

impl ProvisionBody {
    /// Payments in the body are refused, not ignored: the client believes it has paid.
    fn check(&self) -> Result<()> {
        let sent = [
            ("acp_shared_payment_token", &self.acp_shared_payment_token),
            ("ap2_mandate", &self.ap2_mandate),
        ];
        match sent.into_iter().find(|(_, field)| !field.is_absent()) {
            Some((name, _)) => {
                let why = "uses a payment protocol that is not available on this server; nothing was charged. GET \
                           /provision lists the available ones";
                Err(Error::field(name, why))
            }
            None => Ok(()),
        }
    }
}

impl ProvisionJson {
    fn new(bought: &PurchaseResult, warnings: Vec<String>) -> Result<Self> {
        let PurchasedItem::Key { account, new } = &bought.item else {
            return Err(Error::internal("payment for an API key has other goods"));
        };
        Ok(Self {
            ok: true,
            protocol: bought.payment.protocol.clone(),
            api_key: new.secret.clone(),
            prefix: new.key.prefix.clone(),
            usage: "Send `Authorization: Bearer <api_key>` with every request.".to_owned(),
            account_id: account.id.clone(),
            plan: account.plan.clone(),
            transaction: bought.payment.transaction.clone(),
            sandbox: bought.payment.sandbox,
            warnings,
        })
    }
}
