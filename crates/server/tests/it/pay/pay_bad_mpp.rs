//! Credentials of MPP that do not pay, at every paid endpoint: each is the good one with one change. It is refused with a new
//! challenge, and nothing is created or charged. Which reason belongs to which change is tested in the crate `pay`.

use super::prepaid::Customer;
use crate::harness::{Answer, Ask, Node, Purse, page};
use dropleaf_core::unlock::Sku;
use dropleaf_pay::Token;
use dropleaf_pay::payer::{mpp_challenge, mpp_header};
use serde_json::{Value, json};

/// Every member of a credential, as the pointer to it.
const MEMBERS: [&str; 18] = [
    "/challenge",
    "/challenge/id",
    "/challenge/realm",
    "/challenge/method",
    "/challenge/intent",
    "/challenge/request",
    "/challenge/expires",
    "/challenge/opaque",
    "/payload",
    "/payload/type",
    "/payload/from",
    "/payload/to",
    "/payload/value",
    "/payload/validAfter",
    "/payload/validBefore",
    "/payload/nonce",
    "/payload/signature",
    "/source",
];

/// Header values that hold no credential.
const NO_CREDENTIALS: [&str; 10] = [
    "Payment",
    "Payment ",
    "Payment x",
    "Payment ====",
    "Payment e30",
    "Payment W10",
    "Payment bnVsbA",
    "Payment eyJjaGFsbGVuZ2UiOg",
    "Payment id=\"x\", realm=\"y\"",
    "Payment eyJhIjoxLCJhIjoyfQ",
];

/// A challenge of the endpoint and the credential that answers it.
fn credential(owed: &Answer) -> Value {
    let challenge = mpp_challenge(owed.header("www-authenticate")).expect("a challenge");
    Purse::new().evm.mpp_credential(&challenge, &Token::usdc(8453).unwrap()).expect("a credential")
}

/// The good credential with one member missing, of another type, or with another value.
fn changed(good: &Value) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for pointer in MEMBERS {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        for (what, value) in [
            ("missing", None),
            ("a number", Some(json!(7))),
            ("a list", Some(json!([]))),
            ("empty", Some(json!(""))),
            ("another text", Some(json!("0x01"))),
        ] {
            // It is the only member that a credential may leave out.
            if pointer == "/source" && value.is_none() {
                continue;
            }
            let mut bad = good.clone();
            let object = bad.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            match value {
                Some(value) => drop(object.insert(name.to_owned(), value)),
                None => drop(object.remove(name)),
            }
            all.push((format!("{pointer} {what}"), bad));
        }
    }
    all
}

async fn nothing_happened(node: &Node, what: &str) {
    for table in ["SELECT COUNT(*) FROM payments", "SELECT COUNT(*) FROM sites"] {
        assert_eq!(node.count(table).await, 0, "{what}");
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM accounts WHERE email IS NULL").await, 0, "{what}");
}

/// Sends every bad credential to an endpoint, in the field that it takes credentials in.
async fn refuses(node: &Node, ask: impl Fn() -> Ask, field: &str) -> usize {
    let good = credential(&ask().send().await.expect(402));
    let mut count = 0;
    let headers = NO_CREDENTIALS.iter().map(|header| ((*header).to_owned(), (*header).to_owned()));
    let changed = changed(&good).into_iter().map(|(what, bad)| (what, mpp_header(&bad)));
    for (what, header) in headers.chain(changed) {
        let answer = ask().header(field, &header).send().await;
        let body = answer.json();
        // Another method or intent is a request that this server does not understand.
        let is_method = what.starts_with("/challenge/method") || what.starts_with("/challenge/intent");
        if is_method && answer.status == 400 {
            assert_eq!(body["error"], "invalid_payment", "{what}");
        } else {
            assert_eq!(answer.status, 402, "{what}: {body}");
            assert_eq!(body["error"], "payment_refused", "{what}");
            assert!(answer.has("www-authenticate"), "{what}: a new challenge");
        }
        assert!(body["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{what}: {body}");
        count += 1;
    }
    nothing_happened(node, field).await;
    count
}

#[tokio::test]
async fn bad_credentials_are_refused_at_every_endpoint_and_touch_nothing() {
    let node = Node::start().await;
    let html = page("Bad credentials");
    let publish = || node.post("/publish").json(&json!({ "html": html }));
    let provision = || node.post("/provision").header("accept-payment", "evm/charge");
    let mut counts = vec![
        refuses(&node, publish, "authorization").await,
        refuses(&node, provision, "authorization").await,
    ];
    let customer = Customer::new(&node, 0).await;
    let unlock = || node.post("/unlock?feature=make_permanent").key(&customer.key);
    counts.push(refuses(&node, unlock, "payment-authorization").await);
    assert!(counts.iter().all(|count| *count >= 60), "{counts:?}");
    let account = node.app().get_account(&customer.id).await.unwrap();
    assert!(account.unlocks.until(Sku::MakePermanent).is_none());
}
