//! Mandates that must not buy anything: each is refused with its reason, nothing is created, and the processor is not asked.

use crate::harness::{MandateOffer, Node, Setup, on_each_database};
use dropleaf_pay::payer::{Binding, ChainDraft, ContentsDraft, MandateKey, disclosure};
use serde_json::{Value, json};

const TOKEN: &str = "spt_test_visa_1";

type Case<T> = (&'static str, u16, &'static str, fn(&mut T, i64));

fn stranger(kid: &str) -> MandateKey {
    MandateKey::new(&[5; 32], kid).unwrap()
}

fn remove(object: &mut Value, name: &str) {
    object.as_object_mut().unwrap().remove(name).unwrap();
}

fn constrain(draft: &mut ChainDraft, constraint: &Value) {
    draft.links[0].mandate["constraints"] = json!([constraint]);
    draft.links[0].disclosures.clear();
}

const CHAINS: &[Case<ChainDraft>] = &[
    ("an unknown issuer", 402, "unknown_issuer", |it, _| it.links[0].header["kid"] = json!("nobody")),
    ("no issuer", 402, "unknown_issuer", |it, _| remove(&mut it.links[0].header, "kid")),
    ("a stranger as issuer", 402, "invalid_signature", |it, _| {
        it.links[0].key = stranger("dropleaf-sandbox");
    }),
    ("a stranger as agent", 402, "invalid_signature", |it, _| it.links[1].key = stranger("agent")),
    ("alg none", 402, "wrong_algorithm", |it, _| it.links[0].header["alg"] = json!("none")),
    ("alg HS256", 402, "wrong_algorithm", |it, _| it.links[1].header["alg"] = json!("HS256")),
    ("a critical header", 402, "unsupported_header", |it, _| it.links[0].header["crit"] = json!(["b64"])),
    ("no key for the agent", 402, "key_missing", |it, _| remove(&mut it.links[0].mandate, "cnf")),
    ("a private key", 402, "invalid_key", |it, _| it.links[0].mandate["cnf"]["jwk"]["d"] = json!("AA")),
    ("a key at the end", 402, "unexpected_key", |it, _| {
        it.links[1].mandate["cnf"] = it.links[0].mandate["cnf"].clone();
    }),
    ("no binding", 402, "unbound_hop", |it, _| it.links[1].binding = None),
    ("two bindings", 402, "unbound_hop", |it, _| {
        it.links[1].binding = Some(Binding::SdHash);
        it.links[1].claims["issuer_jwt_hash"] = json!("hash");
    }),
    ("another root", 402, "hop_mismatch", |it, _| {
        it.links[1].binding = None;
        it.links[1].claims["sd_hash"] = json!("g3cL_goVSpVYkmihfWLoPZJeV54_vAIYb5NGCKs4GPE");
    }),
    ("a type that delegates", 402, "wrong_hop_type", |it, _| {
        it.links[1].header["typ"] = json!("kb+sd-jwt+kb");
    }),
    ("a checkout mandate", 402, "wrong_mandate_type", |it, _| {
        it.links[1].mandate["vct"] = json!("mandate.checkout.1");
    }),
    ("a hidden limit", 402, "hidden_claims", |it, _| it.links[0].mandate["_sd"] = json!(["digest"])),
    ("another audience", 402, "audience_mismatch", |it, _| {
        it.links[1].claims["aud"] = json!("https://other.example");
    }),
    ("another nonce", 402, "nonce_mismatch", |it, _| it.links[1].claims["nonce"] = json!("nonce-123")),
    ("the transaction as nonce", 402, "nonce_mismatch", |it, _| {
        it.links[1].claims["nonce"] = it.links[1].mandate["transaction_id"].clone();
    }),
    ("no nonce", 402, "nonce_mismatch", |it, _| remove(&mut it.links[1].claims, "nonce")),
    ("a root that has expired", 402, "expired", |it, now| it.links[0].mandate["exp"] = json!(now - 300)),
    ("an end that is past", 402, "expired", |it, now| it.links[1].mandate["exp"] = json!(now - 300)),
    ("a time in the future", 402, "not_yet_valid", |it, now| it.links[1].claims["iat"] = json!(now + 301)),
    ("no end", 402, "times_missing", |it, _| remove(&mut it.links[1].mandate, "exp")),
    ("another transaction", 402, "transaction_mismatch", |it, _| {
        it.links[1].mandate["transaction_id"] = json!("prov-0001");
    }),
    ("an invented transaction", 402, "transaction_mismatch", |it, _| {
        it.links[1].mandate["transaction_id"] = json!(format!("ap2_{}", "A".repeat(75)));
    }),
    ("another payee", 402, "payee_mismatch", |it, _| it.links[1].mandate["payee"]["id"] = json!("shop")),
    ("a cent less", 402, "amount_mismatch", |it, _| {
        it.links[1].mandate["payment_amount"]["amount"] = json!(99);
    }),
    ("dollars for cents", 402, "amount_mismatch", |it, _| {
        it.links[1].mandate["payment_amount"]["amount"] = json!(1);
    }),
    ("another currency", 402, "currency_mismatch", |it, _| {
        it.links[1].mandate["payment_amount"]["currency"] = json!("EUR");
    }),
    ("an amount as text", 400, "malformed_member", |it, _| {
        it.links[1].mandate["payment_amount"]["amount"] = json!("100");
    }),
    ("a card", 402, "unsupported_instrument", |it, _| {
        it.links[1].mandate["payment_instrument"]["type"] = json!("card");
    }),
    ("no token", 402, "invalid_instrument", |it, _| {
        it.links[1].mandate["payment_instrument"]["id"] = json!("pm_card_visa");
    }),
    ("a token with a space", 402, "invalid_instrument", |it, _| {
        it.links[1].mandate["payment_instrument"]["id"] = json!("spt_1 ");
    }),
    ("too much for the user", 402, "amount_not_allowed", |it, _| {
        it.links[0].mandate["constraints"][0]["max"] = json!(99);
    }),
    ("not a payee of the user", 402, "payee_not_allowed", |it, _| {
        constrain(it, &json!({"type": "payment.allowed_payees", "allowed": [{"id": "shop"}]}));
    }),
    ("not an instrument of the user", 402, "instrument_not_allowed", |it, _| {
        let allowed = json!([{"id": "spt_other", "type": "stripe_spt"}]);
        constrain(it, &json!({"type": "payment.allowed_payment_instruments", "allowed": allowed}));
    }),
    ("too late for the user", 402, "date_not_allowed", |it, _| {
        constrain(it, &json!({"type": "payment.execution_date", "not_after": "2020-01-01"}));
    }),
    ("a checkout that there is not", 402, "checkout_required", |it, _| {
        constrain(it, &json!({"type": "payment.reference", "conditional_transaction_id": "ref"}));
    }),
    ("a budget", 402, "history_required", |it, _| {
        constrain(it, &json!({"type": "payment.budget", "max": 1000, "currency": "USD"}));
    }),
    ("an unknown constraint", 402, "unknown_constraint", |it, _| {
        constrain(it, &json!({"type": "payment.weather"}));
    }),
    ("a fixed amount", 402, "fixed_property_mismatch", |it, _| {
        it.links[0].mandate["payment_amount"] = json!({"amount": 99, "currency": "USD"});
    }),
    ("a disclosure of nothing", 400, "unreferenced_disclosure", |it, now| {
        it.links[1].disclosures.push(disclosure(&json!(["salt", "exp", now])).0);
    }),
    ("no mandate inside", 400, "mandate_count", |it, _| it.links[1].claims["delegate_payload"] = json!([])),
    ("another digest", 400, "unsupported_digest", |it, _| it.links[0].claims["_sd_alg"] = json!("sha-512")),
];

