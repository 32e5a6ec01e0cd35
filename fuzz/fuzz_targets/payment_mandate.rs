//! Parses any JSON as an AP2 mandate, and any JSON inside a signed one: no panic, and nothing that was changed after signing is
//! accepted. The first byte chooses a valid mandate to start from, the rest damages it or becomes a part of what is signed.

#![no_main]

use std::sync::LazyLock;

use dropleaf_pay::ap2::{Issuer, Issuers, Mandate, MandateRefusal, MandateRequest, VerifiedMandate};
use dropleaf_pay::payer::{ChainDraft, ContentsDraft, MandateKey};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

const NOW: i64 = 1_794_701_900;

const REQUEST: MandateRequest<'static> = MandateRequest {
    audience: "https://host.example",
    nonce: "nonce-123",
    transaction_id: "prov-0001",
    payee_id: "host-1",
    amount_minor: 100,
    currency: "USD",
    open_checkout_hash: Some("hash"),
};

static ISSUER: LazyLock<MandateKey> = LazyLock::new(|| MandateKey::new(&[1; 32], "issuer").unwrap());
static AGENT: LazyLock<MandateKey> = LazyLock::new(|| MandateKey::new(&[2; 32], "agent").unwrap());
static ISSUERS: LazyLock<Issuers> =
    LazyLock::new(|| Issuers::new(vec![Issuer::parse(&ISSUER.jwk().to_string()).unwrap()]).unwrap());
static CHAIN: LazyLock<ChainDraft> =
    LazyLock::new(|| ChainDraft::new(&ISSUER, &AGENT, &REQUEST, "spt_1", NOW));
static CONTENTS: LazyLock<ContentsDraft> =
    LazyLock::new(|| ContentsDraft::new(&ISSUER, &REQUEST, "spt_1", NOW));
static SIGNED_CHAIN: LazyLock<String> = LazyLock::new(|| CHAIN.chain());

fuzz_target!(|data: &[u8]| {
    let text = str::from_utf8(data).unwrap_or_default();
    let _ = Issuer::parse(text);
    let _ = verify(&json!({ "payment_mandate": text }));
    let Some((&choice, rest)) = data.split_first() else { return };
    damage(rest);
    let Ok(value) = serde_json::from_slice::<Value>(rest) else { return };
    let _ = verify(&value);
    let body = match choice % 8 {
        0 => changed_chain(|draft| draft.links[0].claims["_sd"] = value),
        1 => changed_chain(|draft| draft.links[0].mandate["constraints"] = value),
        2 => changed_chain(|draft| draft.links[0].mandate["cnf"] = value),
        3 => changed_chain(|draft| draft.links[1].mandate = value),
        4 => changed_chain(|draft| draft.links[1].header = value),
        5 => changed_chain(|draft| {
            let texts = value.as_array().into_iter().flatten().filter_map(Value::as_str);
            draft.links[0].disclosures.extend(texts.map(str::to_owned));
        }),
        6 => ContentsDraft { contents: value, ..CONTENTS.clone() }.sign(),
        _ => ContentsDraft { claims: value, ..CONTENTS.clone() }.sign(),
    };
    if let Ok(verified) = verify(&body) {
        assert_eq!(verified.transaction_id, REQUEST.transaction_id);
    }
});

fn changed_chain(change: impl FnOnce(&mut ChainDraft)) -> Value {
    let mut draft = CHAIN.clone();
    change(&mut draft);
    draft.sign()
}

/// Changes a few characters of a signed chain.
fn damage(changes: &[u8]) {
    let mut bytes = SIGNED_CHAIN.clone().into_bytes();
    for change in changes.chunks_exact(3).take(8) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % bytes.len();
        bytes[at] = change[2] & 0x7f;
    }
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(verify(&json!({ "payment_mandate": text })).is_ok(), text == *SIGNED_CHAIN);
}

fn verify(body: &Value) -> Result<VerifiedMandate, MandateRefusal> {
    Mandate::parse(body)?.verify(&ISSUERS, &REQUEST, NOW)
}
