//! Signs AP2 mandates for tests: drafts that answer a request, which tests may change before signing. Salts are fixed, so every
//! mandate is reproducible.

use data_encoding::BASE64URL_NOPAD;
use p256::ecdsa::signature::Signer;
use p256::ecdsa::{Signature, SigningKey};
use serde_json::{Value, json};

use crate::ap2::{InstrumentKind, MandateRequest, canonical_json, hash};

/// How long drafts are valid.
const LIFETIME_SECONDS: i64 = 600;

/// A secret P-256 key of an issuer or agent, and its id.
#[derive(Debug, Clone)]
pub struct MandateKey {
    key: SigningKey,
    pub kid: String,
}

/// A v0.2 chain before it is signed.
#[derive(Debug, Clone)]
pub struct ChainDraft {
    pub links: Vec<LinkDraft>,
}

/// One token of a chain before it is signed.
#[derive(Debug, Clone)]
pub struct LinkDraft {
    pub key: MandateKey,
    pub header: Value,
    /// Without `delegate_payload`, the mandate is added as its only element, in a disclosure.
    pub claims: Value,
    pub mandate: Value,
    /// Further disclosures.
    pub disclosures: Vec<String>,
    /// How it names the link before it.
    pub binding: Option<Binding>,
}

/// The claim by which a link names the one before it.
#[derive(Debug, Clone, Copy)]
pub enum Binding {
    SdHash,
    IssuerJwtHash,
}

/// A v0.1 mandate before it is signed.
#[derive(Debug, Clone)]
pub struct ContentsDraft {
    pub key: MandateKey,
    pub header: Value,
    /// Without `transaction_data`, the hash of the contents is added.
    pub claims: Value,
    pub contents: Value,
}

impl MandateKey {
    /// `None` if the bytes are not a valid key.
    pub fn new(secret: &[u8; 32], kid: &str) -> Option<Self> {
        Some(Self { key: SigningKey::from_slice(secret).ok()?, kid: kid.to_owned() })
    }

    /// The public key, as issuers are configured and agents are named.
    pub fn jwk(&self) -> Value {
        let point = self.key.verifying_key().to_sec1_point(false);
        let (x, y) = point.as_bytes().get(1..).unwrap_or_default().split_at(32);
        let (x, y) = (BASE64URL_NOPAD.encode(x), BASE64URL_NOPAD.encode(y));
        json!({ "kty": "EC", "crv": "P-256", "kid": self.kid, "x": x, "y": y })
    }

    /// A signed token.
    pub fn token(&self, header: &Value, claims: &Value) -> String {
        let signed = format!("{}.{}", encode(header), encode(claims));
        let signature: Signature = self.key.sign(signed.as_bytes());
        format!("{signed}.{}", BASE64URL_NOPAD.encode(&signature.to_bytes()))
    }
}

/// A disclosure `[salt, value]` or `[salt, name, value]`, and its digest.
pub fn disclosure(content: &Value) -> (String, String) {
    let text = encode(content);
    let digest = hash(&text);
    (text, digest)
}

impl ChainDraft {
    /// An issuer's open mandate for an agent, limited to the price and to us, and the agent's closed mandate.
    pub fn new(
        issuer: &MandateKey,
        agent: &MandateKey,
        request: &MandateRequest<'_>,
        instrument_id: &str,
        now: i64,
    ) -> Self {
        let (us, our_digest) = disclosure(&json!(["payee", { "id": request.payee_id }]));
        let open = json!({
            "vct": "mandate.payment.open.1",
            "constraints": [
                { "type": "payment.amount_range", "currency": request.currency, "min": 0, "max": request.amount_minor },
                { "type": "payment.allowed_payees", "allowed": [{ "...": our_digest }] },
            ],
            "cnf": { "jwk": agent.jwk() },
            "iat": now,
            "exp": now + LIFETIME_SECONDS,
        });
        let closed = json!({
            "vct": "mandate.payment.1",
            "transaction_id": request.transaction_id,
            "payee": { "id": request.payee_id, "name": "Payee" },
            "payment_amount": { "amount": request.amount_minor, "currency": request.currency },
            "payment_instrument": { "id": instrument_id, "type": InstrumentKind::StripeSharedPaymentToken.as_str() },
            "iat": now,
            "exp": now + LIFETIME_SECONDS,
        });
        let recipient = json!({ "aud": request.audience, "nonce": request.nonce, "iat": now });
        let root = LinkDraft::new(issuer, "example+sd-jwt", json!({ "_sd_alg": "sha-256" }), open);
        let leaf = LinkDraft::new(agent, "kb+sd-jwt", recipient, closed);
        Self {
            links: vec![
                LinkDraft { disclosures: vec![us], ..root },
                LinkDraft { binding: Some(Binding::SdHash), ..leaf },
            ],
        }
    }