const CONTENTS: &[Case<ContentsDraft>] = &[
    ("an unknown issuer", 402, "unknown_issuer", |it, _| it.header["kid"] = json!("nobody")),
    ("a stranger", 402, "invalid_signature", |it, _| it.key = stranger("dropleaf-sandbox")),
    ("alg none", 402, "wrong_algorithm", |it, _| it.header["alg"] = json!("none")),
    ("another audience", 402, "audience_mismatch", |it, _| it.claims["aud"] = json!("https://other.example")),
    ("another nonce", 402, "nonce_mismatch", |it, _| it.claims["nonce"] = json!("nonce-123")),
    ("expired", 402, "expired", |it, now| it.claims["exp"] = json!(now - 300)),
    ("in the future", 402, "not_yet_valid", |it, now| it.claims["iat"] = json!(now + 301)),
    ("no end", 402, "times_missing", |it, _| remove(&mut it.claims, "exp")),
    ("other contents", 402, "contents_mismatch", |it, _| it.claims["transaction_data"] = json!(["hash"])),
    ("another transaction", 402, "transaction_mismatch", |it, _| {
        it.contents["payment_details_id"] = json!("prov-0001");
    }),
    ("a response to another request", 402, "transaction_mismatch", |it, _| {
        it.contents["payment_response"]["request_id"] = json!("prov-0001");
    }),
    ("another merchant", 402, "payee_mismatch", |it, _| it.contents["merchant_agent"] = json!("shop")),
    ("another currency", 402, "currency_mismatch", |it, _| {
        it.contents["payment_details_total"]["amount"]["currency"] = json!("EUR");
    }),
    ("cents for dollars", 402, "amount_mismatch", |it, _| {
        it.contents["payment_details_total"]["amount"]["value"] = json!(100);
    }),
    ("a card", 402, "unsupported_instrument", |it, _| {
        it.contents["payment_response"]["method_name"] = json!("CARD");
    }),
    ("no token", 402, "invalid_instrument", |it, _| {
        it.contents["payment_response"]["details"]["shared_payment_token"] = json!("tok_visa");
    }),
    ("no id", 400, "malformed_member", |it, _| remove(&mut it.contents, "payment_mandate_id")),
];

