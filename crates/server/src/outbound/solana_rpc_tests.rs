//! Tests of payment lookups on Solana, against a server with scripted responses.

use super::*;
use crate::outbound::exchange::client;
use crate::outbound::payment_sample::{NOW, payment};
use crate::outbound::scripted_server::{ScriptedServer, answer};

const GENESIS: &str = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
const SOURCE: &str = "3wvJdyFnGvaMWpbq93NU91SggiVRveULUXL6iX5VZDGP";
const TRANSACTION: &str = "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABHkZirG3uz7HzU5ih4uO+NqgtUxfHPuPyIh+3MdRWnkEExVhF5snNUk6fB3jiHMgN3ES/BMlDA/VB3UP4vg74BgAIBBAjtSSjGKNHCxurpAziQWZVhKVknOlxj+TY2wUYUrIc30YqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29cK8kCOGhpAsJh82TGFPHsq0/z4F9YGhwIBT/HU9NN52yMROnTi0H5KqQzBEA7ECRFt9yPict9kQwtNUtP/np+EwMGRm/lIRcy/+ytunLDm+e8jOW7xfcSayxDmzpAAAAAxvp6877brTo9ZfNqq8l0MbG75MLS9uDkfKYCA0UvXWEFSlNamSkhBk0k6HFg2jh8fDW13bySu4HkH6hAQQVEjQbd9uHXZaGT2cvhRs7reawctIXtX1s3kTqM9YV+/wCpruutSnlvzC4V3ExgYbRe2bNz8mrfx5jKfS2MxYGCcY4EBAAFAiBOAAAEAAkDAQAAAAAAAAAHBAIFAwEKDCChBwAAAAAABgYAIDE1M2Q5ZDAxMGEyNDZmOTFkMGFhNGNjMWE3M2Y5YjRkAA==";
/// SHA-256 of its message, in base58.
const MESSAGE: &str = "8eN7PWkrq7P5jD8UdfhhQQXTecf6CAKK6CHWfsZZKya7";

fn paid() -> Payment {
    let ask = json!({ "paymentPayload": { "payload": { "transaction": TRANSACTION } } });
    Payment {
        key: format!("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp|{MESSAGE}"),
        network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp".into(),
        ask: Some(ask.to_string()),
        valid_until: NOW + 120,
        ..payment()
    }
}

/// The signature of the transaction that pays, or of another.
fn name(digit: char) -> String {
    digit.to_string().repeat(88)
}

/// A cluster whose newest block has this `time`, with one other transaction of the payer in it.
#[derive(Debug, Clone)]
struct Cluster {
    genesis: &'static str,
    time: i64,
    /// When our transaction ran, and the error if it failed.
    ran: Option<(i64, Value)>,
    is_blockhash_valid: bool,
    /// How many queries for our transaction by signature return nothing at first.
    late: usize,
    /// The history has 350 entries, and ours is this one.
    line: Option<usize>,
}

fn quiet() -> Cluster {
    Cluster { genesis: GENESIS, time: NOW + 30, ran: None, is_blockhash_valid: true, late: 0, line: None }
}

impl Cluster {
    fn result(&mut self, method: &str, params: &Value) -> Value {
        match method {
            "getGenesisHash" => json!(self.genesis),
            "getSlot" => json!(7),
            "getBlockTime" => json!(self.time),
            "isBlockhashValid" => json!({ "context": {}, "value": self.is_blockhash_valid }),
            "getSignaturesForAddress" => {
                assert_eq!(params[0], SOURCE);
                if let Some(ours) = self.line {
                    return long_history(ours, &params[1]);
                }
                let ours =
                    self.ran.as_ref().map(|(time, _)| json!({ "signature": name('5'), "blockTime": time }));
                let others =
                    [NOW, NOW - 10_000].map(|time| json!({ "signature": name('4'), "blockTime": time }));
                ours.into_iter().chain(others).collect()
            }
            "getTransaction" if self.late > 0 => {
                self.late -= 1;
                Value::Null
            }
            "getTransaction" => match &self.ran {
                Some((_, error)) if params[0] == name('5').as_str() => {
                    json!({ "transaction": [TRANSACTION, "base64"], "meta": { "err": error } })
                }
                _ if params[0] == name('4').as_str() => {
                    json!({ "transaction": ["AAAA", "base64"], "meta": { "err": null } })
                }
                _ => Value::Null,
            },
            _ => panic!("{method}"),
        }
    }

    fn start(mut self) -> (SolanaRpc, ScriptedServer) {
        crate::tls::install_provider();
        let there = ScriptedServer::answering(move |request| {
            let body: Value = serde_json::from_str(request.split("\r\n\r\n").nth(1)?).ok()?;
            let result = self.result(body["method"].as_str()?, &body["params"]);
            Some(answer(200, &json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string()))
        });
        let mut chain = SolanaRpc::new(client().unwrap(), there.url.parse().unwrap());
        chain.rpc.pause = Duration::ZERO;
        (chain, there)
    }

