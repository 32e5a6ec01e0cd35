//! A JSON-RPC client for a chain: one request, one response, and whether the server was unreachable. Knows nothing of chains.
//! The URL usually contains a key, so logs show no more than the host.

use super::exchange::exchange;
use reqwest::{Client, Url};
use serde_json::{Value, json};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Timeout for one request.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often something that should exist is requested, and the pause between: another server may be ahead of this one.
const TRIES: usize = 15;
const PAUSE: Duration = Duration::from_secs(1);
/// Timeout for all of these together.
const WAITS: Duration = Duration::from_secs(15);
/// The longest response: receipts and logs can be long.
const ANSWER_BYTES: usize = 4 * 1024 * 1024;

pub(super) struct JsonRpc {
    client: Client,
    url: Url,
    /// The name of its setting.
    setting: &'static str,
    /// It has not responded since the start, or since it was last unreachable.
    lost: AtomicBool,
    pub(super) pause: Duration,
    waits: Duration,
}

impl fmt::Debug for JsonRpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonRpc").field("host", &self.url.host_str()).finish_non_exhaustive()
    }
}

impl JsonRpc {
    pub(super) const fn new(client: Client, url: Url, setting: &'static str) -> Self {
        Self { client, url, setting, lost: AtomicBool::new(true), pause: PAUSE, waits: WAITS }
    }

    /// The result of a request, which may be null. `None` if there is no result.
    pub(super) async fn ask(&self, method: &str, params: Value) -> Option<Value> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let request =
            self.client.post(self.url.clone()).header(http::header::CONTENT_TYPE, "application/json");
        // Only an unreachable server can come back. One that refuses a request or sends garbage is there.
        let (why, is_lost) = match exchange(request.body(body), PATIENCE, ANSWER_BYTES).await {
            Ok((200, body)) => match serde_json::from_slice::<Value>(&body) {
                Ok(mut answer) => {
                    let result = answer.get_mut("result").map(Value::take);
                    if result.is_none() {
                        tracing::warn!(method, setting = self.setting, "JSON-RPC server returned an error");
                    }
                    return result;
                }
                Err(_) => ("the response is not JSON".to_owned(), false),
            },
            Ok((status, _)) => (format!("status {status}"), status >= 500),
            Err(why) => (why, true),
        };
        if is_lost {
            self.lost.store(true, Ordering::Relaxed);
            tracing::warn!(method, why, setting = self.setting, "JSON-RPC server unreachable");
        } else {
            tracing::warn!(method, why, setting = self.setting, "JSON-RPC server rejected a request");
        }
        None
    }

    /// The same, but null counts as no result.
    pub(super) async fn call(&self, method: &str, params: Value) -> Option<Value> {
        self.ask(method, params).await.filter(|result| !result.is_null())
    }

    /// Repeats the request until the result is not null, within limits.
    pub(super) async fn wait_for(&self, method: &str, params: &Value) {
        let asking = async {
            for _ in 0..TRIES {
                if !self.ask(method, params.clone()).await.is_some_and(|result| result.is_null()) {
                    return;
                }
                tokio::time::sleep(self.pause).await;
            }
        };
        // A later result is found at the next attempt.
        let _ = tokio::time::timeout(self.waits, asking).await;
    }

    /// True once when the server first answers `method`, and once after each time it was unreachable. Sends a request only
    /// then.
    pub(super) async fn is_back(&self, method: &str) -> bool {
        if !self.lost.load(Ordering::Relaxed) || self.call(method, json!([])).await.is_none() {
            return false;
        }
        self.lost.swap(false, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbound::exchange::client;
    use crate::outbound::scripted_server::{ScriptedServer, answer};

    fn rpc(answers: Vec<String>) -> (JsonRpc, ScriptedServer) {
        crate::tls::install_provider();
        let there = ScriptedServer::new(answers);
        (JsonRpc::new(client().unwrap(), there.url.parse().unwrap(), "payments.evm_rpc_url"), there)
    }

    #[test]
    fn the_key_in_its_address_is_hidden() {
        crate::tls::install_provider();
        let url = "https://rpc.example.com/v2/hunter2?key=hunter3".parse().unwrap();
        let shown = format!("{:?}", JsonRpc::new(client().unwrap(), url, "x"));
        assert!(shown.contains("rpc.example.com") && !shown.contains("hunter"), "{shown}");
    }

    #[tokio::test]
    async fn a_chain_is_back_once_after_the_start_and_once_after_it_was_out_of_reach() {
        let good = answer(200, r#"{"result":"0x1"}"#);
        let (rpc, there) = rpc(vec![answer(500, "{}"), good.clone(), answer(502, "x"), good]);
        assert!(!rpc.is_back("eth_chainId").await, "it does not answer yet");
        assert!(rpc.is_back("eth_chainId").await);
        assert!(!rpc.is_back("eth_chainId").await);
        assert_eq!(there.requests().len(), 2, "one that answers is not asked without need");
        assert_eq!(rpc.ask("eth_call", json!([])).await, None);
        assert!(rpc.is_back("eth_chainId").await);
        assert!(!rpc.is_back("eth_chainId").await);
    }

    #[tokio::test]
    async fn a_chain_that_refuses_a_question_was_not_out_of_reach() {
        let good = answer(200, r#"{"result":"0x1"}"#);
        let (rpc, there) = rpc(vec![good, answer(403, "{}"), answer(429, "{}"), answer(200, "x")]);
        assert!(rpc.is_back("eth_chainId").await);
        for _ in 0..3 {
            assert_eq!(rpc.ask("eth_getLogs", json!([])).await, None);
            assert!(!rpc.is_back("eth_chainId").await);
        }
        assert_eq!(there.requests().len(), 4);
    }

    #[tokio::test]
    async fn waiting_for_a_transaction_ends_in_time_though_no_answer_comes() {
        let (mut rpc, _there) = rpc(vec![ScriptedServer::SILENCE.to_owned()]);
        rpc.waits = Duration::from_millis(50);
        let begun = std::time::Instant::now();
        rpc.wait_for("eth_getTransactionReceipt", &json!([])).await;
        assert!(begun.elapsed() < PATIENCE);
    }

    #[tokio::test]
    async fn an_answer_may_be_long() {
        let long = "x".repeat(1024 * 1024);
        let (rpc, _there) = rpc(vec![answer(200, &json!({ "result": long }).to_string())]);
        assert_eq!(rpc.ask("x", json!([])).await, Some(long.into()));
    }

    #[tokio::test]
    async fn null_is_an_answer_and_an_error_is_none() {
        let (rpc, _there) =
            rpc(vec![answer(200, r#"{"result":null}"#), answer(200, r#"{"error":{"code":1}}"#)]);
        assert_eq!(rpc.ask("x", json!([])).await, Some(Value::Null));
        assert_eq!(rpc.ask("x", json!([])).await, None);
    }
}
