//! Payments on EVM chains: EIP-3009 authorizations signed under EIP-712.

mod authorization;
mod signature;
mod transfer;
mod word;

pub(crate) use authorization::padded;
use authorization::{Authorization, Domain};
#[cfg(feature = "test-payer")]
pub(crate) use signature::address_of;
pub(crate) use signature::{Signature, recover};
pub(crate) use transfer::{Margins, SignedTransfer};
use word::Decimal;
