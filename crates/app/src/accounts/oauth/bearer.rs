//! Authenticates bearer credentials: API keys and OAuth access tokens.

use crate::app::App;
use crate::infra::row_cache::RowCache;
use dropleaf_core::account::Account;
use dropleaf_core::oauth::grant::Grant;
use dropleaf_core::oauth::resource;
use dropleaf_core::oauth::token::{ACCESS_PREFIX, OAuthTokenKind};
use dropleaf_core::scope::Scopes;
use dropleaf_core::version_maker::VersionMaker;
use dropleaf_core::{Code, Error, Result, secret};
use dropleaf_store::oauth_grants;
use dropleaf_store::oauth_tokens::{self, AccessRow};
use std::sync::Arc;

/// Access tokens by hash.
pub(crate) type AccessTokenCache = RowCache<[u8; 32], AccessRow>;

/// An authenticated caller.
#[derive(Debug, Clone)]
pub struct Identity {
    pub account: Account,
    pub scopes: Scopes,
    /// What requests are counted against: the key, or the OAuth client's grant.
    pub rate_limit_key: String,
    /// The OAuth client's grant, if there is one.
    pub grant_id: Option<String>,
    /// Recorded with the versions it makes.
    pub maker: VersionMaker,
}

impl App {
    /// The account of a key or token, possibly from the cache, and its scopes.
    pub async fn authenticate_bearer(&self, bearer: &str) -> Result<Identity> {
        if bearer.starts_with(ACCESS_PREFIX) {
            let access = self.authenticate_token(bearer).await?;
            return Ok(Identity {
                account: access.account.clone(),
                scopes: access.scopes,
                rate_limit_key: access.grant.id.clone(),
                grant_id: Some(access.grant.id.clone()),
                maker: VersionMaker::program(&access.grant.id, &access.grant.client_name),
            });
        }
        let known = self.authenticate(bearer).await?;
        let (account, key, scopes) = &*known;
        Ok(Identity {
            account: account.clone(),
            scopes: *scopes,
            rate_limit_key: key.id.clone(),
            grant_id: key.grant_id.clone(),
            maker: VersionMaker::api_key(&key.id, &key.name),
        })
    }

    /// The creator of something that ends with its credential, if that is still valid. Not cached, so that revocation
    /// takes effect at once.
    pub(crate) async fn authenticate_creator(
        &self,
        principal: &str,
        grant_id: Option<&str>,
    ) -> Result<Option<Identity>> {
        if grant_id == Some(principal) {
            let found = self.store.find_live_grant(principal, self.now()).await?;
            let ours = |grant: &Grant| resource::is_ours(&self.hosts.base.url(), &grant.resource);
            return Ok(found.filter(|(_, grant)| ours(grant)).map(|(account, grant)| Identity {
                account,
                scopes: grant.scopes,
                rate_limit_key: grant.id.clone(),
                maker: VersionMaker::program(&grant.id, &grant.client_name),
                grant_id: Some(grant.id),
            }));
        }
        let found = self.store.find_key_by_id(principal, self.now()).await?;
        Ok(found.map(|(account, key, scopes)| Identity {
            account,
            scopes,
            maker: VersionMaker::api_key(&key.id, &key.name),
            rate_limit_key: key.id,
            grant_id: key.grant_id,
        }))
    }

    async fn authenticate_token(&self, token: &str) -> Result<Arc<AccessRow>> {
        let bad = || {
            let detail =
                "The access token is unknown, revoked or expired. Refresh it or request access again.";
            Error::new(Code::InvalidCredential, detail)
        };
        if !OAuthTokenKind::Access.fits(token) {
            return Err(bad());
        }
        let (hash, now) = (secret::hash(token), self.clock.monotonic());
        if let Some(known) = self.caches.access_tokens.find(&hash, now)
            && known.expires_at > self.now()
        {
            return Ok(known);
        }
        let before = self.caches.access_tokens.read_mark(now);
        let access = self.store.find_access(&hash, self.now()).await?.ok_or_else(bad)?;
        // A token for another of our URLs, or for a former one, is not valid here.
        if !resource::is_ours(&self.hosts.base.url(), &access.grant.resource) {
            return Err(bad());
        }
        if access.replaced_at.is_some() {
            // It was replaced as lost, yet it is in use: treat it as stolen.
            self.end_grant(&access.grant.id).await?;
            return Err(bad());
        }
        self.record_token_use(&hash, &access).await?;
        let known = Arc::new(access);
        self.caches.access_tokens.insert(&hash, Arc::clone(&known), before);
        Ok(known)
    }

    /// The first use of a token decides whether its refresh token may be used again, so it is written before the request
    /// continues. The last use of a grant is written at most once a minute.
    async fn record_token_use(&self, hash: &[u8; 32], access: &AccessRow) -> Result<()> {
        let now = self.now();
        let mut stmts = Vec::new();
        if access.used_at.is_none() {
            stmts.push(oauth_tokens::note_use(hash, now));
        }
        if access.grant.last_used_at.is_none_or(|at| at <= now - 60) {
            stmts.push(oauth_grants::touch(&access.grant.id, now, now - 60));
        }
        if !stmts.is_empty() {
            self.store.commit(stmts).await?;
        }
        Ok(())
    }
}
