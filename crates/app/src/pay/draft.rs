//! What a payment will create, decided when it is reserved and stored encrypted until it is fulfilled and delivered, so
//! that retries create and return the same.

use crate::accounts::api_keys::NewKey;
use crate::app::App;
use crate::infra::sealing;
use crate::publish::staging::Staged;
use dropleaf_core::account::Account;
use dropleaf_core::api_key::ApiKey;
use dropleaf_core::payment::Payment;
use dropleaf_core::scope::Scopes;
use dropleaf_core::site::{NewSite, Site};
use dropleaf_core::site_version::SiteVersion;
use dropleaf_core::version_maker::{MakerKind, VersionMaker};
use dropleaf_core::{Error, Result, secret};
use dropleaf_pay::Network;
use serde::{Deserialize, Serialize};

/// The plan of accounts created by a payment.
const PLAN: &str = "free";
const KEY_NAME: &str = "provisioned";

#[derive(Serialize, Deserialize)]
pub(super) enum Draft {
    Page(PageDraft),
    Key(KeyDraft),
}

#[derive(Serialize, Deserialize)]
pub(super) struct PageDraft {
    site_id: String,
    token: String,
    pub(super) claim_token: String,
    bundle_id: String,
    title: String,
    byte_size: i64,
    #[serde(default)]
    spa: bool,
    file_count: i64,
    pub(super) warnings: Vec<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct KeyDraft {
    account_id: String,
    key_id: String,
    secret: String,
}

impl PageDraft {
    pub(super) fn site(&self, app: &App, payment: &Payment) -> Site {
        // Only a payer with a key of their own can sign again later. Spec §5 rule 4.
        let has_wallet =
            payment.payer_is_eoa && Network::parse(&payment.network).is_some_and(Network::is_evm);
        let new = NewSite {
            token: self.token.clone(),
            host_label: app.keys.host_label(&self.site_id),
            id: self.site_id.clone(),
            title: self.title.clone(),
            bundle_id: self.bundle_id.clone(),
            byte_size: self.byte_size,
            spa: self.spa,
            created_at: payment.created_at,
        };
        Site {
            claim_hash: Some(secret::hash(&self.claim_token)),
            payment_id: Some(payment.id.clone()),
            wallet: has_wallet.then(|| payment.payer.to_ascii_lowercase()),
            ..Site::new(new)
        }
    }

    pub(super) fn version(&self, payment: &Payment) -> SiteVersion {
        SiteVersion {
            site_id: self.site_id.clone(),
            version: 1,
            bundle_id: self.bundle_id.clone(),
            title: self.title.clone(),
            byte_size: self.byte_size,
            file_count: self.file_count,
            e2e: false,
            restored_from: None,
            maker: Some(VersionMaker::unnamed(MakerKind::Purchase)),
            created_at: payment.created_at,
        }
    }
}

impl KeyDraft {
    pub(super) fn account(&self, payment: &Payment) -> Account {
        provisioned_account(self.account_id.clone(), payment.created_at)
    }

    pub(super) fn key(&self, payment: &Payment) -> NewKey {
        let (id, account_id) = (self.key_id.clone(), self.account_id.clone());
        provisioned_key(id, account_id, self.secret.clone(), payment.created_at)
    }
}

/// An account that was bought.
pub(super) fn provisioned_account(id: String, created_at: i64) -> Account {
    Account::new(id, PLAN.to_owned(), created_at)
}

/// The first key of an account that was bought.
pub(super) fn provisioned_key(id: String, account_id: String, secret: String, created_at: i64) -> NewKey {
    let key = ApiKey {
        id,
        account_id,
        name: KEY_NAME.to_owned(),
        prefix: secret::shown_prefix(&secret).to_owned(),
        created_at,
        last_used: None,
        grant_id: None,
        scopes: Scopes::ALL,
    };
    NewKey { key, secret }
}

impl App {
    pub(super) fn draft_page(&self, staged: &Staged) -> Draft {
        Draft::Page(PageDraft {
            site_id: self.minter.ordered_id("site", self.now()),
            token: self.minter.page_token(),
            claim_token: self.minter.claim_token(),
            bundle_id: staged.bundle_id.clone(),
            title: staged.title.clone(),
            byte_size: staged.byte_size,
            spa: staged.spa,
            file_count: staged.file_count,
            warnings: staged.warnings.clone(),
        })
    }

    pub(super) fn draft_key(&self) -> Draft {
        Draft::Key(KeyDraft {
            account_id: self.minter.id("acct"),
            key_id: self.minter.id("key"),
            secret: self.minter.api_key(),
        })
    }

    pub(super) fn seal_draft(&self, draft: &Draft, payment_id: &str) -> Result<Vec<u8>> {
        let text = serde_json::to_vec(draft).map_err(Error::internal)?;
        let key = self.keys.mac("payment draft", payment_id.as_bytes());
        Ok(sealing::seal(&self.minter, key, payment_id.as_bytes(), &text)?.to_vec())
    }

    pub(super) fn open_draft(&self, payment: &Payment) -> Result<Draft> {
        let sealed = payment.draft.as_deref().ok_or_else(|| Error::internal("payment has no draft"))?;
        let key = self.keys.mac("payment draft", payment.id.as_bytes());
        let text = sealing::open(key, payment.id.as_bytes(), sealed)?;
        serde_json::from_slice(&text).map_err(Error::internal)
    }
}