    async fn trace(self) -> ChainStatus {
        let (rpc, _there) = self.start();
        rpc.trace(&paid()).await
    }
}

/// A page of a history whose other entries are all later than the payment.
fn long_history(ours: usize, options: &Value) -> Value {
    let lines = (1..=350).map(|line| {
        let (signature, time) =
            if line == ours { (name('5'), NOW + 5) } else { (format!("{line:0>88}"), NOW + 9000) };
        json!({ "signature": signature, "blockTime": time })
    });
    let lines: Vec<Value> = lines.collect();
    let limit = usize::try_from(options["limit"].as_u64().unwrap()).unwrap();
    let first = match options.get("before") {
        Some(before) => lines.iter().position(|line| line["signature"] == *before).unwrap() + 1,
        None => 0,
    };
    lines.into_iter().skip(first).take(limit).collect()
}

fn landed() -> ChainStatus {
    ChainStatus::OnChain { transaction: name('5') }
}

#[tokio::test]
async fn a_transaction_is_found_in_the_payers_history_by_what_was_signed() {
    let ran = Some((NOW + 5, Value::Null));
    assert_eq!(Cluster { ran: ran.clone(), ..quiet() }.trace().await, landed());
    let failed = Some((NOW + 5, json!({ "InstructionError": [2, {}] })));
    assert_eq!(Cluster { ran: failed, ..quiet() }.trace().await, ChainStatus::Void("transaction_failed"));
    let elsewhere = Cluster { genesis: "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG", ran, ..quiet() };
    assert_eq!(elsewhere.trace().await, ChainStatus::Unknown, "another cluster says nothing");
}

#[tokio::test]
async fn only_a_forgotten_blockhash_proves_that_it_never_ran() {
    assert_eq!(quiet().trace().await, ChainStatus::Absent);
    let forgotten = Cluster { is_blockhash_valid: false, ..quiet() };
    assert_eq!(
        forgotten.clone().trace().await,
        ChainStatus::Absent,
        "a server that lags has not seen it yet"
    );
    let later = NOW + 120 + MARGIN;
    assert_eq!(Cluster { time: later, ..quiet() }.trace().await, ChainStatus::Absent);
    assert_eq!(
        Cluster { time: later, ..forgotten.clone() }.trace().await,
        ChainStatus::Void("payment_expired")
    );
    let much_later = Cluster { time: NOW + 2 * HISTORY_SECONDS, ..forgotten };
    assert_eq!(much_later.clone().trace().await, ChainStatus::Unknown, "its history may be gone");
    let found = Cluster { ran: Some((NOW + 5, Value::Null)), ..much_later };
    assert_eq!(found.trace().await, landed(), "but what it still has counts");
}

#[tokio::test]
async fn a_claimed_transaction_is_waited_for() {
    let ran = Some((NOW + 5, Value::Null));
    let (rpc, _there) = Cluster { ran, late: 3, ..quiet() }.start();
    assert_eq!(rpc.confirm(&paid(), &name('5')).await, landed());
    let (rpc, _there) = quiet().start();
    assert_eq!(rpc.confirm(&paid(), &name('6')).await, ChainStatus::Unknown, "it never comes");
}

#[tokio::test]
async fn without_what_was_signed_nothing_can_be_told() {
    let (rpc, there) = quiet().start();
    assert_eq!(rpc.trace(&Payment { ask: None, ..paid() }).await, ChainStatus::Unknown);
    assert!(there.requests().is_empty());
    let away = ScriptedServer::new(vec![answer(500, "{}")]);
    let rpc = SolanaRpc::new(client().unwrap(), away.url.parse().unwrap());
    assert_eq!(rpc.trace(&paid()).await, ChainStatus::Unknown);
}

#[tokio::test]
async fn a_long_history_is_read_page_by_page_but_not_for_ever() {
    let ran = Some((NOW + 5, Value::Null));
    for (line, trace) in [(1, landed()), (100, landed()), (150, landed()), (320, ChainStatus::Unknown)] {
        assert_eq!(Cluster { ran: ran.clone(), line: Some(line), ..quiet() }.trace().await, trace, "{line}");
    }
}

#[tokio::test]
async fn a_transaction_that_was_old_when_it_came_may_have_run_before() {
    let new = Payment { attempts: 0, ..paid() };
    let (rpc, _there) = quiet().start();
    assert_eq!(rpc.trace(&new).await, ChainStatus::Absent);
    let (rpc, _there) = Cluster { is_blockhash_valid: false, ..quiet() }.start();
    assert_eq!(rpc.trace(&new).await, ChainStatus::Unknown);
}

#[tokio::test]
async fn a_name_that_is_no_signature_was_not_seen_to_fail() {
    let (rpc, _there) = quiet().start();
    let strange = Payment { transaction: Some("0xabc".into()), ..paid() };
    assert_eq!(rpc.trace(&strange).await, ChainStatus::Unknown);
}
