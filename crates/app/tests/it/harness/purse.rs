//! A wallet for tests that pay: signs proofs for terms, each with a nonce chosen by the test.

use dropleaf_pay::payer::{self, EvmPayer, SolanaPayer};
use dropleaf_pay::{Generation, Offer, Proof, Terms};
use serde_json::{Value, json};

/// The first public development key of anvil and hardhat.
const DEVELOPMENT_KEY: &str = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
/// How long its signatures are valid.
pub(crate) const VALID_SECONDS: i64 = 180;

#[derive(Debug, Clone)]
pub(crate) struct Purse {
    pub(crate) evm: EvmPayer,
    pub(crate) solana: SolanaPayer,
    pub(crate) generation: Generation,
    /// Added to v2 proofs as the payment identifier.
    pub(crate) identifier: Option<String>,
}

impl Purse {
    pub(crate) fn new() -> Self {
        let mut key = [0; 32];
        for (at, byte) in key.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&DEVELOPMENT_KEY[at * 2..at * 2 + 2], 16).unwrap();
        }
        let (evm, solana) = (EvmPayer::new(&key).unwrap(), SolanaPayer::new(&[1; 32]));
        Self { evm, solana, generation: Generation::V2, identifier: None }
    }

    pub(crate) fn v1(self) -> Self {
        Self { generation: Generation::V1, ..self }
    }

    pub(crate) fn identified(self, identifier: &str) -> Self {
        Self { identifier: Some(identifier.to_owned()), ..self }
    }

    /// A proof of payment on the EVM network, valid from now on.
    pub(crate) fn sign(&self, terms: &Terms, nonce: u8, now: i64) -> Proof {
        Proof::parse(self.generation, &self.header(terms, nonce, now)).unwrap()
    }

    /// The same as a header value.
    pub(crate) fn header(&self, terms: &Terms, nonce: u8, now: i64) -> String {
        let offer = terms.offers().iter().find(|offer| offer.network().is_evm()).unwrap();
        let payload = self.evm.payload(offer, [nonce; 32], 0, now + VALID_SECONDS).unwrap();
        payer::header(&self.wrap(offer, terms, &payload))
    }

    /// A proof of payment on Solana.
    pub(crate) fn sign_solana(&self, terms: &Terms, blockhash: u8) -> Proof {
        Proof::parse(self.generation, &self.solana_header(terms, blockhash)).unwrap()
    }

    /// The same as a header value.
    pub(crate) fn solana_header(&self, terms: &Terms, blockhash: u8) -> String {
        let offer = terms.offers().iter().find(|offer| !offer.network().is_evm()).unwrap();
        let draft = self.solana.draft(offer, [blockhash; 32], "a test pays this").unwrap();
        let payload = self.solana.payload(&draft);
        payer::header(&self.wrap(offer, terms, &payload))
    }

    fn wrap(&self, offer: &Offer, terms: &Terms, payload: &Value) -> Value {
        let mut proof = payer::proof(offer, terms.resource(), self.generation, payload);
        if let Some(id) = self.identifier.as_ref().filter(|_| self.generation == Generation::V2) {
            let info = json!({ "required": false, "id": id });
            proof["extensions"] = json!({ "payment-identifier": { "info": info } });
        }
        proof
    }
}
