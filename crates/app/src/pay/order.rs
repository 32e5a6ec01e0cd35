//! What is bought, and the request that pays for it.

use super::PayError;
use super::mpp::MppPayment;
use crate::publish::staging::Prepared;
use dropleaf_core::account::Account;
use dropleaf_core::payment::Item;
use dropleaf_core::rail::Rail;
use dropleaf_core::unlock::Sku;
use dropleaf_core::{Error, Result};
use dropleaf_pay::{Checked, Proof, Refusal, Terms};
use std::net::IpAddr;

/// A page that was checked and can be sold.
#[derive(Debug)]
pub struct CheckedPage {
    pub(super) prepared: Prepared,
    /// Why it may not be published. A page that was accepted before may still be returned to its payer.
    pub(super) refusal: Option<Error>,
}

/// What is bought.
#[derive(Debug)]
pub enum Order {
    Publish(CheckedPage),
    Provision,
    Unlock { account: Account, sku: Sku },
}

impl Order {
    /// Returns the error if the order cannot be sold.
    pub fn check(&mut self) -> Result<()> {
        match self {
            Self::Publish(CheckedPage { refusal, .. }) => refusal.take().map_or(Ok(()), Err),
            Self::Provision | Self::Unlock { .. } => Ok(()),
        }
    }

    pub const fn item(&self) -> Item {
        match self {
            Self::Publish(_) => Item::Publish,
            Self::Provision => Item::Provision,
            Self::Unlock { sku, .. } => Item::Unlock(*sku),
        }
    }
}

/// A signed transfer on a chain, and the protocol it arrived by.
#[derive(Debug)]
pub enum PaymentProof {
    X402(Proof),
    Mpp(Box<MppPayment>),
}

impl PaymentProof {
    pub const fn rail(&self) -> Rail {
        match self {
            Self::X402(_) => Rail::X402,
            Self::Mpp(_) => Rail::Mpp,
        }
    }

    /// The transfer in the form of x402.
    pub fn proof(&self) -> &Proof {
        match self {
            Self::X402(proof) => proof,
            Self::Mpp(payment) => payment.proof(),
        }
    }

    /// Performs every check that needs no chain, for a payment that is not known yet.
    pub(super) fn check(&self, terms: &Terms, now: i64) -> Result<Result<Checked, Refusal>, PayError> {
        if let Self::Mpp(payment) = self {
            payment.check_request(terms)?;
        }
        Ok(self.proof().check(terms, now))
    }
}

/// A request with a payment proof.
#[derive(Debug)]
pub struct PayRequest {
    pub order: Order,
    pub proof: PaymentProof,
    /// Hash of the whole request: the same payment cannot buy anything else.
    pub request_hash: [u8; 32],
    /// The caller's `Idempotency-Key`.
    pub idempotency_key: Option<String>,
    pub ip: Option<IpAddr>,
}
