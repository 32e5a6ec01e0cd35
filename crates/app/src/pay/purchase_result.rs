//! The result of a paid request: what was bought with which payment, or why it failed.

use crate::accounts::api_keys::NewKey;
use dropleaf_core::Error;
use dropleaf_core::account::Account;
use dropleaf_core::payment::Payment;
use dropleaf_core::site::Site;
use dropleaf_core::unlock::Sku;
use dropleaf_pay::{Receipt, Refusal};
use dropleaf_store::DbError;

/// A purchase, returned for the first time or again.
#[derive(Debug)]
pub struct PurchaseResult {
    pub item: PurchasedItem,
    pub payment: Payment,
    /// Names the settling transaction.
    pub receipt: Receipt,
    /// It was bought before; nothing was charged now.
    pub is_replay: bool,
}

#[derive(Debug)]
pub enum PurchasedItem {
    Page { site: Box<Site>, claim_token: Option<String>, warnings: Vec<String> },
    Key { account: Box<Account>, new: Box<NewKey> },
    Unlock { account: Box<Account>, sku: Sku, until: Option<i64> },
}

/// Why nothing was bought.
#[derive(Debug)]
pub enum PayError {
    /// The payment is not valid: the client gets the terms again.
    Refused(PayRefused),
    /// Any other failure. Never answered with terms, because the money may have moved.
    Failed(Error),
}

#[derive(Debug)]
pub struct PayRefused {
    /// A stable, machine-readable code.
    pub reason: String,
    /// What it means and what to do.
    pub sentence: String,
    /// The header could not be parsed.
    pub malformed: bool,
    /// Set if the facilitator refused to settle.
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
