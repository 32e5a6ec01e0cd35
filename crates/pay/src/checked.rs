//! A checked payment: everything the operations need to know, independent of the protocol.

use std::fmt;

use crate::address::Address;
use crate::amount::Amount;
use crate::generation::Generation;
use crate::key::PaymentKey;
use crate::network::Network;
use crate::offer::Offer;
use crate::payment::Payment;

/// A proof that passed every check possible without a chain.
#[derive(Clone, PartialEq)]
pub struct Checked {
    pub key: PaymentKey,
    pub payer: Address,
    /// Whether the payer's own key signed (an externally owned account). If not, only a facilitator can tell whether the
    /// signature of a contract wallet is valid, and the payer has no wallet credential.
    pub payer_is_eoa: bool,
    pub network: Network,
    pub asset: Address,
    pub amount: Amount,
    pub generation: Generation,
    /// The offer it pays: ours, not the client's copy.
    pub offer: Offer,
    /// From this moment on it can no longer be settled.
    pub valid_until: i64,
    /// The identifier that the client gave its payment; it is only meaningful together with the payer.
    pub payment_identifier: Option<String>,
    pub(crate) payment: Payment,
    pub(crate) wants_catalogue: bool,
}

/// The payment that a proof refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognised {
    pub key: PaymentKey,
    pub payer: Address,
    /// If false, nothing is proved about the sender of the proof.
    pub payer_is_eoa: bool,
    /// The identifier that the client gave its payment, if it can be parsed.
    pub payment_identifier: Option<String>,
}

impl Checked {
    /// Whether the payer can later prove with a verifiable signature that it is the same wallet.
    pub fn has_wallet_credential(&self) -> bool {
        self.payer_is_eoa && self.network.is_evm()
    }
}

/// Keeps signatures out of logs.
impl fmt::Debug for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checked")
            .field("key", &self.key)
            .field("payer_is_eoa", &self.payer_is_eoa)
            .field("amount", &self.amount)
            .field("generation", &self.generation)
            .field("valid_until", &self.valid_until)
            .finish_non_exhaustive()
    }
}
