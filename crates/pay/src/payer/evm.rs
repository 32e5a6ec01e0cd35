//! A test wallet on EVM chains.

use k256::ecdsa::SigningKey;
use serde_json::{Value, json};

use crate::address::EvmAddress;
use crate::evm::{SignedTransfer, address_of};
use crate::hex;
use crate::json;
use crate::offer::{Asset, Offer};
use crate::wallet;

/// A secret key and its address.
#[derive(Debug, Clone)]
pub struct EvmPayer {
    key: SigningKey,
    pub address: EvmAddress,
}

impl EvmPayer {
    /// `None` if the bytes are not a valid key.
    pub fn new(secret: &[u8; 32]) -> Option<Self> {
        let key = SigningKey::from_slice(secret).ok()?;
        let address = address_of(key.verifying_key())?;
        Some(Self { key, address })
    }

    /// The payload of a proof that pays an offer and is valid between two moments. `None` for an offer on Solana.
    pub fn payload(
        &self,
        offer: &Offer,
        nonce: [u8; 32],
        valid_after: i64,
        valid_before: i64,
    ) -> Option<Value> {
        let Asset::Evm { chain_id, token, pay_to } = &offer.asset else { return None };
        let mut payload = json!({
            "signature": "0x",
            "authorization": {
                "from": self.address.to_string(),
                "to": pay_to.to_string(),
                "value": offer.amount.to_string(),
                "validAfter": valid_after.to_string(),
                "validBefore": valid_before.to_string(),
                "nonce": hex::show(&nonce),
            },
        });
        let transfer = SignedTransfer::read(&json::into_object(payload.clone())).ok()?;
        let signature = self.sign(&transfer.digest(*chain_id, token));
        payload.as_object_mut()?.insert("signature".to_owned(), signature.into());
        Some(payload)
    }

    /// The result of `personal_sign`.
    pub fn sign_message(&self, message: &str) -> String {
        self.sign(&wallet::digest(message))
    }

    fn sign(&self, digest: &[u8; 32]) -> String {
        let (signature, parity) = self.key.sign_prehash_recoverable(digest);
        let v = if parity.is_y_odd() { 28 } else { 27 };
        hex::show(&[signature.to_bytes().as_slice(), &[v]].concat())
    }
}
