//! API keys: made, listed, revoked, and recognised on every request.

use crate::app::{App, KEYS_CHANGED};
use crate::fresh::Fresh;
use crate::idempotency::{Done, Entry, Once};
use crate::oauth::Identity;
use crate::suspension::in_name_of;
use dropleaf_core::account::Account;
use dropleaf_core::api_key::{self, ApiKey};
use dropleaf_core::scope::Scopes;
use dropleaf_core::{Code, Error, Result, secret};
use dropleaf_store::{DbError, Stmt, api_keys, idempotency, mcp_sessions, oauth_grants};
use std::fmt;
use std::sync::Arc;
use tokio::sync::broadcast::{self, error::RecvError};

/// Accounts by the hash of a key of theirs, and what the key allows.
pub(crate) type Keyring = Fresh<[u8; 32], (Account, ApiKey, Scopes)>;

/// No id is longer.
const ID_BYTES: usize = 64;

/// A key at the one moment its secret is known.
pub struct NewKey {
    pub key: ApiKey,
    pub secret: String,
}

/// No log shows the secret, whatever the key is part of.
impl fmt::Debug for NewKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewKey").field("key", &self.key).finish_non_exhaustive()
    }
}

/// Who makes a key: the account itself, or a program, whose key can do what its token can and ends with its grant.
#[derive(Debug, Clone, Copy)]
pub struct KeyMaker<'a> {
    pub grant_id: Option<&'a str>,
    pub scopes: Scopes,
}

/// What one credential hears of changes. Those of others do not concern it.
#[derive(Debug)]
pub struct CredentialChanges {
    /// The key or the grant itself, the grant it was made under, and the account.
    names: Vec<String>,
    ended: broadcast::Receiver<Arc<str>>,
}

impl CredentialChanges {
    /// Waits for one. False when there will be no more.
    pub async fn next(&mut self) -> bool {
        loop {
            match self.ended.recv().await {
                Ok(whose) if whose.is_empty() || self.names.iter().any(|name| **name == *whose) => {
                    return true;
                }
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => return true,
                Err(RecvError::Closed) => return false,
            }
        }
    }

    /// Those up to now are done with.
    pub fn skip(&mut self) {
        self.ended = self.ended.resubscribe();
    }
}

impl App {
    /// The account behind a bearer key, as it stood a moment ago: its plan and its name are right, its counts may be
    /// behind. A key with a wrong checksum is refused without asking the database.
    pub(crate) async fn authenticate(&self, key: &str) -> Result<Arc<(Account, ApiKey, Scopes)>> {
        if !secret::is_well_formed(secret::KEY_PREFIX, key) {
            return Err(Error::plain(Code::InvalidCredential));
        }
        let (hash, now) = (secret::hash(key), self.clock.monotonic());
        if let Some(known) = self.keyring.find(&hash, now) {
            return Ok(known);
        }
        let before = self.keyring.before(now);
        let found = self.store.find_key(&hash, self.now()).await?;
        let (account, key, scopes) = found.ok_or_else(|| Error::plain(Code::InvalidCredential))?;
        self.note_use(&key).await;
        let known = Arc::new((account, key, scopes));
        self.keyring.keep(&hash, Arc::clone(&known), before);
        Ok(known)
    }

    /// Commits a change after which a key or a token opens something else, or nothing: seen at once on this node, and
    /// by the others as soon as they hear of it. `whose` is the id of the key, the grant or the account it is about.
    pub(crate) async fn commit_keys(&self, whose: &str, stmts: Vec<Stmt>) -> Result<(), DbError> {
        // It may come from outside and be no id at all; a notification must not grow long with it.
        let (whose, _) = whose.split_at(whose.floor_char_boundary(ID_BYTES));
        let outcome = self.store.commit_changed(stmts, vec![format!("{KEYS_CHANGED}{whose}")]).await;
        // Also after a failure: whether a lost connection committed is not known.
        self.forget_credentials(whose);
        outcome.map(|_| ())
    }

    /// `whose`: as above; empty when it may be anybody's.
    pub(crate) fn forget_credentials(&self, whose: &str) {
        self.keyring.clear();
        self.token_ring.clear();
        // Nobody there to hear it is no failure.
        let _ = self.credentials.send(whose.into());
    }

