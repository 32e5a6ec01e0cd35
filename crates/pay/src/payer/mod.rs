//! Wallets for tests: they sign proofs for our terms as clients do, and tests may tamper with them before sending.
//! Keys and nonces are parameters, so every proof is reproducible.

mod evm;
mod mandate;
mod mpp;
mod solana;

use dropleaf_core::base64;
use serde_json::{Value, json};

use crate::generation::Generation;
use crate::offer::{Offer, Resource, SCHEME};
use crate::receipt::network_name;

pub use evm::EvmPayer;
pub use mandate::{Binding, ChainDraft, ContentsDraft, LinkDraft, MandateKey, disclosure};
pub use mpp::{mpp_challenge, mpp_header};
pub use solana::{Call, Draft, SolanaPayer};

/// A proof for an offer with this payload, as a client of this version writes it.
pub fn proof(offer: &Offer, resource: &Resource, generation: Generation, payload: &Value) -> Value {
    match generation {
        Generation::V1 => {
            let network = network_name(offer.network(), generation);
            json!({ "x402Version": 1, "scheme": SCHEME, "network": network, "payload": payload })
        }
        Generation::V2 => json!({
            "x402Version": 2, "resource": { "url": resource.url }, "accepted": offer.v2_json(), "payload": payload,
        }),
    }
}

/// The value of the header that carries a proof.
pub fn header(proof: &Value) -> String {
    base64::encode(proof.to_string().as_bytes())
}