    /// The value of `payment_mandate`.
    pub fn chain(&self) -> String {
        let mut links: Vec<String> = Vec::new();
        for draft in &self.links {
            let link = draft.sign(links.last().map_or("", String::as_str));
            links.push(link);
        }
        // Each link ends with one tilde, and one more separates it from the next.
        links.join("~")
    }

    /// The body that carries it.
    pub fn sign(&self) -> Value {
        json!({ "payment_mandate": self.chain() })
    }
}

impl LinkDraft {
    /// A link with nothing but its mandate.
    pub fn new(key: &MandateKey, typ: &str, claims: Value, mandate: Value) -> Self {
        let header = json!({ "alg": "ES256", "typ": typ, "kid": key.kid });
        Self { key: key.clone(), header, claims, mandate, disclosures: Vec::new(), binding: None }
    }

    fn sign(&self, previous: &str) -> String {
        let (mut claims, mut disclosures) = (self.claims.clone(), self.disclosures.clone());
        if let Value::Object(members) = &mut claims {
            if !members.contains_key("delegate_payload") {
                let (text, digest) = disclosure(&json!(["mandate", self.mandate]));
                disclosures.push(text);
                members.insert("delegate_payload".to_owned(), json!([{ "...": digest }]));
            }
            let token = previous.split('~').next().unwrap_or_default();
            match self.binding {
                Some(Binding::SdHash) => drop(members.insert("sd_hash".to_owned(), hash(previous).into())),
                Some(Binding::IssuerJwtHash) => {
                    drop(members.insert("issuer_jwt_hash".to_owned(), hash(token).into()));
                }
                None => {}
            }
        }
        let mut text = self.key.token(&self.header, &claims) + "~";
        for disclosure in disclosures {
            text += &disclosure;
            text.push('~');
        }
        text
    }
}

impl ContentsDraft {
    /// Contents that pay a request in a currency with two decimals, authorized by an issuer.
    pub fn new(
        issuer: &MandateKey,
        request: &MandateRequest<'_>,
        shared_payment_token: &str,
        now: i64,
    ) -> Self {
        let price = format!("{}.{:02}", request.amount_minor / 100, request.amount_minor % 100);
        let price: Value = serde_json::from_str(&price).unwrap_or_default();
        let contents = json!({
            "payment_mandate_id": format!("mandate for {}", request.transaction_id),
            "payment_details_id": request.transaction_id,
            "payment_details_total": { "label": "Total", "amount": { "currency": request.currency, "value": price } },
            "payment_response": {
                "request_id": request.transaction_id,
                "method_name": InstrumentKind::StripeSharedPaymentToken.as_str(),
                "details": { "shared_payment_token": shared_payment_token },
            },
            "merchant_agent": request.audience,
            "timestamp": "2026-01-01T00:00:00Z",
        });
        let exp = now + LIFETIME_SECONDS;
        let claims = json!({ "aud": request.audience, "nonce": request.nonce, "iat": now, "exp": exp });
        let header = json!({ "alg": "ES256", "typ": "JWT", "kid": issuer.kid });
        Self { key: issuer.clone(), header, claims, contents }
    }

    /// The body that carries it.
    pub fn sign(&self) -> Value {
        let mut claims = self.claims.clone();
        if let Value::Object(members) = &mut claims
            && !members.contains_key("transaction_data")
        {
            let hash = hash(&canonical_json(&self.contents).unwrap_or_default());
            members.insert("transaction_data".to_owned(), json!([hash]));
        }
        let token = self.key.token(&self.header, &claims);
        json!({ "payment_mandate_contents": self.contents, "user_authorization": token })
    }
}

fn encode(value: &Value) -> String {
    BASE64URL_NOPAD.encode(value.to_string().as_bytes())
}
