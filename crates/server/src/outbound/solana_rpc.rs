//! Asks Solana over JSON-RPC whether a payment landed. Answers only if it is certain; the responses are interpreted in
//! `pay::solana_trace`.

use super::json_rpc::JsonRpc;
use dropleaf_app::ChainStatus;
use dropleaf_core::payment::Payment;
use dropleaf_pay::solana_trace::{
    SolanaPaymentTransaction, TransactionMatch, read_blockhash_valid, read_history,
};
use reqwest::{Client, Url};
use serde_json::{Value, json};
use std::time::Duration;

/// Timeout for all queries about a payment.
const ALTOGETHER: Duration = Duration::from_mins(1);
/// Allows for clock differences.
const MARGIN: i64 = 600;
/// Servers keep at least two days of history. Later, nothing can be concluded from a missing transaction.
const HISTORY_SECONDS: i64 = 86_400;
/// Entries of the payer's history per page, and the maximum number of pages.
const PAGE: usize = 100;
const PAGES: usize = 3;
/// The maximum number of transactions to read for one payment.
const MOST_LOOKED_AT: usize = 60;

#[derive(Debug)]
pub(super) struct SolanaRpc {
    rpc: JsonRpc,
}

/// The result of searching the history of the payer's token account.
enum HistorySearch {
    Decided(ChainStatus),
    /// `is_whole`: it was read to its beginning.
    NotThere {
        is_whole: bool,
    },
}

impl SolanaRpc {
    pub(super) const fn new(client: Client, url: Url) -> Self {
        Self { rpc: JsonRpc::new(client, url, "payments.solana_rpc_url") }
    }

    pub(super) async fn is_back(&self) -> bool {
        self.rpc.is_back("getGenesisHash").await
    }

    pub(super) async fn trace(&self, payment: &Payment) -> ChainStatus {
        let looked = tokio::time::timeout(ALTOGETHER, self.look(payment)).await;
        looked.ok().flatten().unwrap_or(ChainStatus::Unknown)
    }

    /// Waits a little for a transaction that a facilitator claims; if it is not the payment, looks for another.
    pub(super) async fn confirm(&self, payment: &Payment, transaction: &str) -> ChainStatus {
        let claimed = Payment { transaction: Some(transaction.to_owned()), ..payment.clone() };
        if is_signature(transaction) {
            self.rpc.wait_for("getTransaction", &by_name(transaction)).await;
        }
        self.trace(&claimed).await
    }

    /// `None` if it is uncertain.
    async fn look(&self, payment: &Payment) -> Option<ChainStatus> {
        let wanted = SolanaPaymentTransaction::new(&payment.key, payment.ask.as_deref()?)?;
        let genesis = self.rpc.call("getGenesisHash", json!([])).await?;
        if !wanted.is_on(genesis.as_str()?) {
            tracing::warn!("`payments.solana_rpc_url` belongs to another cluster");
            return None;
        }
        // A transaction id that cannot be looked up may belong to a transaction that this node has not seen.
        let mut is_behind = payment.transaction.is_some();
        if let Some(named) = payment.transaction.as_deref().filter(|name| is_signature(name)) {
            let found = self.transaction(named).await?;
            is_behind = found.is_null();
            if let Some(trace) = decided(wanted.read(&found), named) {
                return Some(trace);
            }
        }
        // Queried before the history is read: a transaction that runs in between is in the history.
        let absence = self.meaning_of_absence(payment, &wanted).await?;
        let is_whole = match self.find(payment, &wanted).await? {
            HistorySearch::Decided(trace) => return Some(trace),
            HistorySearch::NotThere { is_whole } => is_whole,
        };
        if absence == ChainStatus::Absent {
            // A node that does not have the named transaction has not seen everything yet.
            if is_behind {
                return None;
            }
            // A transaction that was already old when it reached us may have run before the part that was read.
            if !is_whole && payment.attempts == 0 && !self.is_blockhash_valid(&wanted).await? {
                return None;
            }
        }
        Some(absence)
    }

    /// What it means if the history does not contain the transaction. It can no longer run once its blockhash has expired and
    /// the chain's own time is well past the payment's validity.
    async fn meaning_of_absence(
        &self,
        payment: &Payment,
        wanted: &SolanaPaymentTransaction,
    ) -> Option<ChainStatus> {
        let finalized = json!({ "commitment": "finalized" });
        let slot = self.rpc.call("getSlot", json!([finalized])).await?;
        let time = self.rpc.call("getBlockTime", json!([slot])).await?.as_i64()?;
        let since = time - payment.valid_until;
        if since < MARGIN {
            return Some(ChainStatus::Absent);
        }
        if since >= HISTORY_SECONDS {
            return Some(ChainStatus::Unknown);
        }
        let is_valid = self.is_blockhash_valid(wanted).await?;
        Some(if is_valid { ChainStatus::Absent } else { ChainStatus::Void("payment_expired") })
    }

    async fn is_blockhash_valid(&self, wanted: &SolanaPaymentTransaction) -> Option<bool> {
        let params = json!([wanted.blockhash, { "commitment": "finalized" }]);
        read_blockhash_valid(&self.rpc.call("isBlockhashValid", params).await?)
    }

    /// Searches the history of the payer's token account for the transaction, back to when the payment was first seen.
    async fn find(&self, payment: &Payment, wanted: &SolanaPaymentTransaction) -> Option<HistorySearch> {
        let (earliest, latest) = (payment.created_at - MARGIN, payment.valid_until + MARGIN);
        let (mut before, mut looked_at) = (None::<String>, 0);
        for _ in 0..PAGES {
            let mut options = json!({ "limit": PAGE, "commitment": "confirmed" });
            if let Some(before) = &before {
                options["before"] = json!(before);
            }
            let answer = self.rpc.call("getSignaturesForAddress", json!([wanted.source, options])).await?;
            let lines = read_history(&answer)?;
            for line in &lines {
                match line.time {
                    Some(time) if time < earliest => {
                        return Some(HistorySearch::NotThere { is_whole: false });
                    }
                    Some(time) if time > latest => continue,
                    _ => {}
                }
                looked_at += 1;
                if looked_at > MOST_LOOKED_AT {
                    return None;
                }
                let found = self.transaction(&line.signature).await?;
                // An unreadable transaction in the history may be the one.
                let seen = wanted.read(&found)?;
                if let Some(trace) = decided(Some(seen), &line.signature) {
                    return Some(HistorySearch::Decided(trace));
                }
            }
            if lines.len() < PAGE {
                return Some(HistorySearch::NotThere { is_whole: true });
            }
            before = lines.last().map(|line| line.signature.clone());
        }
        None
    }

    async fn transaction(&self, signature: &str) -> Option<Value> {
        self.rpc.ask("getTransaction", by_name(signature)).await
    }
}

/// The parameters of `getTransaction`.
fn by_name(signature: &str) -> Value {
    let options =
        json!({ "encoding": "base64", "commitment": "confirmed", "maxSupportedTransactionVersion": 0 });
    json!([signature, options])
}

fn decided(seen: Option<TransactionMatch>, signature: &str) -> Option<ChainStatus> {
    match seen? {
        TransactionMatch::Paid => Some(ChainStatus::OnChain { transaction: signature.to_owned() }),
        TransactionMatch::Failed => Some(ChainStatus::Void("transaction_failed")),
        TransactionMatch::Other => None,
    }
}

fn is_signature(text: &str) -> bool {
    (64..=90).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric())
}

#[cfg(test)]
#[path = "solana_rpc_tests.rs"]
mod tests;