    /// Hears from now on when this credential may have ended: whoever goes on in its name looks again.
    pub fn credential_changes(&self, who: &Identity) -> CredentialChanges {
        let names = [Some(&who.counted_as), who.grant_id.as_ref(), Some(&who.account.id)];
        let names = names.into_iter().flatten().cloned().collect();
        CredentialChanges { names, ended: self.credentials.subscribe() }
    }

    /// `last_used` is written at most once a minute, and never in the way of a request: a failure is only logged.
    async fn note_use(&self, key: &ApiKey) {
        let now = self.now();
        if key.last_used.is_some_and(|at| at > now - 60) {
            return;
        }
        if let Err(error) = self.store.commit(vec![api_keys::touch(&key.id, now, now - 60)]).await {
            tracing::warn!(%error, key = key.id, "the use of a key could not be noted");
        }
    }

    pub async fn create_key(
        &self,
        account: &Account,
        name: Option<&str>,
        once: Option<&Once>,
        render: impl FnOnce(&NewKey) -> Vec<u8>,
    ) -> Result<Done<NewKey>> {
        let owner = KeyMaker { grant_id: None, scopes: Scopes::ALL };
        self.create_key_for(account, owner, name, once, render).await
    }

    /// The same for whoever asks in the account's name.
    pub async fn create_key_for(
        &self,
        account: &Account,
        maker: KeyMaker<'_>,
        name: Option<&str>,
        once: Option<&Once>,
        render: impl FnOnce(&NewKey) -> Vec<u8>,
    ) -> Result<Done<NewKey>> {
        let name = api_key::name(name)?;
        let _turn = match self.begin_once(once).await? {
            Entry::Again(status, body) => return Ok(Done::Again { status, body }),
            Entry::First(turn) => turn,
        };
        let secret = self.minter.api_key();
        let key = ApiKey {
            id: self.minter.id("key"),
            account_id: account.id.clone(),
            name,
            prefix: secret::shown_prefix(&secret).to_owned(),
            created_at: self.now(),
            last_used: None,
            grant_id: maker.grant_id.map(str::to_owned),
            scopes: maker.scopes,
        };
        // A key is not made for a program that is being shown out.
        let mut stmts: Vec<Stmt> =
            maker.grant_id.into_iter().map(|id| oauth_grants::require_live(id, key.created_at)).collect();
        stmts.push(api_keys::insert(&key, &secret::hash(&secret)));
        let new = NewKey { key, secret };
        if let Some(once) = once {
            stmts.push(self.record_once(once, 201, &render(&new))?);
        }
        match (self.commit_as(&account.id, stmts).await, once) {
            (Ok(_), _) => Ok(Done::Fresh(new)),
            (Err(DbError::Guard(idempotency::ANSWERED)), Some(once)) => self.answer_again(once).await,
            (Err(DbError::Guard(oauth_grants::DEAD)), _) => Err(Error::plain(Code::InvalidCredential)),
            (Err(DbError::Guard(api_keys::FULL)), _) => Err(api_key::too_many()),
            (Err(error), _) => Err(error.into()),
        }
    }

    /// Another node was faster with the same key: its answer is the answer.
    pub(crate) async fn answer_again<T>(&self, once: &Once) -> Result<Done<T>> {
        let found = self.find_again(once).await?;
        let (status, body) = found.ok_or_else(|| Error::plain(Code::IdempotencyInFlight).retry_after(1))?;
        Ok(Done::Again { status, body })
    }

    /// The account's keys, or those that one program made for itself.
    pub async fn list_keys(&self, account: &Account, grant_id: Option<&str>) -> Result<Vec<ApiKey>> {
        Ok(self.store.list_keys(&account.id, grant_id).await?)
    }

    /// Revokes a key of the account; to a program, only those that it made itself exist.
    pub async fn revoke_key(&self, account: &Account, grant_id: Option<&str>, id: &str) -> Result<()> {
        let stmts = vec![api_keys::delete(&account.id, grant_id, id), mcp_sessions::delete_of_key(id)];
        match self.commit_keys(id, in_name_of(Some(&account.id), stmts)).await {
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
