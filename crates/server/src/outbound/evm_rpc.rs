//! Asks an EVM chain over JSON-RPC whether a payment with an unknown outcome landed. Answers only if it is certain; the
//! queries and their interpretation are in `pay::evm_trace`.

use super::json_rpc::JsonRpc;
use dropleaf_app::ChainStatus;
use dropleaf_core::payment::Payment;
use dropleaf_pay::evm_trace::{EvmTransfer, quantity, read_quantity, read_state};
use reqwest::{Client, Url};
use serde_json::json;
use std::time::Duration;

/// Timeout for all queries about a payment.
const ALTOGETHER: Duration = Duration::from_mins(1);
/// Allows for clock differences; after this time a chain does not reorganise either.
const MARGIN: i64 = 600;
/// A signature is valid for an hour and ten minutes at most, and may have been used before it reached us.
const LONGEST_VALID: i64 = 4200;
/// Blocks per log query, as most servers allow, and the maximum number of such queries.
const SPAN: u64 = 1000;
const SPANS: u64 = 32;

#[derive(Debug)]
pub(super) struct EvmRpc {
    rpc: JsonRpc,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    number: u64,
    time: i64,
}

impl EvmRpc {
    pub(super) const fn new(client: Client, url: Url) -> Self {
        Self { rpc: JsonRpc::new(client, url, "payments.evm_rpc_url") }
    }

    pub(super) async fn is_back(&self) -> bool {
        self.rpc.is_back("eth_chainId").await
    }

    pub(super) async fn trace(&self, payment: &Payment) -> ChainStatus {
        let looked = tokio::time::timeout(ALTOGETHER, self.look(payment)).await;
        looked.ok().flatten().unwrap_or(ChainStatus::Unknown)
    }

    /// Waits a little for a transaction that a facilitator claims; if it is not the payment, looks for another.
    pub(super) async fn confirm(&self, payment: &Payment, transaction: &str) -> ChainStatus {
        let claimed = Payment { transaction: Some(transaction.to_owned()), ..payment.clone() };
        if is_hash(transaction) {
            self.rpc.wait_for("eth_getTransactionReceipt", &json!([transaction])).await;
        }
        self.trace(&claimed).await
    }

    /// `None` if it is uncertain.
    async fn look(&self, payment: &Payment) -> Option<ChainStatus> {
        let wanted = EvmTransfer::new(&payment.key, &payment.pay_to, u64::try_from(payment.amount).ok()?)?;
        let chain_id = read_quantity(&self.rpc.call("eth_chainId", json!([])).await?)?;
        if chain_id != wanted.chain_id {
            tracing::warn!(
                chain_id,
                expected = wanted.chain_id,
                "`payments.evm_rpc_url` belongs to another chain"
            );
            return None;
        }
        // A transaction id that cannot be looked up may belong to a transaction that this node has not seen.
        let mut is_behind = payment.transaction.is_some();
        if let Some(named) = payment.transaction.as_deref().filter(|name| is_hash(name)) {
            let receipt = self.rpc.ask("eth_getTransactionReceipt", json!([named])).await?;
            if wanted.is_paid_by(&receipt) {
                return Some(ChainStatus::OnChain { transaction: named.to_owned() });
            }
            is_behind = receipt.is_null();
        }
        let newest = self.block("latest").await?;
        if read_state(&self.rpc.call("eth_call", wanted.state(newest.number)).await?)? {
            return self.find_use(payment, &wanted, newest).await;
        }
        // By the chain's own time, which the token contract uses.
        if newest.time > payment.valid_until + MARGIN {
            return Some(ChainStatus::Void("payment_expired"));
        }
        // A node that does not have the named transaction has not seen everything yet.
        (!is_behind).then_some(ChainStatus::Absent)
    }

    /// What a used authorization paid for. `None` if that cannot be found.
    async fn find_use(&self, payment: &Payment, wanted: &EvmTransfer, newest: Block) -> Option<ChainStatus> {
        let earliest = payment.created_at.min(payment.valid_until - LONGEST_VALID) - MARGIN;
        let first = self.last_before(earliest, newest).await?;
        let last = self.last_before(payment.valid_until + MARGIN, newest).await?;
        // A chain whose timestamps run backwards proves nothing.
        if last.checked_sub(first)? > SPAN * SPANS {
            return None;
        }
        let (mut transactions, mut is_canceled, mut from) = (Vec::new(), false, first);
        while from <= last {
            let to = last.min(from.saturating_add(SPAN - 1));
            let logs = self.rpc.call("eth_getLogs", wanted.logs(from, to)).await?;
            transactions.extend(wanted.transactions(&logs)?);
            is_canceled |= wanted.is_canceled(&logs);
            from = to.checked_add(1)?;
        }
        for transaction in &transactions {
            let receipt = self.rpc.call("eth_getTransactionReceipt", json!([transaction])).await?;
            if wanted.is_paid_by(&receipt) {
                return Some(ChainStatus::OnChain { transaction: transaction.clone() });
            }
        }
        match (transactions.is_empty(), is_canceled) {
            // A nonce is used once, and it was used for something else.
            (false, _) => Some(ChainStatus::Void("authorization_used")),
            (true, true) => Some(ChainStatus::Void("authorization_canceled")),
            (true, false) => None,
        }
    }

