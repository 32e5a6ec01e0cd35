//! Creates, lists and revokes API keys, and authenticates requests by key.

use crate::accounts::oauth::Identity;
use crate::accounts::suspension::require_active_account;
use crate::app::{App, CREDENTIAL_CHANGED_PREFIX};
use crate::infra::row_cache::RowCache;
use crate::publish::idempotency::{FirstOrReplay, IdempotentRequest, IdempotentResult, StoredOutcome};
use dropleaf_core::account::Account;
use dropleaf_core::api_key::{self, ApiKey};
use dropleaf_core::scope::Scopes;
use dropleaf_core::{Code, Error, Result, secret};
use dropleaf_store::{DbError, Stmt, api_keys, counters, idempotency, mcp_sessions, oauth_grants};
use std::fmt;
use std::sync::Arc;
use tokio::sync::broadcast::{self, error::RecvError};

/// Accounts by the hash of an API key, with the key and its scopes.
pub(crate) type KeyCache = RowCache<[u8; 32], (Account, ApiKey, Scopes)>;

/// Upper bound on the length of an id.
const ID_BYTES: usize = 64;

/// A newly created key; its secret is available only here.
pub struct NewKey {
    pub key: ApiKey,
    pub secret: String,
}

/// Keeps the secret out of logs, whatever struct the key is part of.
impl fmt::Debug for NewKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewKey").field("key", &self.key).finish_non_exhaustive()
    }
}

/// Who creates a key: the account itself, or an OAuth client, whose key gets the scopes of its token and ends with its
/// grant.
#[derive(Debug, Clone, Copy)]
pub struct KeyCreator<'a> {
    pub grant_id: Option<&'a str>,
    pub scopes: Scopes,
}

/// Change notifications for one credential; those of other credentials are filtered out.
#[derive(Debug)]
pub struct CredentialChanges {
    /// Ids of the key or grant itself, the grant it was created under, and the account.
    names: Vec<String>,
    ended: broadcast::Receiver<Arc<str>>,
}

impl CredentialChanges {
    /// Waits for the next change. False when there will be no more.
    pub async fn next(&mut self) -> bool {
        loop {
            match self.ended.recv().await {
                Ok(credential_id)
                    if credential_id.is_empty() || self.names.iter().any(|name| **name == *credential_id) =>
                {
                    return true;
                }
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => return true,
                Err(RecvError::Closed) => return false,
            }
        }
    }

    /// Discards the notifications received so far.
    pub fn skip(&mut self) {
        self.ended = self.ended.resubscribe();
    }
}

impl App {
    /// The account of a bearer key, possibly from the cache: plan and name are current, counters may lag. A key with a
    /// wrong checksum is rejected without a database query.
    pub(crate) async fn authenticate(&self, key: &str) -> Result<Arc<(Account, ApiKey, Scopes)>> {
        if !secret::is_well_formed(secret::KEY_PREFIX, key) {
            return Err(Error::plain(Code::InvalidCredential));
        }
        let (hash, now) = (secret::hash(key), self.clock.monotonic());
        if let Some(known) = self.caches.api_keys.find(&hash, now) {
            return Ok(known);
        }
        let before = self.caches.api_keys.read_mark(now);
        let found = self.store.find_key(&hash, self.now()).await?;
        let (account, key, scopes) = found.ok_or_else(|| Error::plain(Code::InvalidCredential))?;
        self.record_key_use(&key).await;
        let known = Arc::new((account, key, scopes));
        self.caches.api_keys.insert(&hash, Arc::clone(&known), before);
        Ok(known)
    }

    /// Commits a change that alters or revokes what a key or token may do. It takes effect at once on this node, and on
    /// other nodes when they receive the notification. `credential_id` is the id of the key, grant or account that changed.
    pub(crate) async fn commit_credential_change(
        &self,
        credential_id: &str,
        stmts: Vec<Stmt>,
    ) -> Result<(), DbError> {
        // `credential_id` may be untrusted input and not an id; bound the length of the notification.
        let (credential_id, _) = credential_id.split_at(credential_id.floor_char_boundary(ID_BYTES));
        let outcome = self
            .store
            .commit_changed(stmts, vec![format!("{CREDENTIAL_CHANGED_PREFIX}{credential_id}")])
            .await;
        // Also after a failure: if the connection was lost, the commit may have succeeded.
        self.evict_credentials(credential_id);
        outcome
    }

    /// `credential_id` as in `commit_credential_change`; empty if any credential may have changed.
    pub(crate) fn evict_credentials(&self, credential_id: &str) {
        self.caches.api_keys.clear();
        self.caches.access_tokens.clear();
        // It is not an error if there are no subscribers.
        let _ = self.caches.credential_changes.send(credential_id.into());
    }

