//! Signs mandates for the terms of a till, and pays with them.

use super::card_till::CardTill;
use dropleaf_app::{App, MandatePurchase, MandateTerms, PayError, PurchaseResult, TokenRequest};
use dropleaf_pay::ap2::{Issuer, Issuers, Mandate, MandateRequest};
use dropleaf_pay::payer::{ChainDraft, ContentsDraft, MandateKey};
use dropleaf_pay::stripe::SharedPaymentToken;
use serde_json::Value;
use std::net::IpAddr;

/// A token that is charged without a grant.
pub(crate) const VISA_TOKEN: &str = "spt_test_visa_1";
pub(crate) const DECLINED_TOKEN: &str = "spt_test_chargeDeclined_1";

fn issuer() -> MandateKey {
    MandateKey::new(&[1; 32], "issuer").unwrap()
}

/// The issuers that a till trusts.
pub(crate) fn issuers() -> Issuers {
    Issuers::new(vec![Issuer::parse(&issuer().jwk().to_string()).unwrap()]).unwrap()
}

fn request(terms: &MandateTerms) -> MandateRequest<'_> {
    MandateRequest {
        audience: &terms.audience,
        nonce: &terms.nonce,
        transaction_id: &terms.transaction_id,
        payee_id: &terms.payee_id,
        amount_minor: terms.amount_minor,
        currency: terms.currency,
        open_checkout_hash: None,
    }
}

/// A chain (v0.2) for these terms.
pub(crate) fn chain(terms: &MandateTerms, token: &str, now: i64) -> ChainDraft {
    let agent = MandateKey::new(&[2; 32], "agent").unwrap();
    ChainDraft::new(&issuer(), &agent, &request(terms), token, now)
}

/// Signed contents (v0.1) for these terms.
pub(crate) fn contents(terms: &MandateTerms, token: &str, now: i64) -> ContentsDraft {
    ContentsDraft::new(&issuer(), &request(terms), token, now)
}

/// A chain for a new transaction.
pub(crate) fn mandate(app: &App, token: &str) -> Value {
    chain(&app.mandate_terms().unwrap(), token, app.now()).sign()
}

pub(crate) async fn pay_from(
    app: &App,
    mandate: &Value,
    from: [u8; 4],
    once: Option<&str>,
) -> Result<PurchaseResult, PayError> {
    let purchase = MandatePurchase {
        mandate: Mandate::parse(mandate).unwrap(),
        idempotency_key: once.map(str::to_owned),
        ip: Some(IpAddr::from(from)),
    };
    Box::pin(app.provision_with_mandate(purchase)).await
}

pub(crate) async fn pay(app: &App, mandate: &Value) -> Result<PurchaseResult, PayError> {
    pay_from(app, mandate, super::till::HOME, None).await
}

/// Pays with the token alone (ACP).
pub(crate) async fn pay_token(app: &App, token: &str) -> Result<PurchaseResult, PayError> {
    let request = TokenRequest {
        token: SharedPaymentToken::parse(token).unwrap(),
        request_hash: [3; 32],
        idempotency_key: None,
        ip: Some(IpAddr::from(super::till::HOME)),
    };
    Box::pin(app.provision_with_token(request)).await
}

/// The reason of a refusal.
#[track_caller]
pub(crate) fn refused(outcome: Result<PurchaseResult, PayError>) -> String {
    match outcome {
        Err(PayError::Refused(refused)) => {
            assert!(refused.sentence.contains("Nothing was charged."), "{}", refused.sentence);
            refused.reason
        }
        other => panic!("not refused: {other:?}"),
    }
}

impl CardTill {
    /// So many keys were sold, each for one charge of the processor.
    pub(crate) async fn check_keys_sold(&self, keys: i64) {
        assert_eq!(self.till.count("SELECT COUNT(*) FROM api_keys").await, keys);
        assert_eq!(self.till.count("SELECT COUNT(*) FROM ledger_txns").await, keys);
        assert_eq!(self.till.count("SELECT COUNT(*) FROM payments WHERE state = 'fulfilled'").await, keys);
        let charged =
            "SELECT COUNT(*) FROM sandbox_objects WHERE kind = 'payment' AND json LIKE '%\"succeeded\"%'";
        assert_eq!(self.till.count(charged).await, keys);
        self.check_ledger().await;
    }
}
