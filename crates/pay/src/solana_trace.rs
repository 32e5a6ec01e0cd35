//! Finds out from a Solana node what became of a transaction: what to look for, and how to interpret JSON-RPC responses. The
//! payer signs a message; the transaction id is the fee payer's signature, which only the facilitator knows. So the transaction
//! is found by its message. Sending the requests is left to the caller.

use dropleaf_core::base64;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::json;
use crate::network::{Cluster, Network};
use crate::solana::{SignedTransaction, Transaction};

/// A transaction that may have been executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SolanaPaymentTransaction {
    pub cluster: Cluster,
    message_hash: [u8; 32],
    /// The payer's token account: its history contains every transfer from it.
    pub source: String,
    /// In base58. Once it has expired on the chain, the transaction can no longer be executed.
    pub blockhash: String,
}

/// How a transaction on the chain relates to the wanted one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionMatch {
    /// The same message, executed successfully: the money moved.
    Paid,
    /// The same message, failed: nothing moved, and it cannot be executed again.
    Failed,
    Other,
}

/// One entry of an account's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryLine {
    pub signature: String,
    /// Epoch seconds, if the chain reports them.
    pub time: Option<i64>,
}

impl SolanaPaymentTransaction {
    /// From the key of the payment and the body sent to the facilitator. `None` for another kind of chain, or when the two do not
    /// belong together.
    pub fn new(key: &str, ask: &str) -> Option<Self> {
        let (network, _) = key.split_once('|')?;
        let Network::Solana(cluster) = Network::parse(network)? else { return None };
        let body = json::object(ask).ok()?;
        let payload = json::member(json::member(&body, "paymentPayload").ok()?, "payload").ok()?;
        let signed = SignedTransaction::read(payload).ok()?;
        let message_hash = signed.message_hash();
        (crate::key::PaymentKey::solana(cluster, &message_hash).as_str() == key).then(|| Self {
            cluster,
            message_hash,
            source: signed.source().to_string(),
            blockhash: bs58::encode(signed.blockhash()).into_string(),
        })
    }

    /// Whether a chain with this genesis hash is the right one: the reference of a CAIP-2 name is its prefix.
    pub fn is_on(&self, genesis: &str) -> bool {
        let name = Network::Solana(self.cluster).to_string();
        name.split_once(':').is_some_and(|(_, reference)| genesis.starts_with(reference))
    }

    /// Interprets the response to `getTransaction` in base64. `None` if it is inconclusive.
    pub fn read(&self, answer: &Value) -> Option<TransactionMatch> {
        let text = answer.get("transaction")?.get(0)?.as_str()?;
        // With an address table, or longer than one of our transactions can be, it is a different one.
        let Some(transaction) = base64::decode(text).as_deref().and_then(Transaction::read) else {
            return Some(TransactionMatch::Other);
        };
        if <[u8; 32]>::from(Sha256::digest(&transaction.message)) != self.message_hash {
            return Some(TransactionMatch::Other);
        }
        // Null is success; a missing member is inconclusive.
        let error = answer.get("meta")?.get("err")?;
        Some(if error.is_null() { TransactionMatch::Paid } else { TransactionMatch::Failed })
    }
}

/// Parses the response to `getSignaturesForAddress`, newest first.
pub fn read_history(answer: &Value) -> Option<Vec<HistoryLine>> {
    let line = |line: &Value| {
        let signature = line.get("signature")?.as_str()?;
        let clean =
            (64..=90).contains(&signature.len()) && signature.bytes().all(|b| b.is_ascii_alphanumeric());
        let time = line.get("blockTime").and_then(Value::as_i64);
        clean.then(|| HistoryLine { signature: signature.to_owned(), time })
    };
    answer.as_array()?.iter().map(line).collect()
}

