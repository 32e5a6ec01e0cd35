//! `dropleaf facilitator`: the real binary as the facilitator of a server in live mode.

use crate::harness::{Dropleaf, Purse, Setup, page};
use dropleaf_core::payment::Item;
use dropleaf_core::{Clock, SystemClock};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use tempfile::TempDir;

const PAY_TO: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const SOLANA_PAY_TO: &str = "9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu";

struct Running {
    child: Child,
    url: String,
    /// Kept open, because the process keeps writing to it.
    _said: BufReader<ChildStdout>,
}

impl Running {
    fn start(dir: &Path) -> Self {
        let dropleaf = Dropleaf::in_dir(dir);
        let mut command = dropleaf.command(&["facilitator", "--listen", "localhost:0", "--data-dir", "data"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        said.read_line(&mut line).unwrap();
        let url = line.trim().rsplit(' ').next().unwrap().to_owned();
        assert!(url.starts_with("http://localhost:"), "{line}");
        Self { child, url, _said: said }
    }

    /// Like a power failure.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn client() -> reqwest::Client {
    dropleaf::tls::install_provider();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

async fn post(url: &str, body: &str) -> (u16, Value) {
    let answer = client().post(url).body(body.to_owned()).send().await.unwrap();
    let status = answer.status().as_u16();
    (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or(Value::Null))
}

async fn get(url: &str) -> Value {
    let answer = client().get(url).send().await.unwrap();
    serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_server_sells_through_it() {
    let dir = TempDir::new().unwrap();
    let facilitator = Running::start(dir.path());
    let setup = Setup::new().real_time().set("payments.mode", "live");
    let setup = setup.set("payments.facilitator_url", &facilitator.url);
    let node =
        setup.set("payments.evm_pay_to", PAY_TO).set("payments.solana_pay_to", SOLANA_PAY_TO).start().await;
    let now = SystemClock::default().now();
    let purses = [Purse::new(), Purse::new().v1()];
    for (purse, (nonce, header, receipt)) in purses
        .iter()
        .zip([(1, "payment-signature", "payment-response"), (2, "x-payment", "x-payment-response")])
    {
        let terms = node.app().listing(Item::Publish).unwrap().terms.clone();
        assert!(!terms.sandbox, "to the server it is real");
        let proof = purse.header(&terms, nonce, now);
        let publish = async || {
            let body = json!({"html": page("Paid")});
            node.post("/publish").header(header, &proof).json(&body).send().await
        };
        let first = publish().await.expect(201);
        assert!(first.has(receipt));
        node.get(first.json()["url"].as_str().unwrap()).send().await.expect(200);
        assert_eq!(publish().await.expect(201).json()["id"], first.json()["id"]);
    }
    let terms = node.app().listing(Item::Provision).unwrap().terms.clone();
    let proof = purses[0].header(&terms, 3, now);
    let key = node.post("/provision").header("payment-signature", &proof).send().await.expect(200).json();
    node.get("/me").key(key["api_key"].as_str().unwrap()).send().await.expect(200);
    assert_eq!(
        node.count("SELECT COUNT(*) FROM payments WHERE state = 'fulfilled' AND sandbox = 0").await,
        3
    );
    assert_eq!(node.count("SELECT COUNT(*) FROM sandbox_transfers").await, 0, "its ledger is its own");

    // Without it nothing is sold and no payment is taken.
    facilitator.kill();
    let terms = node.app().listing(Item::Publish).unwrap().terms.clone();
    let proof = purses[0].header(&terms, 4, now);
    let body = json!({"html": page("Unpaid")});
    let refused = node.post("/publish").header("payment-signature", &proof).json(&body).send().await;
    refused.refused(502, "facilitator_unavailable");
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_answers_as_facilitators_do_and_forgets_nothing() {
    let dir = TempDir::new().unwrap();
    let first = Running::start(dir.path());
    assert_eq!(get(&format!("{}/healthz", first.url)).await["status"], "ok");
    let supported = get(&format!("{}/supported", first.url)).await;
    let names: Vec<_> = supported["kinds"].as_array().unwrap().iter().map(|kind| &kind["network"]).collect();
    assert!(names.contains(&&json!("eip155:8453")) && names.contains(&&json!("base")), "{names:?}");
    for (path, member) in [("verify", "isValid"), ("settle", "success")] {
        for garbage in ["", "x", "{}"] {
            let (status, answer) = post(&format!("{}/{path}", first.url), garbage).await;
            assert_eq!((status, &answer[member]), (200, &json!(false)), "{garbage}");
        }
        let (status, _) = post(&format!("{}/{path}", first.url), &"x".repeat(256 * 1024 + 1)).await;
        assert_eq!(status, 413);
    }

    // A server in sandbox mode has the same fee payer and addresses, so its requests can be used.
    let node = Setup::new().real_time().start().await;
    let terms = node.app().listing(Item::Publish).unwrap().terms.clone();
    let now = SystemClock::default().now();
    let checked = Purse::new().sign(&terms, 1, now).check(&terms, now).unwrap();
    let body = dropleaf_pay::facilitator::build_request(&checked, &terms);
    let (_, verified) = post(&format!("{}/verify", first.url), &body).await;
    assert_eq!(verified["isValid"], true);
    let (_, settled) = post(&format!("{}/settle", first.url), &body).await;
    assert_eq!(settled["success"], true);
    first.kill();
    let second = Running::start(dir.path());
    assert_eq!(post(&format!("{}/settle", second.url), &body).await.1, settled);
    let (_, verified) = post(&format!("{}/verify", second.url), &body).await;
    assert_eq!(verified["isValid"], false);
    second.kill();
}