/// Bodies that are no mandates, made from good ones.
fn malformed(offer: &MandateOffer) -> Vec<(Value, &'static str)> {
    let (chain, contents) = (offer.chain(TOKEN), offer.contents(TOKEN).sign());
    let text = chain.chain();
    let mut both = chain.sign();
    both["user_authorization"] = contents["user_authorization"].clone();
    let mut half = contents.clone();
    remove(&mut half, "user_authorization");
    let mut long = chain.clone();
    long.links.extend(vec![chain.links[1].clone(); 4]);
    vec![
        (json!(null), "not_a_mandate"),
        (json!("text"), "not_a_mandate"),
        (json!([]), "not_a_mandate"),
        (json!({}), "not_a_mandate"),
        (json!({"payment_mandate": 1}), "not_a_mandate"),
        (both, "not_a_mandate"),
        (half, "not_a_mandate"),
        (json!({"payment_mandate": ""}), "malformed_token"),
        (json!({"payment_mandate": "a.b.c~"}), "malformed_token"),
        (json!({"payment_mandate": text.trim_end_matches('~')}), "malformed_token"),
        (json!({"payment_mandate": format!("{text}~")}), "malformed_disclosure"),
        (long.sign(), "too_many_hops"),
    ]
}

/// Nothing was created, charged or stored.
async fn check_untouched(node: &Node, before: i64) {
    assert_eq!(node.count("SELECT COUNT(*) FROM accounts").await, before);
    for table in [
        "SELECT COUNT(*) FROM payments",
        "SELECT COUNT(*) FROM idempotency",
        "SELECT COUNT(*) FROM sandbox_objects",
        "SELECT COUNT(*) FROM ledger_txns",
    ] {
        assert_eq!(node.count(table).await, 0, "{table}");
    }
}

async fn refused(node: &Node, what: &str, mandate: &Value, status: u16, reason: &str) {
    let answer = node.provision_by_mandate(mandate).await;
    let body = answer.json();
    let error = if status == 400 { "invalid_payment" } else { "payment_refused" };
    assert_eq!(
        (answer.status, &body["error"], &body["reason"]),
        (status, &json!(error), &json!(reason)),
        "{what}: {body}"
    );
    assert!(body["error_description"].as_str().unwrap().contains("Nothing was charged"), "{what}: {body}");
    assert_eq!(answer.has("payment-required"), status == 402, "{what}");
    assert_eq!(body["ap2"]["transaction_id"].is_string(), status == 402, "{what}: terms to sign again");
    assert!(body["api_key"].is_null() && !answer.text().contains("spt_test"), "{what}");
}

