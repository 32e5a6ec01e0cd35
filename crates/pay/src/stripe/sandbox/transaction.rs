//! One run of the sandbox: objects that were found, objects to write, events to send and new ids.

use serde_json::Value;
use sha2::{Digest, Sha512};

use super::api_error::ApiError;
use super::stored::{ObjectKey, Record};
use super::webhook_event::{self, WebhookEvent};
use super::{Context, StoredObject};

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Collects the effects of a run. They hold even if the run ends with an error: a declined payment is stored too.
#[derive(Debug)]
pub(super) struct Transaction<'a> {
    context: &'a Context<'a>,
    found: &'a [StoredObject],
    ids: u64,
    pub(super) writes: Vec<StoredObject>,
    pub(super) events: Vec<WebhookEvent>,
}

impl<'a> Transaction<'a> {
    pub(super) fn new(found: &'a [StoredObject], context: &'a Context<'a>) -> Self {
        Self { context, found, ids: 0, writes: Vec::new(), events: Vec::new() }
    }

    pub(super) fn now(&self) -> i64 {
        self.context.now
    }

    pub(super) fn form_url(&self) -> &str {
        self.context.form_url
    }

    /// An object as it is now, including what this run wrote.
    pub(super) fn load<R: Record>(&self, id: &str) -> Result<Option<R>, ApiError> {
        let is_it = |object: &&StoredObject| object.key.kind == R::KIND && object.key.id == id;
        let object = self.writes.iter().find(is_it).or_else(|| self.found.iter().find(is_it));
        object.map(|it| serde_json::from_str(&it.json).map_err(|_| ApiError::internal())).transpose()
    }

    pub(super) fn save<R: Record>(&mut self, record: &R) -> Result<(), ApiError> {
        let key = ObjectKey::new(R::KIND, record.id());
        let json = serde_json::to_string(record).map_err(|_| ApiError::internal())?;
        // However often a run changes an object, it is written once.
        if let Some(write) = self.writes.iter_mut().find(|write| write.key == key) {
            write.json = json;
            return Ok(());
        }
        let found = self.found.iter().find(|object| object.key == key);
        let version = found.map_or(0, |object| object.version).saturating_add(1);
        self.writes.push(StoredObject { key, version, json });
        Ok(())
    }

    /// Announces what happened to an object.
    pub(super) fn emit(&mut self, kind: &'static str, object: &Value) {
        let id = self.new_id("evt_1", 24);
        self.events.push(webhook_event::new(id, kind, object, self.context.now));
    }

    /// A new id: the prefix and so many letters and digits.
    pub(super) fn new_id(&mut self, prefix: &str, len: usize) -> String {
        self.ids = self.ids.saturating_add(1);
        let seed = [self.context.random.as_slice(), &self.ids.to_be_bytes()].concat();
        derived_id(prefix, len, &seed)
    }
}

/// An id that depends on the seed alone; at most 64 characters after the prefix.
pub(super) fn derived_id(prefix: &str, len: usize, seed: &[u8]) -> String {
    let hash = Sha512::digest(seed);
    let letters = hash.iter().take(len).filter_map(|byte| ALPHABET.get(usize::from(*byte % 62)));
    prefix.chars().chain(letters.map(|letter| char::from(*letter))).collect()
}
