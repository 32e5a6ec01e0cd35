//! One way to pay a price: network, token, recipient and amount, with its JSON in x402 v1 and v2.

use serde_json::{Value, json};

use crate::address::{Address, EvmAddress, SolanaAddress};
use crate::amount::Amount;
use crate::generation::Generation;
use crate::json::{self, Object};
use crate::network::{Cluster, Network};

pub(crate) const SCHEME: &str = "exact";

/// A token on an EVM chain. Name and version are those of its EIP-712 domain, which signatures depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub address: EvmAddress,
    pub name: String,
    pub version: String,
}

/// A token on Solana, and who pays the fees of transactions that transfer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mint {
    pub address: SolanaAddress,
    /// The decimals that a transfer must state; not checked if unknown.
    pub decimals: Option<u8>,
    pub fee_payer: SolanaAddress,
    /// A memo that the transaction must contain.
    pub memo: Option<String>,
}

/// The part of an offer that depends on the kind of chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asset {
    Evm { chain_id: u64, token: Token, pay_to: EvmAddress },
    Solana { cluster: Cluster, mint: Mint, pay_to: SolanaAddress },
}

/// What is paid for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// The absolute URL of the endpoint.
    pub url: String,
    pub description: String,
    pub mime_type: String,
}

/// One way to pay, as listed in the terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    pub asset: Asset,
    pub amount: Amount,
    pub max_timeout_seconds: u32,
    /// Whether it is shown to v1 and to v2 clients: a facilitator may support only one version.
    pub v1: bool,
    pub v2: bool,
}

impl Token {
    /// USDC on the chains whose EIP-712 domain is known: its name differs between Base and Base Sepolia.
    pub fn usdc(chain_id: u64) -> Option<Self> {
        let (address, name) = match chain_id {
            8453 => ("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USD Coin"),
            84532 => ("0x036CbD53842c5426634e7929541eC2318f3dCF7e", "USDC"),
            _ => return None,
        };
        Some(Self { address: EvmAddress::parse(address)?, name: name.to_owned(), version: "2".to_owned() })
    }
}

impl Mint {
    /// USDC, with fees paid by `fee_payer`.
    pub fn usdc(cluster: Cluster, fee_payer: SolanaAddress) -> Option<Self> {
        let address = match cluster {
            Cluster::Mainnet => "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
            Cluster::Devnet => "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
            Cluster::Testnet => return None,
        };
        Some(Self { address: SolanaAddress::parse(address)?, decimals: Some(6), fee_payer, memo: None })
    }
}

impl Offer {
    pub fn new(asset: Asset, amount: Amount, max_timeout_seconds: u32) -> Self {
        Self { asset, amount, max_timeout_seconds, v1: true, v2: true }
    }

    pub fn network(&self) -> Network {
        match &self.asset {
            Asset::Evm { chain_id, .. } => Network::Evm(*chain_id),
            Asset::Solana { cluster, .. } => Network::Solana(*cluster),
        }
    }

    /// The address of the token.
    pub fn token(&self) -> Address {
        match &self.asset {
            Asset::Evm { token, .. } => Address::Evm(token.address),
            Asset::Solana { mint, .. } => Address::Solana(mint.address),
        }
    }

    pub fn pay_to(&self) -> Address {
        match &self.asset {
            Asset::Evm { pay_to, .. } => Address::Evm(*pay_to),
            Asset::Solana { pay_to, .. } => Address::Solana(*pay_to),
        }
    }

    /// Whether clients of this version are shown it. A network without a v1 name cannot be offered in v1.
    pub fn is_shown_to(&self, generation: Generation) -> bool {
        match generation {
            Generation::V1 => self.v1 && self.network().v1_name().is_some(),
            Generation::V2 => self.v2,
        }
    }

    /// The entry of `accepts` in v2.
    pub fn v2_json(&self) -> Value {
        json!({
            "scheme": SCHEME,
            "network": self.network().to_string(),
            "amount": self.amount.to_string(),
            "asset": self.token().to_string(),
            "payTo": self.pay_to().to_string(),
            "maxTimeoutSeconds": self.max_timeout_seconds,
            "extra": self.extra(),
        })
    }

    /// The entry of `accepts` in v1; `None` where v1 has no name for the network.
    pub fn v1_json(&self, resource: &Resource, output_schema: Option<Value>) -> Option<Value> {
        let mut entry = json!({
            "scheme": SCHEME,
            "network": self.network().v1_name()?,
            "maxAmountRequired": self.amount.to_string(),
            "resource": resource.url,
            "description": resource.description,
            "mimeType": resource.mime_type,
            "payTo": self.pay_to().to_string(),
            "maxTimeoutSeconds": self.max_timeout_seconds,
            "asset": self.token().to_string(),
            "extra": self.extra(),
        });
        // Omitted rather than null when there is none: v1 clients reject the whole response over a null.
        if let (Some(schema), Some(members)) = (output_schema, entry.as_object_mut()) {
            members.insert("outputSchema".to_owned(), schema);
        }
        Some(entry)
    }

    fn extra(&self) -> Object {
        json::into_object(match &self.asset {
            Asset::Evm { token, .. } => json!({ "name": token.name, "version": token.version }),
            Asset::Solana { mint, .. } => match &mint.memo {
                Some(memo) => json!({ "feePayer": mint.fee_payer.to_string(), "memo": memo }),
                None => json!({ "feePayer": mint.fee_payer.to_string() }),
            },
        })
    }

    /// Whether the offer that a v2 client says it accepted is this one. The client may add to `extra`, and write EVM addresses in
    /// any case; everything else must be exactly as we sent it.
    pub(crate) fn is_accepted_as(&self, accepted: &Object) -> bool {
        let has = |name: &str, value: &str| accepted.get(name).and_then(Value::as_str) == Some(value);
        let address = |name: &str| accepted.get(name).and_then(Value::as_str).and_then(Address::parse);
        let sent_extra = accepted.get("extra").and_then(Value::as_object);
        has("scheme", SCHEME)
            && has("network", &self.network().to_string())
            && has("amount", &self.amount.to_string())
            && address("asset") == Some(self.token())
            && address("payTo") == Some(self.pay_to())
            && accepted.get("maxTimeoutSeconds").and_then(Value::as_u64)
                == Some(self.max_timeout_seconds.into())
            && self
                .extra()
                .iter()
                .all(|(name, value)| sent_extra.and_then(|extra| extra.get(name)) == Some(value))
    }
}