#[tokio::test]
async fn bad_mandates_are_refused_with_their_reason_and_touch_nothing() {
    on_each_database(Setup::new, async |node| {
        let before = node.count("SELECT COUNT(*) FROM accounts").await;
        for (what, status, reason, change) in CHAINS {
            let offer = node.mandate_offer().await;
            let mut draft = offer.chain(TOKEN);
            change(&mut draft, offer.now);
            refused(node, what, &draft.sign(), *status, reason).await;
        }
        for (what, status, reason, change) in CONTENTS {
            let offer = node.mandate_offer().await;
            let mut draft = offer.contents(TOKEN);
            change(&mut draft, offer.now);
            refused(node, &format!("v0.1: {what}"), &draft.sign(), *status, reason).await;
        }
        for (body, reason) in malformed(&node.mandate_offer().await) {
            refused(node, &body.to_string(), &body, 400, reason).await;
        }
        check_untouched(node, before).await;
    })
    .await;
}

#[tokio::test]
async fn mandates_of_other_servers_and_times_are_refused() {
    let (node, other) = (Node::start().await, Node::start().await);
    let before = node.count("SELECT COUNT(*) FROM accounts").await;
    // The reference vectors: another server's transaction.
    let chain = include_str!("../../../../pay/tests/vectors/ap2_chain.txt");
    let vector = json!({"payment_mandate": chain.trim_end()});
    refused(&node, "the v0.2 vector", &vector, 402, "transaction_mismatch").await;
    let vector: Value =
        serde_json::from_str(include_str!("../../../../pay/tests/vectors/ap2_v01_vector.json")).unwrap();
    let contents: Value = serde_json::from_str(vector["canonical"].as_str().unwrap()).unwrap();
    let vector =
        json!({"payment_mandate_contents": contents, "user_authorization": vector["user_authorization"]});
    refused(&node, "the v0.1 vector", &vector, 402, "transaction_mismatch").await;
    // A transaction of another server, and one of ours with another nonce of ours.
    let foreign = other.mandate_offer().await;
    refused(&node, "another server", &foreign.chain(TOKEN).sign(), 402, "transaction_mismatch").await;
    let (mut one, two) = (node.mandate_offer().await, node.mandate_offer().await);
    one.terms["nonce"] = two.terms["nonce"].clone();
    refused(&node, "the nonce of another transaction", &one.chain(TOKEN).sign(), 402, "nonce_mismatch").await;
    // A change after signing.
    let mut changed = two.contents(TOKEN).sign();
    changed["payment_mandate_contents"]["payment_details_total"]["label"] = json!("Tip");
    refused(&node, "changed contents", &changed, 402, "contents_mismatch").await;
    // A transaction that nobody paid in time, with a mandate that is valid for longer.
    let mut late = two.chain(TOKEN);
    for link in &mut late.links {
        link.mandate["exp"] = json!(two.now + 86_400);
    }
    node.clock.advance(600);
    refused(&node, "too late", &late.sign(), 402, "transaction_expired").await;
    check_untouched(&node, before).await;
}

#[tokio::test]
async fn mandate_beside_another_payment_is_400() {
    let node = Node::start().await;
    let before = node.count("SELECT COUNT(*) FROM accounts").await;
    let mandate = node.mandate_offer().await.chain(TOKEN).sign();
    let both = json!({"ap2_mandate": mandate, "acp_shared_payment_token": TOKEN});
    node.post("/provision").json(&both).send().await.refused(400, "invalid_field");
    for header in ["PAYMENT-SIGNATURE", "X-PAYMENT"] {
        let ask = node.post("/provision").header(header, "x").json(&json!({"ap2_mandate": mandate}));
        ask.send().await.refused(400, "invalid_field");
    }
    let large = json!({"payment_mandate": "~".repeat(64 * 1024)});
    node.provision_by_mandate(&large).await.refused(413, "too_large");
    check_untouched(&node, before).await;
}

#[test]
fn there_are_enough_of_them() {
    assert!(CHAINS.len() + CONTENTS.len() >= 60);
}
