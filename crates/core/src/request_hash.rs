//! The hash that tells whether two requests ask for the same: a repeated `Idempotency-Key`, payment or upload address gets the
//! first response again only with the same request. Callers hash large bodies themselves and add the digest.

use sha2::{Digest, Sha256};

/// Built from named fields. Every part is hashed with its length, so that different requests never hash the same bytes.
#[derive(Debug, Clone)]
#[must_use]
pub struct RequestHash(Sha256);

impl RequestHash {
    /// For one kind of request, such as `share-tokens`.
    pub fn new(kind: &str) -> Self {
        Self(Sha256::new()).part(kind.as_bytes())
    }

    pub fn field(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.part(name.as_bytes()).part(value.as_ref())
    }

    /// A field that differs from an empty one if it is absent.
    pub fn option(self, name: &str, value: Option<impl AsRef<[u8]>>) -> Self {
        match value {
            Some(value) => self.field(name, value),
            None => self,
        }
    }

    pub fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }

    fn part(mut self, bytes: &[u8]) -> Self {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_fields_have_the_same_hash() {
        let hash = || RequestHash::new("a").field("name", "x").option("note", Some("y")).finish();
        assert_eq!(hash(), hash());
    }

    #[test]
    fn requests_that_differ_in_anything_have_different_hashes() {
        let none = None::<&str>;
        let all = [
            RequestHash::new("a"),
            RequestHash::new("b"),
            RequestHash::new("a").field("name", ""),
            RequestHash::new("a").field("name", "x"),
            RequestHash::new("a").field("namex", ""),
            RequestHash::new("a").field("name", "xy"),
            RequestHash::new("a").field("name", "x").field("name", "y"),
            RequestHash::new("a").option("note", none).field("name", "x\0y"),
            RequestHash::new("a").option("note", Some("")),
        ];
        let hashes: std::collections::BTreeSet<_> = all.iter().map(|hash| hash.clone().finish()).collect();
        assert_eq!(hashes.len(), all.len());
        assert_eq!(RequestHash::new("a").option("note", none).finish(), RequestHash::new("a").finish());
    }
}
