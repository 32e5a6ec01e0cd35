//! The paid act: check, verify, stage and reserve, settle, make. The order is the safety: nothing is settled that was not
//! reserved with all it buys, and nothing is made that was not settled. Decisions §5.2.

use super::{Bought, PayError};
use crate::app::App;
use crate::staging::{Prepared, Upload};
use dropleaf_core::account::Account;
use dropleaf_core::payment::Item;
use dropleaf_core::unlock::Sku;
use dropleaf_core::{Code, Error, Result};
use dropleaf_pay::Proof;
use std::net::IpAddr;

/// A page that was checked and may be sold.
#[derive(Debug)]
pub struct PageToSell {
    pub(super) prepared: Prepared,
}

/// What is to be bought.
#[derive(Debug)]
pub enum Order {
    Publish(PageToSell),
    Provision,
    Unlock { account: Account, sku: Sku },
}

impl Order {
    pub const fn item(&self) -> Item {
        match self {
            Self::Publish(_) => Item::Publish,
            Self::Provision => Item::Provision,
            Self::Unlock { sku, .. } => Item::Unlock(*sku),
        }
    }
}

/// A request with a proof of payment.
#[derive(Debug)]
pub struct PayRequest {
    pub order: Order,
    pub proof: Proof,
    /// Hash of all that is asked for: the same payment buys nothing else.
    pub request_hash: [u8; 32],
    /// The caller's Idempotency-Key.
    pub once_key: Option<String>,
    pub ip: Option<IpAddr>,
}

impl App {
    /// Checks a page before anything is signed for it. Spec §7: a refused page costs nothing.
    pub async fn check_page(&self, upload: Upload) -> Result<PageToSell> {
        Ok(PageToSell { prepared: self.prepare(upload, false, false).await? })
    }

    /// Buys. To be run where the caller hanging up does not cut it short.
    pub async fn pay(&self, _request: PayRequest) -> Result<Bought, PayError> {
        Err(Error::plain(Code::Internal).into())
    }
}
