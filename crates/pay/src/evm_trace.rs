//! Finds out from an EVM node what became of an authorization: builds JSON-RPC parameters and interprets the responses. Sending
//! them, and choosing the range of blocks, is left to the caller.

use serde_json::{Value, json};

use crate::address::EvmAddress;
use crate::evm::padded;
use crate::hex;
use crate::keccak::keccak;
use crate::network::Network;

const USED: &str = "AuthorizationUsed(address,bytes32)";
const CANCELED: &str = "AuthorizationCanceled(address,bytes32)";
const TRANSFER: &str = "Transfer(address,address,uint256)";
const STATE: &str = "authorizationState(address,bytes32)";

/// A transfer that may have happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvmTransfer {
    pub chain_id: u64,
    token: EvmAddress,
    payer: EvmAddress,
    nonce: [u8; 32],
    pay_to: EvmAddress,
    amount: u64,
}

impl EvmTransfer {
    /// From the stored key of the payment. `None` for a key of another kind of chain.
    pub fn new(key: &str, pay_to: &str, amount: u64) -> Option<Self> {
        let mut parts = key.split('|');
        let Network::Evm(chain_id) = Network::parse(parts.next()?)? else { return None };
        let (token, payer) = (EvmAddress::parse(parts.next()?)?, EvmAddress::parse(parts.next()?)?);
        let nonce = hex::parse(parts.next()?)?;
        let pay_to = EvmAddress::parse(pay_to)?;
        parts.next().is_none().then_some(Self { chain_id, token, payer, nonce, pay_to, amount })
    }

    /// The parameters of `eth_getLogs` for events in which the token reports the nonce as used or cancelled.
    pub fn logs(&self, first: u64, last: u64) -> Value {
        let [used, payer, nonce] = self.used();
        json!([{
            "address": self.token.to_lower(),
            "topics": [[used, topic(CANCELED)], payer, nonce],
            "fromBlock": quantity(first),
            "toBlock": quantity(last),
        }])
    }

    fn used(&self) -> [String; 3] {
        [topic(USED), word(&padded(self.payer)), word(&self.nonce)]
    }

    /// The transactions that used the nonce; logs that do not match are ignored. `None` if the response is unusable.
    pub fn transactions(&self, logs: &Value) -> Option<Vec<String>> {
        let used = self.used();
        let fits = |log: &&Value| {
            is(log, "address", &self.token.to_lower())
                && log.get("removed") != Some(&Value::Bool(true))
                && topics(log) == Some(used.to_vec())
        };
        let hash = |log: &Value| hex::parse::<32>(log.get("transactionHash")?.as_str()?).map(|it| word(&it));
        logs.as_array()?.iter().filter(fits).map(hash).collect()
    }

    /// Whether the payer cancelled the authorization, so that it can never be used.
    pub fn is_canceled(&self, logs: &Value) -> bool {
        let [_, payer, nonce] = self.used();
        let canceled = vec![topic(CANCELED), payer, nonce];
        logs.as_array().into_iter().flatten().any(|log| {
            is(log, "address", &self.token.to_lower())
                && log.get("removed") != Some(&Value::Bool(true))
                && topics(log).as_ref() == Some(&canceled)
        })
    }

    /// Whether a transaction, by its receipt, succeeded and transferred the amount from the payer to us with this nonce: tokens
    /// log the transfer right after the use of its nonce. Another transfer in the same transaction pays for something else, as
    /// facilitators batch many of them.
    pub fn is_paid_by(&self, receipt: &Value) -> bool {
        let expected = [topic(TRANSFER), word(&padded(self.payer)), word(&padded(self.pay_to))];
        let mut amount = [0; 32];
        amount[24..].copy_from_slice(&self.amount.to_be_bytes());
        let moved = |log: &Value| topics(log) == Some(expected.to_vec()) && is(log, "data", &word(&amount));
        let logs = receipt.get("logs").and_then(Value::as_array);
        let mut of_token =
            logs.into_iter().flatten().filter(|log| is(log, "address", &self.token.to_lower()));
        let used = of_token.any(|log| topics(log) == Some(self.used().to_vec()));
        is(receipt, "status", "0x1") && used && of_token.next().is_some_and(moved)
    }

