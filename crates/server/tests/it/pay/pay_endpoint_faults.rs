//! Faults at the paid endpoints: the response to a client whose payment meets a failing facilitator, that disconnects,
//! that sends twenty copies, and when the server is killed.

use crate::harness::{Answer, Call, Dropleaf, FacilitatorServer, Fault, Node, Purse, Setup, page};
use dropleaf_core::payment::Item;
use dropleaf_core::{Clock, SystemClock};
use dropleaf_pay::{Amount, Asset, EvmAddress, Offer, Receipt, Resource, Terms, Token};
use dropleaf_store::Db;
use futures_util::future::join_all;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

const PAY_TO: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const SOLANA_PAY_TO: &str = "9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu";
const PRICE: u64 = 500_000;
const PENDING: &str =
    r#"{"success":false,"errorReason":"settlement_pending","transaction":"0xabc","network":"eip155:8453"}"#;

/// With a facilitator timeout longer than any response takes on a busy machine.
fn live(fake: &FacilitatorServer) -> Setup {
    let setup = Setup::new().set("payments.mode", "live").set("payments.facilitator_url", fake.url());
    let setup =
        setup.set("payments.settle_timeout_seconds", "60").set("payments.verify_timeout_seconds", "60");
    setup.set("payments.evm_pay_to", PAY_TO)
}

async fn node(fake: &FacilitatorServer) -> Node {
    live(fake).start().await
}

/// Publishes while the facilitator does not answer, several times: each time it is called, the minute is skipped.
async fn publish_timing_out(
    node: &Node,
    fake: &FacilitatorServer,
    nonce: u8,
    call: Call,
    times: usize,
) -> Answer {
    let before = fake.calls(call);
    let minutes_pass = async {
        for asked in 1..=times {
            while fake.calls(call) < before + asked {
                tokio::task::yield_now().await;
            }
            tokio::time::pause();
            tokio::time::advance(Duration::from_secs(61)).await;
            tokio::time::resume();
        }
    };
    tokio::join!(publish(node, nonce), minutes_pass).0
}

async fn publish(node: &Node, nonce: u8) -> Answer {
    let terms = node.app().listing(Item::Publish).unwrap().terms.clone();
    let proof = Purse::new().header(&terms, nonce, node.app().now());
    let body = json!({"html": page("Paid for")});
    node.post("/publish").header("payment-signature", &proof).json(&body).send().await
}

#[tokio::test]
async fn an_unknown_outcome_is_502_without_terms_and_the_same_header_gets_the_page() {
    let fake = FacilitatorServer::start().await;
    let node = node(&fake).await;
    let faults = [
        Fault::says(500, "{}"),
        Fault::does_and_says(200, "garbage"),
        Fault::does_and_says(200, PENDING),
        Fault::says(200, r#"{"success":"true","transaction":"0xabc","network":"eip155:8453"}"#),
        Fault::Closes,
        Fault::DoesAndCloses,
        Fault::Hangs,
    ];
    for (nonce, fault) in (1..).zip(faults) {
        fake.next(Call::Settle, [fault.clone(), fault.clone()]);
        let answer = match fault {
            Fault::Hangs => publish_timing_out(&node, &fake, nonce, Call::Settle, 2).await,
            _ => publish(&node, nonce).await,
        };
        for header in ["payment-required", "payment-response"] {
            assert!(!answer.has(header), "{fault:?}: {header}");
        }
        assert!(answer.has("retry-after"), "{fault:?}");
        assert_eq!(answer.json().get("accepts"), None, "{fault:?}");
        let named = format!("{fault:?}").contains("0xabc").then(|| json!("0xabc"));
        assert_eq!(answer.json().get("transaction"), named.as_ref(), "{fault:?}");
        answer.refused(502, "settlement_unknown");

        node.clock.advance(10);
        let sold = publish(&node, nonce).await.expect(201);
        assert!(Receipt::parse(sold.header("payment-response")).is_some());
        assert_eq!(fake.moved(), u64::from(nonce) * PRICE, "{fault:?}");
        assert_eq!(publish(&node, nonce).await.expect(201).body, sold.body, "{fault:?}");
        node.get(sold.json()["url"].as_str().unwrap()).send().await.expect(200);
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, i64::from(nonce));
    }
}

#[tokio::test]
async fn a_payment_that_somebody_else_submitted_is_502_without_terms() {
    let fake = FacilitatorServer::start().await;
    let node = node(&fake).await;
    let reverted = format!(
        r#"{{"success":false,"errorReason":"invalid_exact_evm_transaction_failed","transaction":"0x{}","network":"eip155:8453"}}"#,
        "ab".repeat(32)
    );
    let simulated = r#"{"isValid":false,"invalidReason":"invalid_exact_evm_transaction_simulation_failed"}"#;
    fake.next(Call::Settle, [Fault::overtaken(&reverted)]);
    let first = publish(&node, 1).await;
    fake.next(Call::Verify, [Fault::overtaken(simulated)]);
    let second = publish(&node, 2).await;
    for (nonce, answer) in (1..).zip([first, second]) {
        assert!(
            !answer.has("payment-required") && !answer.has("payment-response") && answer.has("retry-after")
        );
        assert_eq!(answer.json().get("accepts"), None);
        answer.refused(502, "settlement_unknown");
        node.clock.advance(10);
        publish(&node, nonce).await.expect(201);
    }
    assert_eq!(fake.moved(), 2 * PRICE);
}

