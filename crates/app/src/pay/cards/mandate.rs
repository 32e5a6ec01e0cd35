//! Pays with a mandate (AP2): evidence that a user agreed to this payment. It moves no money itself, so the token that it names
//! is charged, as if it had been sent alone. A mandate, its transaction and its token buy at most one thing.

use super::token_charge::{token_key, was_not_taken};
use crate::app::App;
use crate::pay::purchase_result::payment_in_flight;
use crate::pay::replay::payment_used;
use crate::pay::{PayError, PayRefused, PurchaseResult};
use dropleaf_core::rail::Rail;
use dropleaf_core::{Code, Error, Result, secret};
use dropleaf_pay::ap2::{Mandate, MandateRefusal, VerifiedMandate};
use dropleaf_pay::mpp::Problem;
use dropleaf_pay::stripe::SharedPaymentToken;
use std::net::IpAddr;

const NOT_LIVE: &str = "This server does not accept mandates.";

/// A request that pays with a mandate.
#[derive(Debug)]
pub struct MandatePurchase {
    pub mandate: Mandate,
    /// The caller's `Idempotency-Key`, which also proves who repeats the request.
    pub idempotency_key: Option<String>,
    pub ip: Option<IpAddr>,
}

impl App {
    /// Sells an API key for a mandate. Run it in a task that is not cancelled when the client disconnects.
    pub async fn provision_with_mandate(
        &self,
        purchase: MandatePurchase,
    ) -> Result<PurchaseResult, PayError> {
        let MandatePurchase { mandate, idempotency_key, ip } = purchase;
        let token = mandate.unverified_instrument().ok().and_then(|it| SharedPaymentToken::parse(&it.id));
        let Some(token) = token else {
            self.require_mandates()?;
            // Whatever else is wrong with it comes first.
            let refusal = self.verify_mandate(&mandate).err().unwrap_or(MandateRefusal::InvalidInstrument);
            return Err(refusal.into());
        };
        let key = token_key(&token);
        // The same token cannot be charged under another mandate, nor without one.
        let request_hash = secret::hash(&format!("ap2 {}", mandate.fingerprint()));
        let mut identity =
            self.token_identity(Rail::Ap2, &key, request_hash, idempotency_key.as_deref(), ip)?;
        if self.payments.locks.is_crowded(&key) {
            return Err(payment_in_flight(1));
        }
        // Identifiers first, as for other payments.
        let _named = identity.lock_identifiers(&self.payments.locks).await;
        let _lock = self.payments.locks.lock(&key).await;
        let found = self.store.find_payment_by_key(&key).await?;
        let (not_taken, known) = match found {
            Some(payment) if was_not_taken(&payment) => (Some(payment), None),
            found => (None, found),
        };
        if let Some(payment) = known.as_ref().filter(|payment| identity.matches_purchase(payment)) {
            // It was verified when the payment was reserved. It may have expired since then, or its issuer may not be trusted
            // any more.
            return self.replay_token(payment.clone(), &identity).await;
        }
        self.require_mandates()?;
        let verified = self.verify_mandate(&mandate)?;
        if let Some(payment) = known {
            return self.replay_token(payment, &identity).await;
        }
        // The use of this mandate was recorded with the first reservation.
        if !not_taken.as_ref().is_some_and(|payment| identity.matches_purchase(payment)) {
            identity.mandate_hashes = single_use_hashes(&verified);
        }
        tracing::info!(
            version = verified.version.as_str(),
            issuer = verified.issuer_kid,
            reference = verified.reference,
            "mandate verified"
        );
        if let Some(bought) = self.charge_new_token(&token, &identity, ip, not_taken.as_ref()).await? {
            return Ok(bought);
        }
        // Another node was faster, or the mandate was used with another token.
        self.answer_known_token(&key, &identity, payment_used("other_request").into()).await
    }

    /// `RailNotLive` if mandates are not accepted.
    pub fn require_mandates(&self) -> Result<()> {
        let why = |why| Error::new(Code::RailNotLive, format!("{NOT_LIVE} {why} Nothing was charged."));
        self.mandates_unavailable().map_or(Ok(()), |reason| Err(why(reason)))
    }
}

/// What must not occur in another mandate: the transaction, the last signature, and the issuer's own ID where there is one.
fn single_use_hashes(verified: &VerifiedMandate) -> Vec<[u8; 32]> {
    let transaction = format!("transaction {}", verified.transaction_id);
    let reference = format!("reference {}", verified.reference);
    let id = verified.mandate_id.as_ref().map(|id| format!("mandate {} {id}", verified.issuer_kid));
    [transaction, reference].into_iter().chain(id).map(|text| secret::hash(&text)).collect()
}

impl From<MandateRefusal> for PayError {
    fn from(refusal: MandateRefusal) -> Self {
        Self::Refused(PayRefused {
            reason: refusal.reason().to_owned(),
            sentence: format!("{refusal} Nothing was charged."),
            malformed: refusal.is_malformed(),
            receipt: None,
            problem: Problem::VerificationFailed,
        })
    }
}