    /// The parameters of `eth_call` that ask whether the nonce was used or cancelled as of a block.
    pub fn state(&self, block: u64) -> Value {
        let selector = keccak(&[STATE.as_bytes()]);
        let data = [&selector[..4], &padded(self.payer), &self.nonce].concat();
        json!([{ "to": self.token.to_lower(), "data": hex::show(&data) }, quantity(block)])
    }
}

/// Parses the result of `eth_call`: whether the nonce was used or cancelled.
pub fn read_state(answer: &Value) -> Option<bool> {
    let word = hex::parse::<32>(answer.as_str()?)?;
    let (last, rest) = word.split_last()?;
    match last {
        flag @ (0 | 1) if rest.iter().all(|byte| *byte == 0) => Some(*flag == 1),
        _ => None,
    }
}

/// Formats a number as JSON-RPC requires.
pub fn quantity(number: u64) -> String {
    format!("{number:#x}")
}

pub fn read_quantity(answer: &Value) -> Option<u64> {
    let digits = answer.as_str()?.strip_prefix("0x")?;
    let plain = digits.bytes().all(|b| b.is_ascii_hexdigit());
    if plain { u64::from_str_radix(digits, 16).ok() } else { None }
}

fn topic(event: &str) -> String {
    word(&keccak(&[event.as_bytes()]))
}

fn word(bytes: &[u8; 32]) -> String {
    hex::show(bytes)
}

fn topics(log: &Value) -> Option<Vec<String>> {
    let text = |topic: &Value| topic.as_str().map(str::to_ascii_lowercase);
    log.get("topics")?.as_array()?.iter().map(text).collect()
}

