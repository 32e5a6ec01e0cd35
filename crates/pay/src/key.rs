//! The unique key of a payment, whatever protocol carries it: the database enforces its uniqueness, so that no payment is used
//! twice. For x402 v1, v2 and MPP it is derived from what the chain itself executes only once.

use std::fmt;

use crate::address::EvmAddress;
use crate::hex;
use crate::network::{Cluster, Network};

/// The unique key of a payment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PaymentKey(String);

impl PaymentKey {
    /// For an EIP-3009 authorization: a token accepts each nonce of a payer only once.
    pub fn eip3009(chain_id: u64, token: EvmAddress, from: EvmAddress, nonce: &[u8; 32]) -> Self {
        let network = Network::Evm(chain_id);
        Self(format!("{network}|{}|{}|{}", token.to_lower(), from.to_lower(), hex::show(nonce)))
    }

    /// For a Solana transaction: the SHA-256 of its message.
    pub fn solana(cluster: Cluster, message_hash: &[u8; 32]) -> Self {
        Self(format!("{}|{}", Network::Solana(cluster), bs58::encode(message_hash).into_string()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PaymentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_written_in_lower_case() {
        let address = |text| EvmAddress::parse(text).unwrap();
        let token = address("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913");
        let from = address("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
        let expected = "eip155:8453|0x833589fcd6edb6e08f4c7c32d4f71b54bda02913|0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266|0xabababababababababababababababababababababababababababababababab";
        assert_eq!(PaymentKey::eip3009(8453, token, from, &[0xab; 32]).as_str(), expected);
        let solana = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1|11111111111111111111111111111111";
        assert_eq!(PaymentKey::solana(Cluster::Devnet, &[0; 32]).to_string(), solana);
    }
}
