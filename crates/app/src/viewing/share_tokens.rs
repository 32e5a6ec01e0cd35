//! Share tokens: created, listed and revoked by the owner; counted and verified when a viewer presents one. Spec §4.

use crate::app::App;
use crate::infra::sealing;
use crate::publish::idempotency::{FirstOrReplay, IdempotentRequest, IdempotentResult, StoredOutcome};
use bytes::Bytes;
use dropleaf_core::account::Account;
use dropleaf_core::share_token::{self, ShareToken, ShareTokenRequest};
use dropleaf_core::site::{Site, State};
use dropleaf_core::{Code, Error, Minter, Result, number, secret};
use dropleaf_store::{DbError, idempotency, share_tokens, sites};

/// How long a browser that opened a share link stays admitted; after that it has to open the link again.
const PASS_SECONDS: i64 = 12 * 3600;

/// A token with its secret and its link, as only its owner sees it.
#[derive(Debug, Clone)]
pub struct ShareTokenWithSecret {
    pub token: ShareToken,
    pub secret: String,
    pub url: String,
}

/// What a browser keeps after opening a share link.
#[derive(Debug, Clone)]
pub struct SharePass {
    pub value: String,
    pub seconds: i64,
}

impl App {
    pub async fn create_share_token(
        &self,
        account: &Account,
        name: &str,
        request: ShareTokenRequest,
        once: Option<&IdempotentRequest>,
        render: impl FnOnce(&ShareTokenWithSecret) -> Vec<u8>,
    ) -> Result<IdempotentResult<ShareTokenWithSecret>> {
        let request = request.checked()?;
        let _guard = match self.begin_idempotent(once).await? {
            FirstOrReplay::Replay(outcome, body) => return Ok(IdempotentResult::Replayed { outcome, body }),
            FirstOrReplay::First(guard) => guard,
        };
        let site = self.get_site(account, name).await?;
        if site.state != State::Live {
            return Err(Error::plain(Code::Expired));
        }
        let now = self.now();
        let secret = self.minter.share_token();
        let token = ShareToken {
            id: self.minter.id("share"),
            site_id: site.id.clone(),
            note: request.note,
            bypass_email_gate: request.bypass_email_gate,
            max_uses: request.max_uses,
            uses: 0,
            created_at: now,
            expires_at: request.expires_in.map(|seconds| now + seconds),
            last_used_at: None,
        };
        let sealed = sealing::seal(
            &self.minter,
            self.share_key(&token.id),
            token.site_id.as_bytes(),
            secret.as_bytes(),
        )?;
        let mut stmts =
            vec![sites::lock_live(&site.id), share_tokens::insert(&token, &secret::hash(&secret), sealed)];
        let own = ShareTokenWithSecret { url: self.share_url(&site, &secret), token, secret };
        if let Some(once) = once {
            stmts.push(self.store_response(once, StoredOutcome::Created, &render(&own))?);
        }
        match (self.commit_for_account(&account.id, stmts).await, once) {
            (Ok(_), _) => Ok(IdempotentResult::New(own)),
            (Err(DbError::Guard(idempotency::ANSWERED)), Some(once)) => self.replay_response(once).await,
            (Err(DbError::Guard(sites::CHANGED)), _) => Err(Error::not_found("site")),
            (Err(DbError::Guard(share_tokens::FULL)), _) => {
                let most = share_token::MOST;
                Err(Error::new(
                    Code::TooMany,
                    format!("A page can have at most {most} share tokens. Revoke some first."),
                ))
            }
            (Err(error), _) => Err(error.into()),
        }
    }

    pub async fn list_share_tokens(
        &self,
        account: &Account,
        name: &str,
    ) -> Result<Vec<ShareTokenWithSecret>> {
        let site = self.get_site(account, name).await?;
        let found = self.store.list_share_tokens(&site.id).await?;
        Ok(found
            .into_iter()
            .map(|(token, sealed)| match self.unseal_share(&token, &sealed) {
                Ok(secret) => ShareTokenWithSecret { url: self.share_url(&site, &secret), token, secret },
                // Encrypted under a former secret of the server: it still works for those who have it, and its id is
                // enough to revoke it.
                Err(_) => {
                    ShareTokenWithSecret { url: self.canonical_url(&site), secret: token.id.clone(), token }
                }
            })
            .collect())
    }

    /// Revokes a token, named by its id or its secret; viewers admitted with it lose access.
    pub async fn revoke_share_token(&self, account: &Account, name: &str) -> Result<()> {
        if !Minter::is_id("share", name) && !share_token::is_token(name) {
            return Err(Error::not_found("share token"));
        }
        let delete = share_tokens::delete(&account.id, name, &secret::hash(name));
        match self.commit_for_account(&account.id, vec![delete]).await {
            Ok(_) => Ok(()),
            Err(DbError::Guard(share_tokens::UNKNOWN)) => Err(Error::not_found("share token")),
            Err(error) => Err(error.into()),
        }
    }

    /// Uses a viewer's token for this page. With `counts` it consumes one of its uses; the last one is given out once.
    pub async fn use_share_token(
        &self,
        site: &Site,
        token: &str,
        counts: bool,
    ) -> Result<Option<ShareToken>> {
        let (hash, now) = (secret::hash(token), self.now());
        Ok(if counts {
            self.store.take_share_use(&site.id, &hash, now).await?
        } else {
            self.store.find_open_share_token(&site.id, &hash, now).await?
        })
    }

    /// What a browser keeps instead of the token: its id and expiry with a MAC that only this server can create.
    pub fn share_pass(&self, token: &ShareToken) -> SharePass {
        let now = self.now();
        let until = token.expires_at.map_or(now + PASS_SECONDS, |at| at.min(now + PASS_SECONDS));
        let code = self.share_pass_mac(&token.site_id, &token.id, until);
        SharePass { value: format!("{}.{until}.{code}", token.id), seconds: until - now }
    }

    /// The token of a pass, if it has not been revoked or expired since. A used-up token remains valid for viewers
    /// admitted with one of its uses.
    pub async fn verify_share_pass(&self, site: &Site, pass: &str) -> Result<Option<ShareToken>> {
        let mut parts = pass.splitn(3, '.');
        let (Some(id), Some(until), Some(code)) = (parts.next(), parts.next(), parts.next()) else {
            return Ok(None);
        };
        let now = self.now();
        let Some(until) = number::integer(until).filter(|until| *until > now) else { return Ok(None) };
        // Compared as digests, so that the timing reveals nothing about the code.
        if secret::hash(code) != secret::hash(&self.share_pass_mac(&site.id, id, until)) {
            return Ok(None);
        }
        let token = self.store.find_share_token(&site.id, id).await?;
        Ok(token.filter(|token| !token.is_expired(now)))
    }

    fn share_url(&self, site: &Site, secret: &str) -> String {
        format!("{}?t={secret}", self.canonical_url(site))
    }

    fn share_pass_mac(&self, site_id: &str, id: &str, until: i64) -> String {
        let code = self.keys.mac("share-pass", format!("s1\0{site_id}\0{id}\0{until}").as_bytes());
        code.iter().fold(String::with_capacity(64), |text, b| format!("{text}{b:02x}"))
    }

    pub(crate) fn share_key(&self, id: &str) -> [u8; 32] {
        self.keys.mac("share-token", id.as_bytes())
    }

    fn unseal_share(&self, token: &ShareToken, sealed: &Bytes) -> Result<String> {
        let secret = sealing::open(self.share_key(&token.id), token.site_id.as_bytes(), sealed)?;
        String::from_utf8(secret.to_vec()).map_err(Error::internal)
    }
}
