//! What a paid act comes back with: what was bought and by which payment, or why not.

use crate::api_keys::NewKey;
use dropleaf_core::Error;
use dropleaf_core::account::Account;
use dropleaf_core::payment::Payment;
use dropleaf_core::site::Site;
use dropleaf_core::unlock::Sku;
use dropleaf_pay::{Receipt, Refusal};
use dropleaf_store::DbError;

/// What was bought, the first time it is told or again.
#[derive(Debug)]
pub struct Bought {
    pub goods: Goods,
    pub payment: Payment,
    /// Settled by which transaction.
    pub receipt: Receipt,
    /// It was there already; nothing was charged now.
    pub again: bool,
}

#[derive(Debug)]
pub enum Goods {
    Page { site: Box<Site>, claim_token: Option<String>, warnings: Vec<String> },
    Key { account: Box<Account>, new: Box<NewKey> },
    Unlock { account: Box<Account>, sku: Sku, until: Option<i64> },
}

/// Why nothing was bought.
#[derive(Debug)]
pub enum PayError {
    /// The payment is not good: the caller is told the terms again.
    Refused(PayRefused),
    /// Anything else. Never turned into terms: the money may have moved.
    Failed(Error),
}

#[derive(Debug)]
pub struct PayRefused {
    /// A stable word.
    pub reason: String,
    /// What it means and what to do.
    pub sentence: String,
    /// The header could not even be read.
    pub malformed: bool,
    /// When a facilitator was asked to settle it and said no.
    pub receipt: Option<Receipt>,
}

impl From<Refusal> for PayError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(PayRefused {
            reason: refusal.reason().to_owned(),
            sentence: refusal.sentence().to_owned(),
            malformed: refusal.is_malformed(),
            receipt: None,
        })
    }
}

impl From<Error> for PayError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<DbError> for PayError {
    fn from(error: DbError) -> Self {
        Self::Failed(error.into())
    }
}