/// Parses the response to `isBlockhashValid`.
pub fn read_blockhash_valid(answer: &Value) -> Option<bool> {
    answer.get("value")?.as_bool()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::key::PaymentKey;

    const TRANSACTION: &str = "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABHkZirG3uz7HzU5ih4uO+NqgtUxfHPuPyIh+3MdRWnkEExVhF5snNUk6fB3jiHMgN3ES/BMlDA/VB3UP4vg74BgAIBBAjtSSjGKNHCxurpAziQWZVhKVknOlxj+TY2wUYUrIc30YqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29cK8kCOGhpAsJh82TGFPHsq0/z4F9YGhwIBT/HU9NN52yMROnTi0H5KqQzBEA7ECRFt9yPict9kQwtNUtP/np+EwMGRm/lIRcy/+ytunLDm+e8jOW7xfcSayxDmzpAAAAAxvp6877brTo9ZfNqq8l0MbG75MLS9uDkfKYCA0UvXWEFSlNamSkhBk0k6HFg2jh8fDW13bySu4HkH6hAQQVEjQbd9uHXZaGT2cvhRs7reawctIXtX1s3kTqM9YV+/wCpruutSnlvzC4V3ExgYbRe2bNz8mrfx5jKfS2MxYGCcY4EBAAFAiBOAAAEAAkDAQAAAAAAAAAHBAIFAwEKDCChBwAAAAAABgYAIDE1M2Q5ZDAxMGEyNDZmOTFkMGFhNGNjMWE3M2Y5YjRkAA==";

    fn wanted() -> SolanaPaymentTransaction {
        let ask = json!({ "paymentPayload": { "payload": { "transaction": TRANSACTION } } });
        let bytes = base64::decode(TRANSACTION).unwrap();
        let hash = Sha256::digest(&Transaction::read(&bytes).unwrap().message).into();
        let key = PaymentKey::solana(Cluster::Mainnet, &hash);
        assert_eq!(SolanaPaymentTransaction::new("eip155:8453|x", &ask.to_string()), None);
        let other = PaymentKey::solana(Cluster::Mainnet, &[1; 32]);
        assert_eq!(
            SolanaPaymentTransaction::new(other.as_str(), &ask.to_string()),
            None,
            "of another payment"
        );
        SolanaPaymentTransaction::new(key.as_str(), &ask.to_string()).unwrap()
    }

    fn answer(transaction: &str, error: &Value) -> Value {
        json!({ "slot": 1, "transaction": [transaction, "base64"], "meta": { "err": error } })
    }

    #[test]
    fn what_is_looked_for_comes_from_what_the_payer_signed() {
        let wanted = wanted();
        assert_eq!(wanted.source, "3wvJdyFnGvaMWpbq93NU91SggiVRveULUXL6iX5VZDGP");
        assert_eq!(bs58::decode(&wanted.blockhash).into_vec().unwrap().len(), 32);
        assert!(wanted.is_on("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"));
        assert!(!wanted.is_on("EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"));
    }

    #[test]
    fn a_transaction_is_known_by_its_message_whoever_signed_for_the_fee() {
        let wanted = wanted();
        let mut bytes = base64::decode(TRANSACTION).unwrap();
        // The fee payer's signature, which only the facilitator knows in advance.
        bytes[1..65].fill(7);
        let signed = data_encoding::BASE64.encode(&bytes);
        assert_eq!(wanted.read(&answer(&signed, &Value::Null)), Some(TransactionMatch::Paid));
        assert_eq!(
            wanted.read(&answer(&signed, &json!({ "InstructionError": [2, {}] }))),
            Some(TransactionMatch::Failed)
        );
        let last = bytes.len() - 3;
        bytes[last] ^= 1;
        let changed = data_encoding::BASE64.encode(&bytes);
        assert_eq!(wanted.read(&answer(&changed, &Value::Null)), Some(TransactionMatch::Other));
        assert_eq!(wanted.read(&answer("AAAA", &Value::Null)), Some(TransactionMatch::Other));
        for unclear in [
            json!(null),
            json!({}),
            json!({ "transaction": [signed, "base64"] }),
            json!({ "transaction": [signed, "base64"], "meta": null }),
            json!({ "transaction": [signed, "base64"], "meta": {} }),
        ] {
            assert_eq!(wanted.read(&unclear), None, "{unclear}");
        }
    }

    #[test]
    fn histories_are_read_strictly() {
        let name = "5".repeat(88);
        let line = HistoryLine { signature: name.clone(), time: Some(7) };
        assert_eq!(
            read_history(&json!([{ "signature": name, "blockTime": 7, "err": null }])),
            Some(vec![line])
        );
        assert_eq!(read_history(&json!([{ "signature": name, "blockTime": null }])).unwrap()[0].time, None);
        assert_eq!(read_history(&json!([{ "signature": "<b>" }])), None);
        assert_eq!(read_history(&json!({})), None);
        assert_eq!(read_blockhash_valid(&json!({ "value": false })), Some(false));
        assert_eq!(read_blockhash_valid(&json!({ "value": "false" })), None);
    }
}
