//! The content of a proof, independent of the x402 version: a signed authorization or a signed transaction.

use serde_json::Value;

use crate::address::Address;
use crate::evm::{Margins, SignedTransfer};
use crate::json::Object;
use crate::key::PaymentKey;
use crate::offer::{Asset, Offer};
use crate::refusal::Refusal;
use crate::solana::SignedTransaction;

/// A blockhash expires within about 90 seconds, and the transaction with it.
const BLOCKHASH_SECONDS: i64 = 120;

/// A signed payment, parsed but not checked.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Payment {
    Evm(SignedTransfer),
    Solana(SignedTransaction),
}

impl Payment {
    /// Parses the payload in the form that an offer requires.
    pub(crate) fn read(payload: &Object, offer: &Offer) -> Result<Self, Refusal> {
        match &offer.asset {
            Asset::Evm { .. } => SignedTransfer::read(payload).map(Self::Evm),
            Asset::Solana { .. } => SignedTransaction::read(payload).map(Self::Solana),
        }
    }

    /// Whether it pays an offer, regardless of time. The signature is checked last, because that takes longest.
    pub(crate) fn pays(&self, offer: &Offer) -> Result<(), Refusal> {
        match (self, &offer.asset) {
            (Self::Evm(transfer), Asset::Evm { pay_to, .. }) => transfer.pays(offer.amount, *pay_to),
            (Self::Solana(transaction), Asset::Solana { mint, pay_to, .. }) => {
                transaction.pays(offer.amount, mint, *pay_to)
            }
            _ => Err(Refusal::NetworkNotOffered),
        }
    }

    /// Whether it can be settled now. Only its chain knows how long a Solana transaction is valid.
    pub(crate) fn is_timely(&self, offer: &Offer, now: i64, margins: Margins) -> Result<(), Refusal> {
        match self {
            Self::Evm(transfer) => transfer.is_timely(now, offer.max_timeout_seconds, margins),
            Self::Solana(_) => Ok(()),
        }
    }

    /// Whether the payer's own key signed it; with `false`, only the chain can tell whether a contract wallet did.
    pub(crate) fn is_signed_by_payer(&self, offer: &Offer) -> Result<bool, Refusal> {
        match (self, &offer.asset) {
            (Self::Evm(transfer), Asset::Evm { chain_id, token, .. }) => {
                transfer.is_signed_by_payer(*chain_id, token)
            }
            (Self::Solana(transaction), Asset::Solana { .. }) => transaction.is_signed().map(|()| true),
            _ => Err(Refusal::NetworkNotOffered),
        }
    }

    /// Its unique key, if it is for the offer's kind of chain.
    pub(crate) fn key(&self, offer: &Offer) -> Result<PaymentKey, Refusal> {
        match (self, &offer.asset) {
            (Self::Evm(transfer), Asset::Evm { chain_id, token, .. }) => {
                let it = &transfer.authorization;
                Ok(PaymentKey::eip3009(*chain_id, token.address, it.from, &it.nonce))
            }
            (Self::Solana(transaction), Asset::Solana { cluster, .. }) => {
                Ok(PaymentKey::solana(*cluster, &transaction.message_hash()))
            }
            _ => Err(Refusal::NetworkNotOffered),
        }
    }

    pub(crate) fn payer(&self) -> Address {
        match self {
            Self::Evm(transfer) => Address::Evm(transfer.authorization.from),
            Self::Solana(transaction) => Address::Solana(transaction.payer),
        }
    }

    /// The moment from which it can no longer be settled.
    pub(crate) fn valid_until(&self, now: i64) -> i64 {
        match self {
            Self::Evm(transfer) => transfer.authorization.valid_before.seconds(),
            Self::Solana(_) => now.saturating_add(BLOCKHASH_SECONDS),
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::Evm(transfer) => transfer.to_json(),
            Self::Solana(transaction) => transaction.to_json(),
        }
    }
}
