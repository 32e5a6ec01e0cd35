//! The JSON of a paid page, the same in the first response and in every repeat. Spec §2 Publish response.

use dropleaf_app::{App, PurchaseResult, PurchasedItem};
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
    "transaction": "0x…", "sandbox": true
}))]
pub(super) struct PublishJson {
    id: String,
    /// Permanent private link.
    #[schema(format = "uri")]
    url: String,
    /// The token inside the link.
    unlisted_token: String,
    /// Secret that updates the page, or claims it for an account once.
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
    /// The transaction that settled the payment.
    transaction: Option<String>,
    /// True if no money moved.
    sandbox: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PaidNextJson {
    update_in_place: PaidUpdateJson,
}

/// How to replace the content at the same address without an account.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PaidUpdateJson {
    method: String,
    #[schema(format = "uri")]
    url: String,
    credentials: Vec<PaidCredentialJson>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PaidCredentialJson {
    /// `Claim`, or `Wallet` if the paying wallet can sign.
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
            return Err(Error::internal("payment for a page has other goods"));
        };
        warnings.extend_from_slice(more);
        let base = app.hosts.base.url();
        Ok(Self {
            id: site.id.clone(),
            url: app.canonical_url(site),
            unlisted_token: site.token.clone(),
            // The token is in the fragment, which browsers do not send to servers.
            claim_url: claim_token.as_ref().map(|token| format!("{base}/claim/{}#{token}", site.id)),
            claim_token: claim_token.clone(),
            expires_at: site.expires_at,
            title: site.title.clone(),
            version: site.version,
            created_at: site.created_at,
            byte_size: site.byte_size,
            warnings,
            next: next(&base, site),
            transaction: bought.payment.transaction.clone(),
            sandbox: bought.payment.sandbox,
        })
    }
}

fn next(base: &str, site: &Site) -> PaidNextJson {
    let claim = PaidCredentialJson {
        scheme: "Claim".to_owned(),
        header: "Authorization: Claim <claim_token>".to_owned(),
        challenge_url: None,
    };
    let wallet = site.wallet.is_some().then(|| PaidCredentialJson {
        scheme: "Wallet".to_owned(),
        header: "Authorization: Wallet challenge=<challenge>,sig=<signature>".to_owned(),
        challenge_url: Some(format!("{base}/wallet-auth/challenge")),
    });
    PaidNextJson {
        update_in_place: PaidUpdateJson {
            method: "PUT".to_owned(),
            url: format!("{base}/sites/{}", site.id),
            credentials: [claim].into_iter().chain(wallet).collect(),
        },
    }
}