#[tokio::test]
async fn while_the_facilitator_is_away_evm_terms_are_offered_and_only_a_proof_is_502() {
    let fake = FacilitatorServer::start().await;
    let node = live(&fake).set("payments.solana_pay_to", SOLANA_PAY_TO).start().await;
    let networks = async || -> Vec<String> {
        let terms = node.post("/publish").send().await.refused(402, "payment_required").json();
        let offers = terms["accepts"].as_array().unwrap();
        offers.iter().map(|offer| offer["network"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(networks().await, ["base", "solana"]);
    let before = node.app().listing(Item::Publish).unwrap().terms.clone();
    for fault in [Fault::Closes, Fault::says(500, "{}"), Fault::says(200, "garbage")] {
        fake.next(Call::Supported, [fault]);
        assert!(!node.app().refresh_listings().await);
        assert_eq!(networks().await, ["base"]);
    }
    node.get("/publish").send().await.refused(402, "payment_required");
    node.post("/provision").send().await.refused(402, "payment_required");
    let found = node.get("/.well-known/x402").send().await.expect(200).json();
    assert!(!found["resources"].as_array().unwrap().is_empty() && found["lastUpdated"].is_i64(), "{found}");

    fake.next(Call::Verify, [Fault::Closes]);
    publish(&node, 1).await.refused(502, "facilitator_unavailable");
    // Signed for the earlier terms, which cannot be compared with the current ones.
    let proof = Purse::new().solana_header(&before, 1);
    let body = json!({"html": page("Paid for")});
    let late = node.post("/publish").header("payment-signature", &proof).json(&body).send().await;
    late.refused(502, "facilitator_unavailable");
    assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 0);
    assert!(node.app().refresh_listings().await);
    assert_eq!(networks().await, ["base", "solana"]);
}

#[tokio::test]
async fn without_an_evm_network_nothing_is_offered_while_the_facilitator_is_away() {
    let fake = FacilitatorServer::start().await;
    let setup = Setup::new().set("payments.mode", "live").set("payments.facilitator_url", fake.url());
    let node = setup.set("payments.solana_pay_to", SOLANA_PAY_TO).start().await;
    node.get("/publish").send().await.refused(402, "payment_required");
    fake.next(Call::Supported, [Fault::Closes]);
    assert!(!node.app().refresh_listings().await);
    let found = node.get("/.well-known/x402").send().await.expect(200).json();
    assert_eq!((&found["resources"], found.get("lastUpdated")), (&json!([]), None));
    node.get("/publish").send().await.refused(502, "facilitator_unavailable");
}

#[tokio::test]
async fn server_that_starts_while_the_facilitator_is_away_offers_evm_terms() {
    let fake = FacilitatorServer::start().await;
    fake.next(Call::Supported, [Fault::Closes]);
    let node = node(&fake).await;
    node.get("/publish").send().await.refused(402, "payment_required");
}

#[tokio::test]
async fn a_facilitator_that_cannot_verify_is_502_and_one_that_refuses_to_settle_is_402_with_a_receipt() {
    let fake = FacilitatorServer::start().await;
    let node = node(&fake).await;
    for fault in [Fault::says(500, "{}"), Fault::says(200, "garbage"), Fault::Closes] {
        fake.next(Call::Verify, [fault]);
        publish(&node, 1).await.refused(502, "facilitator_unavailable");
    }
    fake.next(Call::Verify, [Fault::Hangs]);
    publish_timing_out(&node, &fake, 1, Call::Verify, 1).await.refused(502, "facilitator_unavailable");
    assert_eq!((fake.calls(Call::Settle), node.count("SELECT COUNT(*) FROM payments").await), (0, 0));

    let no =
        r#"{"success":false,"errorReason":"insufficient_funds","transaction":"","network":"eip155:8453"}"#;
    fake.next(Call::Settle, [Fault::says(200, no)]);
    let answer = publish(&node, 1).await;
    let receipt = Receipt::parse(answer.header("payment-response")).unwrap();
    assert!(format!("{receipt:?}").contains("insufficient_funds"));
    assert!(answer.has("payment-required"), "and the terms again");
    answer.refused(402, "payment_refused");
    publish(&node, 1).await.expect(201);
    assert_eq!(fake.moved(), PRICE);
}

#[tokio::test]
async fn who_hangs_up_loses_nothing() {
    let fake = FacilitatorServer::start().await;
    let node = node(&fake).await;
    fake.next(Call::Settle, [Fault::Waits]);
    tokio::select! {
        biased;
        _ = publish(&node, 1) => panic!("it stalls"),
        call = fake.stalled() => assert_eq!(call, Call::Settle),
    }
    // The client has disconnected; a copy of its request waits for the first.
    fake.let_go();
    publish(&node, 1).await.expect(201);
    assert_eq!((fake.calls(Call::Settle), fake.moved()), (1, PRICE));
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
}

#[tokio::test]
async fn twenty_copies_over_http_get_the_same_answer() {
    let fake = FacilitatorServer::start().await;
    let node = node(&fake).await;
    let answers = join_all((0..20).map(|_| publish(&node, 1))).await;
    let bodies: Vec<_> = answers.into_iter().map(|answer| answer.expect(201).body).collect();
    assert!(bodies.windows(2).all(|two| two[0] == two[1]));
    assert_eq!((fake.calls(Call::Settle), fake.moved()), (1, PRICE));
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
}

/// The real binary, in live mode.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn start(dir: &Path, facilitator: &str) -> Self {
        let mut command = Dropleaf::in_dir(dir).command(&["serve", "--listen", "localhost:0"]);
        for (name, value) in [
            ("DROPLEAF_DATA_DIR", dir.join("data").to_str().unwrap()),
            ("DROPLEAF_PAYMENTS__MODE", "live"),
            ("DROPLEAF_PAYMENTS__FACILITATOR_URL", facilitator),
            ("DROPLEAF_PAYMENTS__EVM_PAY_TO", PAY_TO),
        ] {
            command.env(name, value);
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        let url = said.lines().find_map(|line| {
            let line = line.unwrap();
            let at = line.find("http://localhost:")?;
            let port: String =
                line[at + "http://localhost:".len()..].chars().take_while(char::is_ascii_digit).collect();
            Some(format!("http://127.0.0.1:{port}"))
        });
        Self { child, url: url.unwrap() }
    }

    async fn publish(&self, header: String) -> Option<(u16, serde_json::Value)> {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = client.post(format!("{}/publish", self.url)).header("x-payment", header);
        let answer = request.header("content-type", "text/html").body(page("Paid for")).send().await.ok()?;
        let status = answer.status().as_u16();
        Some((status, serde_json::from_slice(&answer.bytes().await.ok()?).unwrap()))
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// The terms of the binary, as far as v1 signs them.
fn terms() -> Terms {
    let pay_to = EvmAddress::parse(PAY_TO).unwrap();
    let asset = Asset::Evm { chain_id: 8453, token: Token::usdc(8453).unwrap(), pay_to };
    let resource = Resource {
        url: "http://localhost/publish".into(),
        description: String::new(),
        mime_type: "application/json".into(),
    };
    Terms::new(resource, vec![Offer::new(asset, Amount::new(PRICE), 180)]).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_binary_killed_while_it_settles_finishes_after_its_restart() {
    dropleaf::tls::install_provider();
    let (dir, clock) = (TempDir::new().unwrap(), Arc::new(SystemClock::default()));
    let fake = FacilitatorServer::start_with(clock.clone()).await;
    let (url, place) = (fake.url(), dir.path().to_owned());
    let start = || {
        let (url, place) = (url.clone(), place.clone());
        tokio::task::spawn_blocking(move || Served::start(&place, &url))
    };
    let served = start().await.unwrap();
    let proofs = [1, 2].map(|nonce| Purse::new().v1().header(&terms(), nonce, clock.now()));
    // One that was not settled when the server dies, and one that was.
    fake.next(Call::Settle, [Fault::Waits, Fault::DoesAndWaits]);
    tokio::select! {
        biased;
        answers = join_all(proofs.iter().map(|proof| served.publish(proof.clone()))) => panic!("{answers:?}"),
        () = async { for _ in 0..2 { fake.stalled().await; } } => {}
    }
    served.kill();
    for _ in 0..2 {
        fake.let_go();
        fake.passed().await;
    }
    let db = Db::open(&format!("sqlite:{}", dir.path().join("data/dropleaf.db").display())).await.unwrap();
    let rows = async || {
        let sql = "SELECT state FROM payments";
        db.list(sql, Vec::new(), |row| Ok(row.text(0)?.to_owned())).await.unwrap()
    };
    assert_eq!(rows().await, ["settling", "settling"]);

    let served = start().await.unwrap();
    for proof in proofs {
        // The holds of the dead process are void; recovery at startup may be working on it, and is waited for.
        let (status, body) = served.publish(proof.clone()).await.unwrap();
        assert_eq!(status, 201, "{body}");
        assert_eq!(served.publish(proof).await.unwrap(), (201, body));
    }
    assert_eq!(rows().await, ["fulfilled", "fulfilled"]);
    assert_eq!((fake.ledger().len(), fake.moved()), (2, 2 * PRICE));
    served.kill();
    db.close().await;
}
