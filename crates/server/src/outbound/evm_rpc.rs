//! The EVM chain itself, asked by JSON-RPC whether a payment landed whose outcome nobody told us. It says so only when it
//! is certain; the questions and what their answers mean are in `pay::trace`.

use super::exchange::exchange;
use dropleaf_app::Trace;
use dropleaf_core::payment::Payment;
use dropleaf_pay::trace::{Wanted, quantity, read_quantity, read_state};
use reqwest::{Client, Url};
use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// For one question, and for all that are asked about a payment.
const PATIENCE: Duration = Duration::from_secs(10);
const ALTOGETHER: Duration = Duration::from_mins(1);
/// Clocks differ, and a signature may have been used before it came to us. After this much time a chain does not
/// take back what it has said either.
const MARGIN: i64 = 600;
/// Blocks whose logs are asked for at once, as most servers allow, and how often that is done at most.
const SPAN: u64 = 1000;
const SPANS: u64 = 32;

pub(super) struct EvmRpc {
    client: Client,
    url: Url,
}

/// Its address usually holds a key.
impl fmt::Debug for EvmRpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EvmRpc").field("host", &self.url.host_str()).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy)]
struct Block {
    number: u64,
    time: i64,
}

impl EvmRpc {
    pub(super) const fn new(client: Client, url: Url) -> Self {
        Self { client, url }
    }

    pub(super) async fn trace(&self, payment: &Payment) -> Trace {
        let looked = tokio::time::timeout(ALTOGETHER, self.look(payment)).await;
        looked.ok().flatten().unwrap_or(Trace::CannotTell)
    }

    /// None when it cannot be told.
    async fn look(&self, payment: &Payment) -> Option<Trace> {
        let wanted = Wanted::new(&payment.key, &payment.pay_to, u64::try_from(payment.amount).ok()?)?;
        let chain_id = read_quantity(&self.call("eth_chainId", json!([])).await?)?;
        if chain_id != wanted.chain_id {
            tracing::warn!(
                chain_id,
                expected = wanted.chain_id,
                "`payments.evm_rpc_url` is on another chain"
            );
            return None;
        }
        let newest = self.block("latest").await?;
        let first = self.last_before(payment.created_at - MARGIN, newest).await?;
        let last = self.last_before(payment.valid_until + MARGIN, newest).await?;
        if last - first > SPAN * SPANS {
            return None;
        }
        let mut transactions = Vec::new();
        let mut from = first;
        while from <= last {
            let to = last.min(from + SPAN - 1);
            transactions
                .extend(wanted.transactions(&self.call("eth_getLogs", wanted.logs(from, to)).await?)?);
            from = to + 1;
        }
        for transaction in &transactions {
            let receipt = self.call("eth_getTransactionReceipt", json!([transaction])).await?;
            if wanted.is_paid_by(&receipt) {
                return Some(Trace::Landed { transaction: transaction.clone() });
            }
        }
        // By the chain's own time, as the token goes by it: a server that lags behind cannot tell.
        let over = newest.time > payment.valid_until + MARGIN;
        let used = read_state(&self.call("eth_call", wanted.state(newest.number)).await?)?;
        (transactions.is_empty() && over && !used).then_some(Trace::Absent)
    }