/// Whether a member is this text, ignoring case.
fn is(of: &Value, name: &str, text: &str) -> bool {
    of.get(name).and_then(Value::as_str).is_some_and(|found| found.eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "eip155:8453|0x833589fcd6edb6e08f4c7c32d4f71b54bda02913|0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266|0x1111111111111111111111111111111111111111111111111111111111111111";
    const PAY_TO: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

    fn expected() -> EvmTransfer {
        EvmTransfer::new(KEY, PAY_TO, 500_000).unwrap()
    }

    // As shown by any block explorer.
    #[test]
    fn events_and_calls_have_their_known_names() {
        let known = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5";
        assert_eq!(topic(USED), known);
        let known = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
        assert_eq!(topic(TRANSFER), known);
        let known = "0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81";
        assert_eq!(topic(CANCELED), known);
        let call = expected().state(16);
        assert!(call[0]["data"].as_str().unwrap().starts_with("0xe94a0102000000000000000000000000f39fd6"));
        assert_eq!(call[1], "0x10");
    }

    #[test]
    fn a_key_of_another_family_is_not_looked_for() {
        for key in ["", "eip155:8453", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp|x", &format!("{KEY}|x")] {
            assert_eq!(EvmTransfer::new(key, PAY_TO, 1), None, "{key}");
        }
        assert_eq!(EvmTransfer::new(KEY, "9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu", 1), None);
    }

    #[test]
    fn only_a_transfer_of_the_amount_to_us_has_paid() {
        let expected = expected();
        let transfer = json!({
            "address": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "topics": [topic(TRANSFER), word(&padded(expected.payer)), word(&padded(expected.pay_to))],
            "data": "0x000000000000000000000000000000000000000000000000000000000007a120",
        });
        let used = json!({ "address": expected.token.to_lower(), "topics": expected.used(), "data": "0x" });
        let receipt = |status: &str, log: &Value| json!({ "status": status, "logs": [used.clone(), log] });
        assert!(expected.is_paid_by(&receipt("0x1", &transfer)));
        assert!(!expected.is_paid_by(&receipt("0x0", &transfer)));
        for (name, value) in [
            ("address", json!(PAY_TO)),
            ("data", json!("0x000000000000000000000000000000000000000000000000000000000007a11f")),
            (
                "topics",
                json!([topic(TRANSFER), word(&padded(expected.payer)), word(&padded(expected.payer))]),
            ),
            ("topics", json!([topic(USED), word(&padded(expected.payer)), word(&padded(expected.pay_to))])),
        ] {
            let mut bent = transfer.clone();
            bent[name] = value;
            assert!(!expected.is_paid_by(&receipt("0x1", &bent)), "{name}");
        }
        assert!(!expected.is_paid_by(&json!(null)));
    }

    // One transaction can use many nonces: each pays with the transfer that follows it, and with no other.
    #[test]
    fn a_transfer_by_another_nonce_has_not_paid() {
        let expected = expected();
        let log = |address: &str, topics: Value, data: &str| json!({ "address": address, "topics": topics, "data": data });
        let token = expected.token.to_lower();
        let used = |nonce: [u8; 32]| {
            log(&token, json!([topic(USED), word(&padded(expected.payer)), word(&nonce)]), "0x")
        };
        let moved = |to: EvmAddress, data: &str| {
            log(&token, json!([topic(TRANSFER), word(&padded(expected.payer)), word(&padded(to))]), data)
        };
        let price = "0x000000000000000000000000000000000000000000000000000000000007a120";
        let (ours, other) = (used(expected.nonce), used([9; 32]));
        let (to_us, to_payer) = (moved(expected.pay_to, price), moved(expected.payer, price));
        let elsewhere = log(PAY_TO, json!([]), "0x");
        let paid = |logs: &[&Value]| expected.is_paid_by(&json!({ "status": "0x1", "logs": logs }));
        assert!(paid(&[&other, &to_us, &ours, &to_us]));
        assert!(paid(&[&ours, &elsewhere, &to_us, &other, &to_us]));
        assert!(!paid(&[&other, &to_us, &ours, &to_payer]));
        assert!(!paid(&[&ours, &to_payer, &other, &to_us]));
        assert!(!paid(&[&ours, &other, &to_us]));
        assert!(!paid(&[&to_us, &ours]));
        assert!(!paid(&[&other, &to_us]));
    }

    #[test]
    fn logs_that_do_not_fit_name_no_transaction() {
        let expected = expected();
        let hash = format!("0x{}", "ab".repeat(32));
        let log = json!({
            "address": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "topics": expected.used(),
            "transactionHash": hash, "removed": false,
        });
        assert_eq!(expected.transactions(&json!([log])), Some(vec![hash]));
        let mut removed = log.clone();
        removed["removed"] = json!(true);
        let mut other = log.clone();
        other["topics"][2] = json!(word(&[2; 32]));
        assert_eq!(expected.transactions(&json!([removed, other])), Some(Vec::new()));
        assert!(!expected.is_canceled(&json!([log])));
        let mut canceled = log.clone();
        canceled["topics"][0] = json!(topic(CANCELED));
        assert!(expected.is_canceled(&json!([canceled])));
        assert_eq!(expected.transactions(&json!([canceled])), Some(Vec::new()));
        canceled["topics"][2] = json!(word(&[2; 32]));
        assert!(!expected.is_canceled(&json!([canceled])), "another nonce");
        let mut nameless = log;
        nameless["transactionHash"] = json!("0x");
        assert_eq!(expected.transactions(&json!([nameless])), None);
        assert_eq!(expected.transactions(&json!({})), None);
    }

    #[test]
    fn numbers_and_flags_are_read_strictly() {
        assert_eq!(read_quantity(&json!("0x2105")), Some(8453));
        for bad in [json!("8453"), json!(8453), json!("0x"), json!("0x+1"), json!("0x1ffffffffffffffff")] {
            assert_eq!(read_quantity(&bad), None, "{bad}");
        }
        let flag = |last: &str| json!(format!("0x{}{last}", "0".repeat(62)));
        assert_eq!(read_state(&flag("00")), Some(false));
        assert_eq!(read_state(&flag("01")), Some(true));
        for bad in [flag("02"), json!("0x"), json!(true), json!(format!("0x01{}", "0".repeat(62)))] {
            assert_eq!(read_state(&bad), None, "{bad}");
        }
    }
}
