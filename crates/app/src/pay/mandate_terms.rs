//! What a mandate (AP2) must say to buy an API key. The transaction ID is authenticated and contains its expiry, so nothing is
//! stored for a caller that only asks; the reservation of the payment records its use.

use super::PaymentSettings;
use crate::app::App;
use dropleaf_core::payment::Item;
use dropleaf_core::{Error, Result, secret};
use dropleaf_pay::ap2::{Mandate, MandateRefusal, MandateRequest, MandateVersion, VerifiedMandate};

/// How long a transaction can be paid, in seconds. The record of its use is kept for at least an hour.
const LIFETIME_SECONDS: i64 = 600;
const PREFIX: &str = "ap2_";
const TRANSACTION: &str = "ap2 transaction";
const NONCE: &str = "ap2 nonce";
const MAC_BYTES: usize = 32;
const CURRENCY: &str = "USD";

/// The terms of one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MandateTerms {
    pub audience: String,
    pub transaction_id: String,
    pub nonce: String,
    pub payee_id: String,
    pub payee_name: String,
    /// In cents.
    pub amount_minor: u64,
    pub currency: &'static str,
    pub expires_at: i64,
}

impl App {
    /// Why mandates are not accepted; `None` if they are.
    pub fn mandates_unavailable(&self) -> Option<&'static str> {
        let has_issuers = |payments: &PaymentSettings| !payments.mandates.issuers.is_empty();
        if let Some(reason) = self.token_unavailable() {
            Some(reason)
        } else if !self.settings.payments.as_ref().is_some_and(has_issuers) {
            Some("No issuer of mandates is trusted.")
        } else {
            None
        }
    }

    /// Terms for a new transaction; `None` if mandates are not accepted.
    pub fn mandate_terms(&self) -> Option<MandateTerms> {
        if self.mandates_unavailable().is_some() {
            return None;
        }
        let expires_at = self.now() + LIFETIME_SECONDS;
        self.terms_of(self.new_transaction(expires_at), expires_at).ok()
    }

    fn terms_of(&self, transaction_id: String, expires_at: i64) -> Result<MandateTerms> {
        let payments = self.require_payments()?;
        let set = &payments.mandates;
        let merchant = set.merchant_id.clone().unwrap_or_else(|| self.hosts.base.url());
        let cents = payments.prices.cents_of(Item::Provision);
        Ok(MandateTerms {
            nonce: secret::text(&self.keys.mac(NONCE, transaction_id.as_bytes())),
            transaction_id,
            audience: merchant.clone(),
            payee_id: merchant,
            payee_name: set.payee_name.clone().unwrap_or_else(|| self.hosts.base.host.clone()),
            amount_minor: u64::try_from(cents).map_err(Error::internal)?,
            currency: CURRENCY,
            expires_at,
        })
    }

    fn new_transaction(&self, expires_at: i64) -> String {
        let random: [u8; 16] = self.minter.bytes();
        let content = [&expires_at.to_be_bytes()[..], &random].concat();
        let mac = self.keys.mac(TRANSACTION, &content);
        format!("{PREFIX}{}", secret::text(&[content, mac.to_vec()].concat()))
    }

    /// When a transaction expires; `None` if it is not one of ours.
    fn transaction_expiry(&self, transaction_id: &str) -> Option<i64> {
        let bytes = secret::bytes(transaction_id.strip_prefix(PREFIX)?)?;
        let (content, mac) = bytes.split_at_checked(bytes.len().checked_sub(MAC_BYTES)?)?;
        if !self.keys.verify(TRANSACTION, content, mac) {
            return None;
        }
        content.first_chunk().copied().map(i64::from_be_bytes)
    }

    /// Verifies a mandate for a payment that is not known yet.
    pub(super) fn verify_mandate(&self, mandate: &Mandate) -> Result<VerifiedMandate, MandateRefusal> {
        let now = self.now();
        let id = mandate.transaction_id();
        let expires_at = self.transaction_expiry(id).ok_or(MandateRefusal::TransactionMismatch)?;
        if now >= expires_at {
            return Err(MandateRefusal::TransactionExpired);
        }
        let Some(payments) = &self.settings.payments else { return Err(MandateRefusal::UnknownIssuer) };
        let terms =
            self.terms_of(id.to_owned(), expires_at).map_err(|_| MandateRefusal::TransactionMismatch)?;
        let verify = |nonce| mandate.verify(&payments.mandates.issuers, &terms.request(nonce), now);
        match verify(&terms.nonce) {
            // v0.1 does not say what the nonce is. The transaction ID is as good: it is ours, and can be paid once.
            Err(MandateRefusal::NonceMismatch) if mandate.version() == MandateVersion::V01 => {
                verify(&terms.transaction_id)
            }
            verified => verified,
        }
    }
}

impl MandateTerms {
    fn request<'a>(&'a self, nonce: &'a str) -> MandateRequest<'a> {
        MandateRequest {
            audience: &self.audience,
            nonce,
            transaction_id: &self.transaction_id,
            payee_id: &self.payee_id,
            amount_minor: self.amount_minor,
            currency: self.currency,
            // The server has no checkout of its own that a mandate could be bound to.
            open_checkout_hash: None,
        }
    }
}
