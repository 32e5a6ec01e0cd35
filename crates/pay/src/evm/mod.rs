//! Payments on EVM chains: EIP-3009 authorizations signed under EIP-712.

mod authorization;
mod signature;
mod transfer;
mod word;

use sha3::{Digest, Keccak256};

pub(crate) use authorization::padded;
use authorization::{Authorization, Domain};
#[cfg(feature = "test-payer")]
pub(crate) use signature::address_of;
pub(crate) use signature::{Signature, recover};
pub(crate) use transfer::{Margins, SignedTransfer};
use word::Decimal;

/// Keccak-256 of the concatenated parts.
pub(crate) fn keccak(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Keccak256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}
