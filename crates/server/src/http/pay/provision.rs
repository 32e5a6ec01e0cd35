//! Serves `/provision`: sells an account with an API key. Spec §4 Payment.

use super::balance::{BALANCE, Payer, bought_response, once};
use super::card_token;
use super::mandate::{self, MandateTermsJson};
use super::purchase::{PaidCall, Sale, has_proof, is_foreign_question};
use super::receipt::paid_response;
use super::terms::TermsJson;
use crate::http::api::IdempotentResponse;
use crate::http::api_error::ApiError;
use crate::http::extract::{Fields, Incoming, client_ip, json_object, nullable, too_large};
use crate::http::state::ApiState;
use axum::body::HttpBody;
use axum::extract::{Request, State};
use axum::response::Response;
use dropleaf_app::{BalancePurchase, NewKey, Order, ProvisionedAccount, PurchaseResult, PurchasedItem};
use dropleaf_core::account::Account;
use dropleaf_core::payment::Item;
use dropleaf_core::request_hash::RequestHash;
use dropleaf_core::site_change::Field;
use dropleaf_core::{Error, Result};
use dropleaf_pay::mpp::{CredentialField, PaidRequest};
use http::{HeaderMap, StatusCode};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

const BODY_BYTES: u64 = 64 * 1024;

/// Payments sent in the body instead of a header.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({}))]
pub(super) struct ProvisionBody {
    /// A shared payment token (ACP), which is charged once.
    acp_shared_payment_token: Option<String>,
    /// A mandate (AP2): `{"payment_mandate": "<chain>"}` (v0.2), or `{"payment_mandate_contents": {…}, "user_authorization":
    /// "<token>"}` (v0.1). It is verified, then the token that it names is charged once.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<Value>, nullable = false)]
    ap2_mandate: Field<IgnoredAny>,
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
    /// The payment protocol that settled, or `balance`.
    protocol: String,
    /// The full key, shown once.
    api_key: String,
    /// The first characters of the key.
    prefix: String,
    /// How to send it.
    usage: String,
    account_id: String,
    plan: String,
    /// The remaining balance of the caller in cents, if it was paid from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    balance_minor: Option<i64>,
    /// The transaction that settled the payment; null if it was paid from a balance.
    transaction: Option<String>,
    /// True if no money moved.
    sandbox: bool,
    warnings: Vec<String>,
}