    /// The number of the last block up to a moment: first in longer and longer steps back, then by halves.
    async fn last_before(&self, time: i64, newest: Block) -> Option<u64> {
        if newest.time <= time {
            return Some(newest.number);
        }
        let (mut low, mut high, mut step) = (newest.number, newest.number, 256);
        loop {
            low = low.saturating_sub(step);
            if self.block(&quantity(low)).await?.time <= time || low == 0 {
                break;
            }
            (high, step) = (low, step * 2);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.block(&quantity(middle)).await?.time <= time {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(low)
    }

    async fn block(&self, name: &str) -> Option<Block> {
        let block = self.call("eth_getBlockByNumber", json!([name, false])).await?;
        let member = |name| block.get(name).and_then(read_quantity);
        Some(Block { number: member("number")?, time: i64::try_from(member("timestamp")?).ok()? })
    }

    /// The result of a question; null is none.
    async fn call(&self, method: &str, params: Value) -> Option<Value> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let request =
            self.client.post(self.url.clone()).header(http::header::CONTENT_TYPE, "application/json");
        match exchange(request.body(body), PATIENCE).await {
            Ok((200, body)) => {
                let mut answer: Value = serde_json::from_slice(&body).ok()?;
                let result = answer.get_mut("result").map(Value::take).filter(|result| !result.is_null());
                if result.is_none() {
                    tracing::warn!(method, "`payments.evm_rpc_url` answers with an error");
                }
                result
            }
            Ok((status, _)) => {
                tracing::warn!(method, status, "`payments.evm_rpc_url` does not answer");
                None
            }
            Err(why) => {
                tracing::warn!(method, why, "`payments.evm_rpc_url` does not answer");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbound::exchange::client;
    use crate::outbound::stranger::{Stranger, answer};
    use dropleaf_core::payment::{Item, PaymentState};

    const TOKEN: &str = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
    const PAYER: &str = "f39fd6e51aad88f6f4ce6ab8827279cfffb92266";
    const PAY_TO: &str = "70997970c51812dc3a010c7d01b50e0d17dc79c8";
    const USED: &str = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5";
    const TRANSFER: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
    const NOW: i64 = 1_800_000_000;

    fn payment() -> Payment {
        Payment {
            id: "pay_1".into(),
            key: format!("eip155:8453|{TOKEN}|0x{PAYER}|0x{}", "11".repeat(32)),
            item: Item::Publish,
            protocol: "x402".into(),
            generation: 2,
            network: "eip155:8453".into(),
            asset: TOKEN.into(),
            payer: format!("0x{PAYER}"),
            pay_to: format!("0x{PAY_TO}"),
            amount: 500_000,
            payer_is_eoa: true,
            sandbox: false,
            request_hash: [0; 32],
            client: String::new(),
            once_hashes: Vec::new(),
            state: PaymentState::Unknown,
            ask: None,
            fee_payer: None,
            draft: None,
            bundle_id: None,
            site_id: None,
            account_id: None,
            transaction: None,
            reason: None,
            attempts: 2,
            held_until: 0,
            valid_until: NOW + 180,
            created_at: NOW,
            updated_at: NOW,
            fulfilled_at: None,
            delivered_at: None,
        }
    }

    /// A chain with a block every two seconds up to `newest`, and what happened in it.
    struct Chain {
        id: u64,
        newest: i64,
        /// The block's time, and what its transfer moved to us.
        landed: Option<(i64, u64)>,
        used: bool,
    }

    fn number(time: i64) -> u64 {
        u64::try_from((time - 1_686_789_346) / 2).unwrap()
    }

    fn word(hex: &str) -> String {
        format!("0x{hex:0>64}")
    }

    impl Chain {
        fn result(&self, method: &str, params: &Value) -> Value {
            let at = |name: &Value| match name.as_str().unwrap() {
                "latest" => number(self.newest),
                _ => read_quantity(name).unwrap(),
            };
            match method {
                "eth_chainId" => json!(quantity(self.id)),
                "eth_getBlockByNumber" => {
                    let number = at(&params[0]);
                    json!({ "number": quantity(number), "timestamp": quantity(1_686_789_346 + number * 2) })
                }
                "eth_getLogs" => {
                    let (first, last) = (at(&params[0]["fromBlock"]), at(&params[0]["toBlock"]));
                    assert!(first <= last && last - first < SPAN, "{params}");
                    assert_eq!(params[0]["topics"][0], USED);
                    let block = self.landed.map(|(time, _)| number(time));
                    let found = block.filter(|block| (first..=last).contains(block));
                    let log = |_| {
                        json!({ "address": TOKEN, "topics": params[0]["topics"],
                                "transactionHash": format!("0x{}", "ab".repeat(32)) })
                    };
                    found.map(log).into_iter().collect()
                }
                "eth_getTransactionReceipt" => json!({ "status": "0x1", "logs": [{
                    "address": TOKEN, "topics": [USED, word(PAYER), format!("0x{}", "11".repeat(32))], "data": "0x",
                }, {
                    "address": TOKEN, "topics": [TRANSFER, word(PAYER), word(PAY_TO)],
                    "data": word(&format!("{:x}", self.landed.unwrap().1)),
                }] }),
                "eth_call" => json!(word(if self.used { "1" } else { "0" })),
                _ => panic!("{method}"),
            }
        }

        async fn trace(self) -> (Trace, Vec<String>) {
            crate::tls::install_provider();
            let there = Stranger::answering(move |request| {
                let body: Value = serde_json::from_str(request.split("\r\n\r\n").nth(1)?).ok()?;
                let result = self.result(body["method"].as_str()?, &body["params"]);
                Some(answer(200, &json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string()))
            });
            let trace = EvmRpc::new(client().unwrap(), there.url.parse().unwrap()).trace(&payment()).await;
            (trace, there.heard())
        }
    }

    const LATER: i64 = NOW + 90_000;

    #[tokio::test]
    async fn a_transfer_to_us_landed() {
        let transaction = format!("0x{}", "ab".repeat(32));
        for newest in [NOW + 60, LATER] {
            let chain = Chain { id: 8453, newest, landed: Some((NOW + 30, 500_000)), used: true };
            let (trace, heard) = chain.trace().await;
            assert_eq!(trace, Trace::Landed { transaction: transaction.clone() });
            assert!(heard.len() < 60, "{}", heard.len());
        }
    }

    #[test]
    fn its_key_is_hidden() {
        crate::tls::install_provider();
        let url = "https://rpc.example.com/v2/hunter2?key=hunter3".parse().unwrap();
        let shown = format!("{:?}", EvmRpc::new(client().unwrap(), url));
        assert!(shown.contains("rpc.example.com") && !shown.contains("hunter"), "{shown}");
    }

    #[tokio::test]
    async fn a_nonce_that_nobody_used_in_time_is_absent() {
        let chain = Chain { id: 8453, newest: LATER, landed: None, used: false };
        assert_eq!(chain.trace().await.0, Trace::Absent);
    }

    #[tokio::test]
    async fn anything_else_cannot_be_told() {
        let in_time = payment().valid_until + MARGIN;
        for chain in [
            // It may still be used.
            Chain { id: 8453, newest: in_time, landed: None, used: false },
            // Cancelled, or used long before or after.
            Chain { id: 8453, newest: LATER, landed: None, used: true },
            // Something else was paid with it.
            Chain { id: 8453, newest: LATER, landed: Some((NOW + 30, 1)), used: true },
            Chain { id: 1, newest: LATER, landed: Some((NOW + 30, 500_000)), used: true },
        ] {
            assert_eq!(chain.trace().await.0, Trace::CannotTell);
        }
        for sent in
            [answer(500, "{}"), answer(200, r#"{"error":{"code":1}}"#), answer(200, "x"), String::new()]
        {
            let there = Stranger::new(vec![sent]);
            let rpc = EvmRpc::new(client().unwrap(), there.url.parse().unwrap());
            assert_eq!(rpc.trace(&payment()).await, Trace::CannotTell);
        }
    }
}
