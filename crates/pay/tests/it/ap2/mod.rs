//! AP2 mandates: good ones, and good ones with one change. Where the signed content differs, the signature is genuine.

mod bad_contents;
mod bad_disclosures;
mod bad_limits;
mod bad_payments;
mod bad_signatures;
mod good;
mod properties;

use dropleaf_pay::ap2::{Issuer, Issuers, Mandate, MandateRefusal, MandateRequest, VerifiedMandate};
use dropleaf_pay::payer::{Binding, ChainDraft, ContentsDraft, LinkDraft, MandateKey};
use serde_json::{Value, json};

/// Shortly after the v0.2 vector was made, while the v0.1 vector is valid too.
const NOW: i64 = 1_794_701_900;

const REQUEST: MandateRequest<'static> = MandateRequest {
    audience: "https://host.example",
    nonce: "nonce-123",
    transaction_id: "prov-0001",
    payee_id: "host-1",
    amount_minor: 100,
    currency: "USD",
    open_checkout_hash: None,
};

fn key(secret: u8, kid: &str) -> MandateKey {
    MandateKey::new(&[secret; 32], kid).unwrap()
}

fn issuers() -> Issuers {
    let issuer = |secret, kid| Issuer::parse(&key(secret, kid).jwk().to_string()).unwrap();
    Issuers::new(vec![issuer(9, "another"), issuer(1, "issuer")]).unwrap()
}

fn chain() -> ChainDraft {
    ChainDraft::new(&key(1, "issuer"), &key(2, "agent"), &REQUEST, "spt_example", NOW)
}

fn contents() -> ContentsDraft {
    ContentsDraft::new(&key(1, "issuer"), &REQUEST, "spt_example", NOW)
}

fn verify(body: &Value) -> Result<VerifiedMandate, MandateRefusal> {
    Mandate::parse(body)?.verify(&issuers(), &REQUEST, NOW)
}

/// An agent that delegates to another one, which then pays.
fn three_links() -> ChainDraft {
    let mut draft = chain();
    let claims = json!({ "aud": "https://wallet.example", "nonce": "n", "iat": NOW });
    let open = json!({ "vct": "mandate.payment.open.1", "constraints": [], "cnf": { "jwk": key(3, "wallet").jwk() } });
    let mut middle = LinkDraft::new(&key(2, "agent"), "kb+sd-jwt+kb", claims, open);
    middle.binding = Some(Binding::SdHash);
    draft.links.insert(1, middle);
    draft.links[2].key = key(3, "wallet");
    draft
}

type Case<T> = (&'static str, MandateRefusal, fn(&mut T));

fn refused<T>(good: fn() -> T, sign: fn(&T) -> Value, cases: &[Case<T>]) {
    for (what, refusal, change) in cases {
        let mut draft = good();
        change(&mut draft);
        assert_eq!(verify(&sign(&draft)).err(), Some(*refusal), "{what}");
    }
}

fn refused_chains(cases: &[Case<ChainDraft>]) {
    refused(chain, ChainDraft::sign, cases);
}

fn remove(object: &mut Value, name: &str) {
    object.as_object_mut().unwrap().remove(name).unwrap();
}