    /// Subscribes to changes that may have revoked this credential, so that long-running work can check it again.
    pub fn credential_changes(&self, who: &Identity) -> CredentialChanges {
        let names = [Some(&who.rate_limit_key), who.grant_id.as_ref(), Some(&who.account.id)];
        let names = names.into_iter().flatten().cloned().collect();
        CredentialChanges { names, ended: self.caches.credential_changes.subscribe() }
    }

    /// Writes `last_used` at most once a minute. A failure is only logged, so that it never fails a request.
    async fn record_key_use(&self, key: &ApiKey) {
        let now = self.now();
        if key.last_used.is_some_and(|at| at > now - 60) {
            return;
        }
        if let Err(error) = self.store.commit(vec![api_keys::touch(&key.id, now, now - 60)]).await {
            tracing::warn!(%error, key = key.id, "API key last use not recorded");
        }
    }

    pub async fn create_key(
        &self,
        account: &Account,
        name: Option<&str>,
        once: Option<&IdempotentRequest>,
        render: impl FnOnce(&NewKey) -> Vec<u8>,
    ) -> Result<IdempotentResult<NewKey>> {
        let owner = KeyCreator { grant_id: None, scopes: Scopes::ALL };
        self.create_key_for(account, owner, name, once, render).await
    }

    /// Like [`App::create_key`], for an OAuth client that acts for the account.
    pub async fn create_key_for(
        &self,
        account: &Account,
        maker: KeyCreator<'_>,
        name: Option<&str>,
        once: Option<&IdempotentRequest>,
        render: impl FnOnce(&NewKey) -> Vec<u8>,
    ) -> Result<IdempotentResult<NewKey>> {
        let name = api_key::name(name)?;
        let _guard = match self.begin_idempotent(once).await? {
            FirstOrReplay::Replay(outcome, body) => return Ok(IdempotentResult::Replayed { outcome, body }),
            FirstOrReplay::First(guard) => guard,
        };
        let new = self.mint_key(&account.id, maker, name);
        // No key is created for an OAuth client whose grant is being revoked.
        let mut stmts: Vec<Stmt> =
            maker.grant_id.into_iter().map(|id| oauth_grants::require_live(id, new.key.created_at)).collect();
        stmts.push(counters::lock_account(&account.id, new.key.created_at));
        stmts.push(api_keys::insert(&new.key, &secret::hash(&new.secret)));
        if let Some(once) = once {
            stmts.push(self.store_response(once, StoredOutcome::Created, &render(&new))?);
        }
        match (self.commit_for_account(&account.id, stmts).await, once) {
            (Ok(_), _) => Ok(IdempotentResult::New(new)),
            (Err(DbError::Guard(idempotency::ANSWERED)), Some(once)) => self.replay_response(once).await,
            (Err(DbError::Guard(oauth_grants::DEAD)), _) => Err(Error::plain(Code::InvalidCredential)),
            (Err(DbError::Guard(api_keys::FULL)), _) => Err(api_key::too_many()),
            (Err(error), _) => Err(error.into()),
        }
    }

    /// A key with a new secret, which is not stored yet.
    pub(crate) fn mint_key(&self, account_id: &str, maker: KeyCreator<'_>, name: String) -> NewKey {
        let secret = self.minter.api_key();
        let key = ApiKey {
            id: self.minter.id("key"),
            account_id: account_id.to_owned(),
            name,
            prefix: secret::shown_prefix(&secret).to_owned(),
            created_at: self.now(),
            last_used: None,
            grant_id: maker.grant_id.map(str::to_owned),
            scopes: maker.scopes,
        };
        NewKey { key, secret }
    }

    /// The account's keys, or only those created by one OAuth client.
    pub async fn list_keys(&self, account: &Account, grant_id: Option<&str>) -> Result<Vec<ApiKey>> {
        Ok(self.store.list_keys(&account.id, grant_id).await?)
    }

    /// Revokes a key of the account. An OAuth client can revoke only keys that it created itself.
    pub async fn revoke_key(&self, account: &Account, grant_id: Option<&str>, id: &str) -> Result<()> {
        let stmts = vec![api_keys::delete(&account.id, grant_id, id), mcp_sessions::delete_of_key(id)];
        match self.commit_credential_change(id, require_active_account(Some(&account.id), stmts)).await {
            Ok(()) => Ok(()),
            Err(DbError::Guard(api_keys::UNKNOWN)) => Err(Error::not_found("API key")),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown_with_its_key() {
        let key = ApiKey {
            id: "key_1".into(),
            account_id: "acct_1".into(),
            name: "API key".into(),
            prefix: "stk_live_0Qm1".into(),
            created_at: 1,
            last_used: None,
            grant_id: None,
            scopes: Scopes::ALL,
        };
        let shown = format!("{:?}", NewKey { key, secret: "hunter2".into() });
        assert!(shown.contains("key_1") && !shown.contains("hunter2"), "{shown}");
    }
}
