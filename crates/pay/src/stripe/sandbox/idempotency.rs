//! Answers that are kept under the `Idempotency-Key` of their request, so that a repeated request changes nothing.

use std::fmt;

use dropleaf_core::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::api_error::ApiError;
use super::stored::{ObjectKind, Record};
use super::transaction::Transaction;

const LONGEST_KEY: usize = 255;
/// After this time a key may be used again.
const KEPT_SECONDS: u64 = 24 * 60 * 60;

/// The key of a request, with a fingerprint of its parameters.
#[derive(Debug, Clone)]
pub(super) struct IdempotencyKey {
    pub(super) id: String,
    fingerprint: String,
}

/// An answer that was given before.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct IdempotentAnswer {
    id: String,
    fingerprint: String,
    created: i64,
    pub(super) status: u16,
    pub(super) body: String,
}

impl IdempotencyKey {
    /// Keys are stored as hashes: they have any characters and may be long.
    pub(super) fn new(key: &str, fingerprint: String) -> Result<Self, ApiError> {
        if !(1..=LONGEST_KEY).contains(&key.len()) {
            return Err(ApiError::invalid(None, "An idempotency key has 1 to 255 characters."));
        }
        Ok(Self { id: hex::encode(&Sha256::digest(key)), fingerprint })
    }

    /// The answer to an earlier request with this key; an error if that request was another one.
    pub(super) fn find_answer(
        &self,
        transaction: &Transaction<'_>,
    ) -> Result<Option<IdempotentAnswer>, ApiError> {
        let answer: Option<IdempotentAnswer> = transaction.load(&self.id)?;
        match answer.filter(|answer| answer.created.abs_diff(transaction.now()) < KEPT_SECONDS) {
            Some(answer) if answer.fingerprint != self.fingerprint => Err(ApiError::key_reused()),
            answer => Ok(answer),
        }
    }

    pub(super) fn keep(
        self,
        transaction: &mut Transaction<'_>,
        status: u16,
        body: &str,
    ) -> Result<(), ApiError> {
        let created = transaction.now();
        let body = body.to_owned();
        transaction.save(&IdempotentAnswer {
            id: self.id,
            fingerprint: self.fingerprint,
            created,
            status,
            body,
        })
    }
}

impl Record for IdempotentAnswer {
    const KIND: ObjectKind = ObjectKind::IdempotentAnswer;

    fn id(&self) -> &str {
        &self.id
    }
}

/// Keeps tokens out of logs: an answer may hold one.
impl fmt::Debug for IdempotentAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdempotentAnswer").field("status", &self.status).finish_non_exhaustive()
    }
}
