//! An agent with a mandate (AP2): signs for the terms of a server in the name of the sandbox's test issuer.

use super::{Answer, Node};
use dropleaf_core::secret;
use dropleaf_pay::ap2::MandateRequest;
use dropleaf_pay::payer::{ChainDraft, ContentsDraft, MandateKey};
use serde_json::{Value, json};

/// The private key of the sandbox's issuer, as the documentation prints it.
pub(crate) fn sandbox_issuer() -> MandateKey {
    let docs = include_str!("../../../../../docs/payments.md");
    let (_, after) = docs.split_once("\n    d: '").unwrap();
    let d = secret::bytes(after.split('\'').next().unwrap()).unwrap();
    MandateKey::new(&d.try_into().unwrap(), "dropleaf-sandbox").unwrap()
}

pub(crate) fn agent() -> MandateKey {
    MandateKey::new(&[2; 32], "agent").unwrap()
}

/// The terms of one transaction, as the server states them.
#[derive(Debug, Clone)]
pub(crate) struct MandateOffer {
    pub(crate) terms: Value,
    pub(crate) now: i64,
}

impl MandateOffer {
    fn text(&self, pointer: &str) -> &str {
        self.terms.pointer(pointer).and_then(Value::as_str).unwrap()
    }

    pub(crate) fn request(&self) -> MandateRequest<'_> {
        MandateRequest {
            audience: self.text("/aud"),
            nonce: self.text("/nonce"),
            transaction_id: self.text("/transaction_id"),
            payee_id: self.text("/payee/id"),
            amount_minor: self.terms["amount"]["amount"].as_u64().unwrap(),
            currency: self.text("/amount/currency"),
            open_checkout_hash: None,
        }
    }

    /// v0.2.
    pub(crate) fn chain(&self, token: &str) -> ChainDraft {
        ChainDraft::new(&sandbox_issuer(), &agent(), &self.request(), token, self.now)
    }

    /// v0.1.
    pub(crate) fn contents(&self, token: &str) -> ContentsDraft {
        ContentsDraft::new(&sandbox_issuer(), &self.request(), token, self.now)
    }
}

impl Node {
    /// Asks for a new transaction.
    pub(crate) async fn mandate_offer(&self) -> MandateOffer {
        let answer = self.post("/provision").send().await.expect(402);
        MandateOffer { terms: answer.json()["ap2"].clone(), now: self.app().now() }
    }

    pub(crate) async fn provision_by_mandate(&self, mandate: &Value) -> Answer {
        self.post("/provision").json(&json!({"ap2_mandate": mandate})).send().await
    }
}
