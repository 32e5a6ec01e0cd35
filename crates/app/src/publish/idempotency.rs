//! `Idempotency-Key`: the same key and request get the first response again. The response is stored in
//! the transaction of its effect, encrypted because it may contain a secret.

use crate::app::App;
use crate::infra::sealing;
use bytes::Bytes;
use dropleaf_core::{Code, Error, Result, secret};
use dropleaf_store::Stmt;
use dropleaf_store::idempotency::{self, StoredResponse};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// A request that may be repeated.
#[derive(Debug, Clone)]
pub struct IdempotentRequest {
    /// Whose key it is: an account, a grant of it, or a client network.
    pub scope: String,
    pub key: String,
    /// Hash of everything the request contains.
    pub request_hash: [u8; 32],
}

/// The result of an idempotent operation.
#[derive(Debug)]
pub enum IdempotentResult<T> {
    New(T),
    /// The first response, as it was sent.
    Replayed {
        outcome: StoredOutcome,
        body: Bytes,
    },
}

/// What the request of a stored response did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredOutcome {
    Created,
    Updated,
}

impl StoredOutcome {
    /// Its number in the column `status`. Other numbers there belong to payments.
    const fn number(self) -> i64 {
        match self {
            Self::Created => 201,
            Self::Updated => 200,
        }
    }

    fn from_number(number: i64) -> Option<Self> {
        [Self::Created, Self::Updated].into_iter().find(|outcome| outcome.number() == number)
    }
}

/// Keys in progress in this process.
#[derive(Debug, Default)]
pub(crate) struct InFlight(Mutex<HashSet<(String, String)>>);

/// Removes its key when the work ends, whether it succeeds, fails or is cancelled.
#[derive(Debug)]
pub(crate) struct InFlightGuard<'a> {
    set: &'a InFlight,
    name: (String, String),
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.set.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
    }
}

/// Whether to do the work or to repeat a response.
#[derive(Debug)]
pub(crate) enum FirstOrReplay<'a> {
    First(Option<InFlightGuard<'a>>),
    Replay(StoredOutcome, Bytes),
}

impl App {
    /// Looks up a key and reserves it in this process. A request without a key is always new.
    pub(crate) async fn begin_idempotent<'a>(
        &'a self,
        once: Option<&IdempotentRequest>,
    ) -> Result<FirstOrReplay<'a>> {
        let Some(once) = once else { return Ok(FirstOrReplay::First(None)) };
        if once.key.is_empty() || once.key.len() > 255 {
            return Err(Error::field("Idempotency-Key", "must be 1 to 255 characters"));
        }
        let name = (once.scope.clone(), once.key.clone());
        if !self
            .pending
            .idempotent_requests
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name.clone())
        {
            return Err(Error::plain(Code::IdempotencyInFlight).retry_after(1));
        }
        let guard = InFlightGuard { set: &self.pending.idempotent_requests, name };
        match self.find_stored_response(once).await? {
            Some((outcome, body)) => Ok(FirstOrReplay::Replay(outcome, body)),
            None => Ok(FirstOrReplay::First(Some(guard))),
        }
    }

    /// The stored response, if the request is the same.
    pub(crate) async fn find_stored_response(
        &self,
        once: &IdempotentRequest,
    ) -> Result<Option<(StoredOutcome, Bytes)>> {
        let horizon = self.now() - self.settings.retention.idempotency;
        let Some(found) = self.store.find_response(&once.scope, &secret::hash(&once.key), horizon).await?
        else {
            return Ok(None);
        };
        if found.request_hash != once.request_hash {
            return Err(Error::plain(Code::IdempotencyMismatch));
        }
        let outcome = StoredOutcome::from_number(found.status)
            .ok_or_else(|| Error::internal("stored response has an unknown outcome"))?;
        Ok(Some((outcome, sealing::open(self.answer_key(once), &once.request_hash, &found.sealed)?)))
    }

    /// Another node answered a request with the same idempotency key first; return its answer.
    pub(crate) async fn replay_response<T>(&self, once: &IdempotentRequest) -> Result<IdempotentResult<T>> {
        let found = self.find_stored_response(once).await?;
        let (outcome, body) = found.ok_or_else(|| Error::plain(Code::IdempotencyInFlight).retry_after(1))?;
        Ok(IdempotentResult::Replayed { outcome, body })
    }

    /// The statement that stores the response, for the transaction of its effect.
    pub(crate) fn store_response(
        &self,
        once: &IdempotentRequest,
        outcome: StoredOutcome,
        body: &[u8],
    ) -> Result<Stmt> {
        let now = self.now();
        let answer = StoredResponse {
            request_hash: once.request_hash,
            status: outcome.number(),
            sealed: sealing::seal(&self.minter, self.answer_key(once), &once.request_hash, body)?,
        };
        let horizon = now - self.settings.retention.idempotency;
        Ok(idempotency::insert(&once.scope, &secret::hash(&once.key), &answer, now, horizon))
    }

    /// Depends on the caller's idempotency key, of which only a hash is stored: the database and the server's secret
    /// together cannot decrypt the response.
    fn answer_key(&self, once: &IdempotentRequest) -> [u8; 32] {
        self.keys.mac("idempotency", format!("{}\0{}", once.scope, once.key).as_bytes())
    }
}