/// Pay for an API key
///
/// Creates an account without an email address, on the plan `free`, and its first key. Without a payment the response
/// is 402 with the terms. The same proof returns the same key for ten minutes, from the same network or with the same
/// `Idempotency-Key`; afterwards 409.
///
/// A mandate (AP2) is `ap2_mandate` in the body. It must be signed for the transaction in `ap2` of the 402 response or of
/// `GET /provision`, which can be paid once within ten minutes. One that is malformed is 400 `invalid_payment`, one that is
/// refused 402 `payment_refused`, both with a `reason`; nothing was charged.
///
/// With a key or an access token (`sites:write`) and no proof, the new account is paid from the prepaid balance of the
/// caller. Send an `Idempotency-Key`: it returns the same key for ten minutes, and without it a repeated request buys
/// another account. If the balance does not suffice, the terms contain it.
#[utoipa::path(
    post, path = "/provision", tag = "Payments", operation_id = "provisionKey",
    params(
        ("PAYMENT-SIGNATURE" = Option<String>, Header, description = "Proof of payment, x402 v2."),
        ("X-PAYMENT" = Option<String>, Header, description = "Proof of payment, x402 v1."),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes retries safe for 24 hours; a second payment from the \
                                                                    same wallet, or from the same balance, with the same key buys nothing."),
    ),
    request_body(content = Option<ProvisionBody>, content_type = "application/json"),
    responses(
        (
            status = 200, description = "The key, shown once", body = ProvisionJson,
            headers(
                ("PAYMENT-RESPONSE" = String, description = "The receipt; `X-PAYMENT-RESPONSE` for x402 v1."),
                ("Payment-Receipt" = String, description = "The receipt of a payment by MPP."),
            ),
        ),
        (
            status = 402, content((TermsJson = "application/json"), (TermsJson = "application/problem+json")),
            description = "`payment_required`, `payment_refused`, `rail_not_live`: the terms, or `pay` and `rails` where only cards are \
                           accepted; nothing was created. `ap2` says what a mandate must contain",
            headers(
                ("PAYMENT-REQUIRED" = String, description = "The terms for x402 v2, base64 of JSON."),
                ("WWW-Authenticate" = String, description = "A challenge for MPP: `Payment id=…`."),
            ),
        ),
    ),
    security((), ("api_key" = [])),
)]
pub(super) async fn provision(
    State(state): State<ApiState>,
    payer: Payer,
    request: Request,
) -> Result<Response, ApiError> {
    state.app.check_provision_allowed()?;
    let (parts, body) = request.into_parts();
    let pays = has_proof(&parts.headers) || payer.0.is_some();
    if is_foreign_question(&parts) || (!pays && body.is_end_stream()) {
        return paid_call(&state, &parts.headers).owed();
    }
    let ip = client_ip(&parts, &state);
    // An account has the rate limit of its key instead.
    if payer.0.is_none() {
        state.app.take_paid_attempt(ip).await?;
    }
    let incoming = Incoming { state: &state, headers: &parts.headers, body };
    let (bytes, share) = incoming.bytes(BODY_BYTES, || too_large(BODY_BYTES)).await?;
    let digest = PaidRequest::new("", &bytes).digest;
    let object = json_object(&bytes)?;
    drop((bytes, share));
    let mandate = object.get(mandate::FIELD).cloned();
    let mut fields = Fields::new(object);
    let sent: ProvisionBody = fields.take()?;
    let warnings = fields.warnings();
    let request_hash = RequestHash::new("provision").finish();
    let call = PaidCall { ip, digest, ..paid_call(&state, &parts.headers) };
    let payments = sent.payments();
    if let Some(field) = payments.first() {
        // The other one may have been settled before, so the client must not be asked to pay again.
        if has_proof(&parts.headers) || payments.len() > 1 {
            let why = "must not be sent together with another payment; nothing was charged by this request";
            return Err(Error::field(field, why).into());
        }
        if let Some(token) = &sent.acp_shared_payment_token {
            return card_token::provision(call, token, request_hash, warnings).await;
        }
        return mandate::provision(call, &mandate.unwrap_or_default(), warnings).await;
    }
    if let Some(caller) = &payer.0 {
        let once = once(&state, &parts.headers, caller, request_hash);
        let sandbox = state.app.require_payments()?.is_sandbox();
        let render = |bought: &BalancePurchase<ProvisionedAccount>| {
            let balance_minor = state.app.spendable_balance(&bought.buyer);
            ProvisionJson::drawn(bought, balance_minor, sandbox, &warnings).to_bytes()
        };
        let done = state.app.provision_with_balance(caller, once.as_ref(), render).await?;
        if let Some(done) = done {
            return Ok(bought_response(IdempotentResponse::of(done, StatusCode::OK, render)));
        }
        let mut more = payer.terms(&state, Item::Provision).await?;
        more.extend(call.more.clone());
        return PaidCall { more, ..call }.owed();
    }
    match call.sell((Order::Provision, request_hash), ()).await? {
        Sale::Answer(answer) => Ok(answer),
        Sale::Sold { bought, receipt } => {
            let answer = ProvisionJson::new(&bought, warnings)?;
            Ok(paid_response(StatusCode::OK, &answer, &bought, &receipt))
        }
    }
}

/// The sale of one key.
fn paid_call<'a>(state: &'a ApiState, headers: &'a HeaderMap) -> PaidCall<'a> {
    let (item, field) = (Item::Provision, CredentialField::Authorization);
    PaidCall { state, headers, ip: None, item, field, digest: None, more: MandateTermsJson::member(state) }
}

impl ProvisionBody {
    /// The names of the payments in the body. None is ignored: the client believes it has paid.
    fn payments(&self) -> Vec<&'static str> {
        let token = self.acp_shared_payment_token.as_ref().map(|_| card_token::FIELD);
        let mandate = (!self.ap2_mandate.is_absent()).then_some(mandate::FIELD);
        token.into_iter().chain(mandate).collect()
    }
}

impl ProvisionJson {
    pub(super) fn new(bought: &PurchaseResult, warnings: Vec<String>) -> Result<Self> {
        let PurchasedItem::Key { account, new } = &bought.item else {
            return Err(Error::internal("payment for an API key bought a different item"));
        };
        Ok(Self {
            protocol: bought.payment.rail.as_str().to_owned(),
            transaction: bought.payment.transaction.clone(),
            sandbox: bought.payment.sandbox,
            ..Self::of(account, new, warnings)
        })
    }

    /// An account that was paid from a balance.
    fn drawn(
        bought: &BalancePurchase<ProvisionedAccount>,
        balance_minor: i64,
        sandbox: bool,
        warnings: &[String],
    ) -> Self {
        let ProvisionedAccount { account, new } = &bought.item;
        Self { balance_minor: Some(balance_minor), sandbox, ..Self::of(account, new, warnings.to_vec()) }
    }

    fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The account and its key, as if paid from a balance.
    fn of(account: &Account, new: &NewKey, warnings: Vec<String>) -> Self {
        Self {
            ok: true,
            protocol: BALANCE.to_owned(),
            api_key: new.secret.clone(),
            prefix: new.key.prefix.clone(),
            usage: "Send `Authorization: Bearer <api_key>` with every request.".to_owned(),
            account_id: account.id.clone(),
            plan: account.plan.clone(),
            balance_minor: None,
            transaction: None,
            sandbox: false,
            warnings,
        }
    }
}
