//! What is known of a payment once its proof has been checked: all that the acts need, in our own words.

use std::fmt;

use crate::address::Address;
use crate::amount::Amount;
use crate::generation::Generation;
use crate::key::PaymentKey;
use crate::network::Network;
use crate::offer::Offer;
use crate::payment::Payment;

/// A proof that passed every check we can make without a chain.
#[derive(Clone, PartialEq)]
pub struct Checked {
    pub key: PaymentKey,
    pub payer: Address,
    /// The payer's own key signed. If not, only a facilitator can tell whether the signature of a contract wallet is
    /// valid, and the payer has no wallet credential.
    pub payer_is_eoa: bool,
    pub network: Network,
    pub asset: Address,
    pub amount: Amount,
    pub generation: Generation,
    /// The offer that it pays: ours, not what the client said.
    pub offer: Offer,
    /// From this moment on it can no longer be settled.
    pub valid_until: i64,
    /// The identifier a client gave its payment; it means something only together with the payer.
    pub payment_identifier: Option<String>,
    pub(crate) payment: Payment,
    pub(crate) wants_catalogue: bool,
}

/// Which payment a proof is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognised {
    pub key: PaymentKey,
    pub payer: Address,
    /// Without it nothing is proved about who sends the proof.
    pub payer_is_eoa: bool,
    /// The identifier a client gave its payment, if it can be read.
    pub payment_identifier: Option<String>,
}

impl Checked {
    /// Whether the payer can prove later that it is the same wallet, by a signature we can check.
    pub fn has_wallet_credential(&self) -> bool {
        self.payer_is_eoa && self.network.is_evm()
    }
}

/// Signatures stay out of logs.
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
