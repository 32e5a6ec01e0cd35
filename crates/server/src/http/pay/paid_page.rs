//! The JSON of a paid page, the same in the first response and in every repeat. Spec §2 Publish response.

use super::balance::BALANCE;
use dropleaf_app::{App, BalancePurchase, CreatedSite, PurchaseResult, PurchasedItem};
use dropleaf_core::site::Site;
use dropleaf_core::{Error, Result};
use serde::Serialize;
use utoipa::ToSchema;

/// A paid page.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "site_k3v5q7x2m4n6p8r1t9w0", "url": "http://localhost:8080/p/0Qm1Yv2nT3uW4xZ5aB6cD7/",
    "unlisted_token": "0Qm1Yv2nT3uW4xZ5aB6cD7", "claim_token": "clm_…",
    "claim_url": "http://localhost:8080/claim/site_k3v5q7x2m4n6p8r1t9w0#clm_…", "expires_at": null,
    "title": "Hi", "version": 1, "created_at": 1_794_706_860, "byte_size": 39, "warnings": [],
    "next": {"update_in_place": {
        "method": "PUT", "url": "http://localhost:8080/sites/site_k3v5q7x2m4n6p8r1t9w0",
        "credentials": [{"scheme": "Claim", "header": "Authorization: Claim <claim_token>"}]
    }},
    "paid_with": "x402", "transaction": "0x…", "sandbox": true
}))]
pub(super) struct PublishJson {
    id: String,
    /// Permanent private link.
    #[schema(format = "uri")]
    url: String,
    /// The token inside the link.
    unlisted_token: String,
    /// Secret that updates the page, or claims it for an account once. Not for a page that was paid from a balance: it
    /// belongs to that account already.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    claim_token: Option<String>,
    /// Link for claiming the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = "uri")]
    claim_url: Option<String>,
    /// Null: a paid page has no expiry.
    expires_at: Option<i64>,
    title: String,
    version: i64,
    created_at: i64,
    byte_size: i64,
    warnings: Vec<String>,
    next: PaidNextJson,
    /// `x402`, `mpp` or `balance`.
    paid_with: String,
    /// The remaining balance in cents, if it was paid from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    balance_minor: Option<i64>,
    /// The transaction that settled the payment; null if it was paid from a balance.
    transaction: Option<String>,
    /// True if no money moved.
    sandbox: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PaidNextJson {
    update_in_place: PaidUpdateJson,
}

/// How to replace the content at the same address.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PaidUpdateJson {
    method: String,
    #[schema(format = "uri")]
    url: String,
    credentials: Vec<PaidCredentialJson>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PaidCredentialJson {
    /// `Claim`, and `Wallet` if the paying wallet can sign; `Bearer` for a page that belongs to an account.
    scheme: String,
    header: String,
    /// Where to request the message to sign.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = "uri")]
    challenge_url: Option<String>,
}

impl PublishJson {
    pub(super) fn new(app: &App, bought: &PurchaseResult, mut warnings: Vec<String>) -> Result<Self> {
        let PurchasedItem::Page { site, claim_token, warnings: more } = &bought.item else {
            return Err(Error::internal("payment for a page bought a different item"));
        };
        warnings.extend_from_slice(more);
        let page = Self::of(app, site, claim_token.as_deref(), warnings);
        Ok(Self {
            paid_with: bought.payment.rail.as_str().to_owned(),
            transaction: bought.payment.transaction.clone(),
            sandbox: bought.payment.sandbox,
            ..page
        })
    }

    /// A page that was paid from a balance.
    pub(super) fn drawn(
        app: &App,
        bought: &BalancePurchase<CreatedSite>,
        warnings: &[String],
        sandbox: bool,
    ) -> Self {
        let CreatedSite { site, claim_token, warnings: more } = &bought.item;
        let warnings = warnings.iter().chain(more).cloned().collect();
        let page = Self::of(app, site, claim_token.as_deref(), warnings);
        Self { balance_minor: Some(app.spendable_balance(&bought.buyer)), sandbox, ..page }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The page, as if paid from a balance.
    fn of(app: &App, site: &Site, claim_token: Option<&str>, warnings: Vec<String>) -> Self {
        let base = app.hosts.base.url();
        Self {
            id: site.id.clone(),
            url: app.canonical_url(site),
            unlisted_token: site.token.clone(),
            // The token is in the fragment, which browsers do not send to servers.
            claim_url: claim_token.map(|token| format!("{base}/claim/{}#{token}", site.id)),
            claim_token: claim_token.map(str::to_owned),
            expires_at: site.expires_at,
            title: site.title.clone(),
            version: site.version,
            created_at: site.created_at,
            byte_size: site.byte_size,
            warnings,
            next: next(&base, site),
            paid_with: BALANCE.to_owned(),
            balance_minor: None,
            transaction: None,
            sandbox: false,
        }
    }
}

fn next(base: &str, site: &Site) -> PaidNextJson {
    let credential = |scheme: &str, header: &str| PaidCredentialJson {
        scheme: scheme.to_owned(),
        header: header.to_owned(),
        challenge_url: None,
    };
    let first = if site.account_id.is_some() {
        credential("Bearer", "Authorization: Bearer <api_key>")
    } else {
        credential("Claim", "Authorization: Claim <claim_token>")
    };
    let wallet = site.wallet.is_some().then(|| PaidCredentialJson {
        challenge_url: Some(format!("{base}/wallet-auth/challenge")),
        ..credential("Wallet", "Authorization: Wallet challenge=<challenge>,sig=<signature>")
    });
    PaidNextJson {
        update_in_place: PaidUpdateJson {
            method: "PUT".to_owned(),
            url: format!("{base}/sites/{}", site.id),
            credentials: [first].into_iter().chain(wallet).collect(),
        },
    }
}
