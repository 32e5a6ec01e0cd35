//! The result of a paid request: what was bought with which payment, or why it failed.

use crate::accounts::api_keys::NewKey;
use dropleaf_core::account::Account;
use dropleaf_core::error::Fact;
use dropleaf_core::payment::Payment;
use dropleaf_core::site::Site;
use dropleaf_core::unlock::Sku;
use dropleaf_core::{Code, Error};
use dropleaf_pay::facilitator::{Reason, ReasonKind};
use dropleaf_pay::mpp::Problem;
use dropleaf_pay::{Receipt, Refusal};
use dropleaf_store::DbError;

/// `Retry-After` while an outcome is unknown; the facilitator is not asked earlier.
pub(super) const RETRY_AFTER_SECONDS: i64 = 10;

/// A purchase, returned for the first time or again.
#[derive(Debug)]
pub struct PurchaseResult {
    pub item: PurchasedItem,
    pub payment: Payment,
    /// Names the settling transaction; `None` for a payment by card.
    pub receipt: Option<Receipt>,
    /// It was bought before; nothing was charged now.
    pub is_replay: bool,
}

#[derive(Debug)]
pub enum PurchasedItem {
    Page { site: Box<Site>, claim_token: Option<String>, warnings: Vec<String> },
    Key { account: Box<Account>, new: Box<NewKey> },
    Unlock { account: Box<Account>, sku: Sku, until: Option<i64> },
    Topup { account: Box<Account> },
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
    pub receipt: Option<Box<Receipt>>,
    /// What it is for clients of MPP.
    pub problem: Problem,
}

impl From<Refusal> for PayError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(PayRefused {
            reason: refusal.reason().to_owned(),
            sentence: refusal.sentence().to_owned(),
            malformed: refusal.is_malformed(),
            receipt: None,
            problem: refusal.into(),
        })
    }
}

impl From<PayRefused> for PayError {
    fn from(refused: PayRefused) -> Self {
        Self::Refused(refused)
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

/// Another request is working on the payment.
pub(super) fn payment_in_flight(seconds: i64) -> PayError {
    Error::plain(Code::PaymentInFlight).retry_after(seconds).into()
}

/// Never answers with new payment terms: a client that signs again may pay twice.
pub(super) fn outcome_unknown(transaction: Option<&str>, source: Error) -> PayError {
    let error = Error::plain(Code::SettlementUnknown).retry_after(RETRY_AFTER_SECONDS).with_source(source);
    match transaction {
        Some(name) => error.with_fact("transaction", Fact::Text(name.to_owned())).into(),
        None => error.into(),
    }
}

/// Describes a facilitator's refusal in our own words.
pub(super) fn refused_by(reason: &Reason, receipt: Option<Receipt>) -> PayRefused {
    let sentence = match reason.kind {
        ReasonKind::NonceUsed => "The authorization has already been used or canceled. Sign a new one.",
        ReasonKind::InsufficientFunds => "The wallet does not have enough of the token.",
        ReasonKind::Expired => "The authorization has expired or is about to expire. Sign a new one.",
        ReasonKind::Signature => "The signature is not valid.",
        ReasonKind::Other => "The payment facilitator did not accept the payment.",
    };
    PayRefused {
        reason: reason.text.clone(),
        sentence: sentence.to_owned(),
        malformed: false,
        receipt: receipt.map(Box::new),
        problem: reason.kind.into(),
    }
}
