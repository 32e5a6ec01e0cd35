//! A test wallet on Solana, and transactions assembled part by part.

use dropleaf_core::base64;
use ed25519_dalek::{Signer, SigningKey};
use serde_json::{Value, json};

use crate::address::SolanaAddress;
use crate::offer::{Asset, Offer};
use crate::solana::{COMPUTE_BUDGET, MEMO, TOKEN, token_account};

/// A secret key and its address.
#[derive(Debug, Clone)]
pub struct SolanaPayer {
    key: SigningKey,
    pub address: SolanaAddress,
}

/// An unsigned transaction.
#[derive(Debug, Clone)]
pub struct Draft {
    pub fee_payer: SolanaAddress,
    /// Additional required signers besides fee payer and payer: none in a valid transaction.
    pub more_signers: Vec<SolanaAddress>,
    pub writable: Vec<SolanaAddress>,
    pub calls: Vec<Call>,
    pub blockhash: [u8; 32],
    /// Without the version 0 byte and the empty list of address tables.
    pub legacy: bool,
}

/// One instruction.
#[derive(Debug, Clone)]
pub struct Call {
    pub program: SolanaAddress,
    pub accounts: Vec<SolanaAddress>,
    pub data: Vec<u8>,
}

impl SolanaPayer {
    pub fn new(secret: &[u8; 32]) -> Self {
        let key = SigningKey::from_bytes(secret);
        let address = SolanaAddress(key.verifying_key().to_bytes());
        Self { key, address }
    }

    /// The transaction that pays an offer, as the official client builds it. `None` for an offer on EVM chains.
    pub fn draft(&self, offer: &Offer, blockhash: [u8; 32], memo: &str) -> Option<Draft> {
        let Asset::Solana { mint, pay_to, .. } = &offer.asset else { return None };
        let source = token_account(self.address, mint.address, TOKEN)?;
        let destination = token_account(*pay_to, mint.address, TOKEN)?;
        let amount = offer.amount.units().to_le_bytes();
        let transfer = [&[12], amount.as_slice(), &[mint.decimals.unwrap_or(6)]].concat();
        let call = |program, accounts, data| Call { program, accounts, data };
        let calls = vec![
            call(COMPUTE_BUDGET, vec![], [&[2], 20_000_u32.to_le_bytes().as_slice()].concat()),
            call(COMPUTE_BUDGET, vec![], [&[3], 1_u64.to_le_bytes().as_slice()].concat()),
            call(TOKEN, vec![source, mint.address, destination, self.address], transfer),
            call(MEMO, vec![], memo.as_bytes().to_vec()),
        ];
        let writable = vec![source, destination];
        Some(Draft {
            fee_payer: mint.fee_payer,
            more_signers: vec![],
            writable,
            calls,
            blockhash,
            legacy: false,
        })
    }

    /// The payload of a proof.
    pub fn payload(&self, draft: &Draft) -> Value {
        let message = draft.message(self.address);
        let mut bytes = length(2 + draft.more_signers.len());
        bytes.extend([0; 64]);
        bytes.extend(self.key.sign(&message).to_bytes());
        bytes.extend(draft.more_signers.iter().flat_map(|_| [0; 64]));
        bytes.extend(message);
        json!({ "transaction": base64::encode(&bytes) })
    }
}

impl Draft {
    fn message(&self, payer: SolanaAddress) -> Vec<u8> {
        let signers = [&[self.fee_payer, payer], self.more_signers.as_slice()].concat();
        let named = self.calls.iter().flat_map(|call| call.accounts.iter().chain([&call.program]));
        let mut others: Vec<_> = named.filter(|key| !signers.contains(key)).copied().collect();
        // Writable accounts first, and each group sorted by its text, as in the official library.
        others.sort_by_cached_key(|key| (!self.writable.contains(key), key.to_string()));
        others.dedup();
        let read_only = others.iter().filter(|key| !self.writable.contains(key)).count();
        let keys = [signers.clone(), others].concat();
        let index = |key: &SolanaAddress| byte(keys.iter().position(|other| other == key).unwrap_or(0));

        let mut bytes = if self.legacy { vec![] } else { vec![0x80] };
        bytes.extend([byte(signers.len()), byte(signers.len() - 1), byte(read_only)]);
        bytes.extend(length(keys.len()));
        bytes.extend(keys.iter().flat_map(|key| key.0));
        bytes.extend(self.blockhash);
        bytes.extend(length(self.calls.len()));
        for call in &self.calls {
            bytes.push(index(&call.program));
            bytes.extend(length(call.accounts.len()));
            bytes.extend(call.accounts.iter().map(index));
            bytes.extend(length(call.data.len()));
            bytes.extend(&call.data);
        }
        if !self.legacy {
            bytes.push(0);
        }
        bytes
    }
}

/// A compact-u16; drafts need at most two bytes.
fn length(value: usize) -> Vec<u8> {
    if value < 0x80 { vec![byte(value)] } else { vec![byte(value & 0x7f) | 0x80, byte(value >> 7)] }
}

fn byte(value: usize) -> u8 {
    u8::try_from(value).unwrap_or(u8::MAX)
}
