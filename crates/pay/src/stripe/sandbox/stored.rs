//! Objects as the caller stores them: JSON text under an id, with a version for optimistic locking.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The type of a stored object. Ids are unique within a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectKind {
    CheckoutSession,
    /// A payment intent with its charge, refunds and dispute.
    Payment,
    GrantedToken,
    IdempotentAnswer,
}

impl ObjectKind {
    pub const ALL: [Self; 4] =
        [Self::CheckoutSession, Self::Payment, Self::GrantedToken, Self::IdempotentAnswer];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CheckoutSession => "checkout_session",
            Self::Payment => "payment",
            Self::GrantedToken => "granted_token",
            Self::IdempotentAnswer => "idempotent_answer",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// What a stored object is found by.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey {
    pub kind: ObjectKind,
    pub id: String,
}

/// A stored object, found or to be written.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredObject {
    pub key: ObjectKey,
    /// To write version 1, insert it, on condition that there is none; to write any later version, replace the one before, on
    /// condition that it is still there.
    pub version: u64,
    pub json: String,
}

/// Something that is stored as an object.
pub(super) trait Record: Serialize + DeserializeOwned {
    const KIND: ObjectKind;

    fn id(&self) -> &str;
}

impl ObjectKey {
    pub(super) fn new(kind: ObjectKind, id: &str) -> Self {
        Self { kind, id: id.to_owned() }
    }
}

/// Keeps tokens out of logs: the id of a granted token is the token.
impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = if self.kind == ObjectKind::GrantedToken { "hidden" } else { self.id.as_str() };
        f.debug_struct("ObjectKey").field("kind", &self.kind).field("id", &id).finish()
    }
}

/// Keeps tokens out of logs: stored answers may hold one.
impl fmt::Debug for StoredObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredObject")
            .field("key", &self.key)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_read_back() {
        assert!(ObjectKind::ALL.into_iter().all(|kind| ObjectKind::parse(kind.as_str()) == Some(kind)));
        assert_eq!(ObjectKind::parse("charge"), None);
    }

    #[test]
    fn tokens_are_not_logged() {
        let key = ObjectKey::new(ObjectKind::GrantedToken, "spt_secret");
        let object = StoredObject { key, version: 1, json: "spt_secret".to_owned() };
        assert!(!format!("{object:?}").contains("secret"));
    }
}
