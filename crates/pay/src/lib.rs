//! Payment as a credential: what is owed, whether a proof is well formed and pays it, requests to a facilitator and the meaning
//! of its responses. Implements x402 v1 and v2, MPP, EIP-3009 and Solana, and hides all of that from its callers: they see
//! [`Terms`], [`Proof`], [`Checked`] and one [`PaymentKey`] for every way a payment can be encoded.
//! [`ap2`] verifies payment mandates, which prove consent and name the instrument to charge; [`stripe`] speaks to the card processor.
//! Pure: no clock, randomness, network or storage; no input makes it panic.

mod address;
mod amount;
pub mod ap2;
mod checked;
mod evm;
pub mod evm_trace;
mod extensions;
pub mod facilitator;
mod generation;
mod hex;
mod json;
mod keccak;
mod key;
pub mod mpp;
mod network;
mod offer;
#[cfg(feature = "test-payer")]
pub mod payer;
mod payment;
mod proof;
mod receipt;
mod refusal;
pub mod sandbox;
mod solana;
pub mod solana_trace;
pub mod stripe;
mod terms;
pub mod wallet;

pub use address::{Address, EvmAddress, SolanaAddress};
pub use amount::Amount;
pub use checked::{Checked, Recognised};
pub use extensions::{Bazaar, Example, Identifier};
pub use generation::{
    Generation, PAYMENT_REQUIRED, PAYMENT_RESPONSE, PAYMENT_SIGNATURE, X_PAYMENT, X_PAYMENT_RESPONSE,
};
pub use key::PaymentKey;
pub use network::{Cluster, Network};
pub use offer::{Asset, Mint, Offer, Resource, Token};
pub use proof::{PROOF_BYTES, Proof, parse_proof};
pub use receipt::{Outcome, Receipt};
pub use refusal::Refusal;
pub use terms::{HEADER_BYTES, Terms, TermsFault};
