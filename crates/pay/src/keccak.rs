//! Keccak-256, the hash function of EVM chains.

use sha3::{Digest, Keccak256};

/// Keccak-256 of the concatenated parts.
pub(crate) fn keccak(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Keccak256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}