    /// The number of the last block up to a time: searches backwards in growing steps, then bisects.
    async fn last_before(&self, time: i64, newest: Block) -> Option<u64> {
        if newest.time <= time {
            return Some(newest.number);
        }
        let (mut low, mut high, mut step) = (newest.number, newest.number, 256_u64);
        loop {
            low = low.saturating_sub(step);
            if self.block(&quantity(low)).await?.time <= time || low == 0 {
                break;
            }
            (high, step) = (low, step.saturating_mul(2));
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
        let block = self.rpc.call("eth_getBlockByNumber", json!([name, false])).await?;
        let member = |name| block.get(name).and_then(read_quantity);
        Some(Block { number: member("number")?, time: i64::try_from(member("timestamp")?).ok()? })
    }
}

/// Whether a facilitator's transaction id can be a hash: an RPC server returns an error for others.
fn is_hash(text: &str) -> bool {
    text.strip_prefix("0x")
        .is_some_and(|digits| digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbound::exchange::client;
    use crate::outbound::payment_sample::{NOW, PAY_TO, PAYER, TOKEN, payment};
    use crate::outbound::scripted_server::{ScriptedServer, answer};
    use serde_json::Value;
    const USED: &str = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5";
    const TRANSFER: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
    const CANCELED: &str = "0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81";

    /// A chain with a block every two seconds up to `newest`, and what happened in it.
    #[derive(Debug, Clone, Copy)]
    struct Chain {
        id: u64,
        newest: i64,
        /// The block's time, and the amount transferred to us.
        landed: Option<(i64, u64)>,
        canceled: Option<i64>,
        used: bool,
        /// How many queries for the transaction return nothing at first.
        late: usize,
        /// How many more blocks report a very old time; later ones report a very new one.
        lies: Option<usize>,
    }

    const QUIET: Chain =
        Chain { id: 8453, newest: NOW + 60, landed: None, canceled: None, used: false, late: 0, lies: None };

    fn number(time: i64) -> u64 {
        u64::try_from((time - 1_686_789_346) / 2).unwrap()
    }

    fn word(hex: &str) -> String {
        format!("0x{hex:0>64}")
    }

    fn hash() -> String {
        format!("0x{}", "ab".repeat(32))
    }

    impl Chain {
        fn result(&mut self, method: &str, params: &Value) -> Value {
            let at = |name: &Value| match name.as_str().unwrap() {
                "latest" => number(self.newest),
                _ => read_quantity(name).unwrap(),
            };
            match method {
                "eth_chainId" => json!(quantity(self.id)),
                "eth_getBlockByNumber" => {
                    let number = at(&params[0]);
                    if let Some(left) = self.lies.filter(|_| params[0] != "latest") {
                        self.lies = Some(left.saturating_sub(1));
                        let time = if left > 0 { 0 } else { u64::from(u32::MAX) };
                        return json!({ "number": quantity(number), "timestamp": quantity(time) });
                    }
                    json!({ "number": quantity(number), "timestamp": quantity(1_686_789_346 + number * 2) })
                }
                "eth_getLogs" => {
                    let (first, last) = (at(&params[0]["fromBlock"]), at(&params[0]["toBlock"]));
                    assert!(first <= last && last - first < SPAN, "{params}");
                    assert_eq!(params[0]["topics"][0], json!([USED, CANCELED]));
                    let log = |event: &str, time: Option<i64>| {
                        let found = time.is_some_and(|time| (first..=last).contains(&number(time)));
                        found.then(|| {
                            json!({ "address": TOKEN, "transactionHash": hash(),
                                    "topics": [event, params[0]["topics"][1], params[0]["topics"][2]] })
                        })
                    };
                    let used = log(USED, self.landed.map(|(time, _)| time));
                    used.into_iter().chain(log(CANCELED, self.canceled)).collect()
                }
                "eth_getTransactionReceipt" if self.late > 0 => {
                    self.late -= 1;
                    Value::Null
                }
                "eth_getTransactionReceipt" if params[0] != hash().as_str() || self.landed.is_none() => {
                    json!({ "status": "0x0", "logs": [] })
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

        fn start(mut self) -> (EvmRpc, ScriptedServer) {
            crate::tls::install_provider();
            let there = ScriptedServer::answering(move |request| {
                let body: Value = serde_json::from_str(request.split("\r\n\r\n").nth(1)?).ok()?;
                let result = self.result(body["method"].as_str()?, &body["params"]);
                Some(answer(200, &json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string()))
            });
            let mut chain = EvmRpc::new(client().unwrap(), there.url.parse().unwrap());
            chain.rpc.pause = Duration::ZERO;
            (chain, there)
        }

        async fn trace(self) -> (ChainStatus, usize) {
            let (rpc, there) = self.start();
            (rpc.trace(&payment()).await, there.requests().len())
        }
    }

    const LATER: i64 = NOW + 90_000;

    fn landed() -> ChainStatus {
        ChainStatus::OnChain { transaction: hash() }
    }

    #[tokio::test]
    async fn a_transfer_to_us_landed() {
        for newest in [NOW + 60, LATER] {
            // Someone may have submitted it long before it reached us.
            for time in [NOW + 30, NOW - 3000] {
                let (trace, asked) =
                    Chain { newest, landed: Some((time, 500_000)), used: true, ..QUIET }.trace().await;
                assert_eq!(trace, landed());
                assert!(asked < 60, "{asked}");
            }
        }
    }

    #[tokio::test]
    async fn an_unused_nonce_is_absent_while_it_is_valid_and_void_afterwards() {
        let (trace, asked) = QUIET.trace().await;
        assert_eq!((trace, asked), (ChainStatus::Absent, 3), "what anybody can ask for is cheap");
        let over = payment().valid_until + MARGIN;
        assert_eq!(
            Chain { newest: over, ..QUIET }.trace().await.0,
            ChainStatus::Absent,
            "by the chain's own time"
        );
        assert_eq!(Chain { newest: LATER, ..QUIET }.trace().await.0, ChainStatus::Void("payment_expired"));
    }

    #[tokio::test]
    async fn a_nonce_that_was_cancelled_or_paid_something_else_is_void() {
        let canceled = Chain { canceled: Some(NOW - 20), used: true, ..QUIET };
        assert_eq!(canceled.trace().await.0, ChainStatus::Void("authorization_canceled"));
        let other = Chain { landed: Some((NOW + 30, 1)), used: true, ..QUIET };
        assert_eq!(other.trace().await.0, ChainStatus::Void("authorization_used"));
    }

    #[tokio::test]
    async fn a_chain_that_lacks_the_named_transaction_has_not_seen_everything() {
        let named = Payment { transaction: Some(hash()), ..payment() };
        let (rpc, _there) = Chain { late: 1, ..QUIET }.start();
        assert_eq!(rpc.trace(&named).await, ChainStatus::Unknown);
        let (rpc, _there) = QUIET.start();
        assert_eq!(rpc.trace(&named).await, ChainStatus::Absent, "it is there and failed");
        let (rpc, there) = Chain { landed: Some((NOW, 500_000)), used: true, ..QUIET }.start();
        assert_eq!(rpc.trace(&named).await, landed());
        assert_eq!(there.requests().len(), 2, "its receipt says it all");
        let strange = Payment { transaction: Some("0xabc".into()), ..payment() };
        assert_eq!(rpc.trace(&strange).await, landed(), "a name that is none is passed over");
        let (rpc, _there) = QUIET.start();
        assert_eq!(rpc.trace(&strange).await, ChainStatus::Unknown, "it was not seen to fail");
    }

    #[tokio::test]
    async fn a_claimed_transaction_is_waited_for() {
        let (rpc, _there) = Chain { landed: Some((NOW, 500_000)), used: true, late: 3, ..QUIET }.start();
        assert_eq!(rpc.confirm(&payment(), &hash()).await, landed());
        let (rpc, _there) = Chain { late: 100, ..QUIET }.start();
        assert_eq!(rpc.confirm(&payment(), &hash()).await, ChainStatus::Unknown, "it never comes");
        let (rpc, _there) = QUIET.start();
        assert_eq!(
            rpc.confirm(&payment(), &hash()).await,
            ChainStatus::Absent,
            "it is there and paid nobody"
        );
    }

    #[tokio::test]
    async fn anything_else_cannot_be_told() {
        for chain in [
            // Used long before, or after.
            Chain { newest: LATER, used: true, ..QUIET },
            Chain { id: 1, landed: Some((NOW + 30, 500_000)), used: true, ..QUIET },
            // Its timestamps run backwards: later events are reported in an earlier block.
            Chain { newest: LATER, used: true, lies: Some(9), ..QUIET },
        ] {
            assert_eq!(chain.trace().await.0, ChainStatus::Unknown);
        }
        for sent in
            [answer(500, "{}"), answer(200, r#"{"error":{"code":1}}"#), answer(200, "x"), String::new()]
        {
            let there = ScriptedServer::new(vec![sent]);
            let rpc = EvmRpc::new(client().unwrap(), there.url.parse().unwrap());
            assert_eq!(rpc.trace(&payment()).await, ChainStatus::Unknown);
        }
    }
}
