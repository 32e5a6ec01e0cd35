//! Accounts with a prepaid balance, for the tests that spend it.

use crate::harness::Node;
use dropleaf_core::ledger::{Book, Cause, Entry, Kind, Posting, Unit};
use dropleaf_store::ledger;
use serde_json::Value;

/// An account with a balance, and its key.
pub(super) struct Customer {
    pub(super) id: String,
    pub(super) key: String,
}

impl Customer {
    /// On the plan `free`, with this much money of the server's mode.
    pub(super) async fn new(node: &Node, cents: i64) -> Self {
        let key = node.account("free").await;
        let id = node.app().authenticate_bearer(&key).await.unwrap().account.id;
        if cents > 0 {
            node.app().credit_account("a test", &id, cents, "for a test", None).await.unwrap();
        }
        Self { id, key }
    }

    pub(super) async fn balance(&self, node: &Node) -> i64 {
        me(node, &self.key).await["balance_minor"].as_i64().unwrap()
    }
}

pub(super) async fn me(node: &Node, key: &str) -> Value {
    node.get("/me").key(key).send().await.expect(200).json()
}

/// Credits sandbox money, as a top-up in sandbox mode does.
pub(super) async fn give_sandbox_money(node: &Node, account_id: &str, cents: i64) {
    give(node, account_id, cents, true).await;
}

/// Credits real money, as it remains from a time in live mode.
pub(crate) async fn give_real_money(node: &Node, account_id: &str, cents: i64) {
    give(node, account_id, cents, false).await;
}

async fn give(node: &Node, account_id: &str, cents: i64, sandbox: bool) {
    let unit = if sandbox { Unit::Play2 } else { Unit::Usd2 };
    let id = format!("equity:test:{}", unit.as_str());
    let (from, to) = (Book { id, unit, kind: Kind::Equity, owner: None }, Book::prepaid(account_id, sandbox));
    let entries = vec![Entry { book: from, amount: cents }, Entry { book: to, amount: -cents }];
    let name = format!("test:{account_id}:{}:{cents}", unit.as_str());
    let posting = Posting::new(name.clone(), Cause::Grant, entries).unwrap();
    node.commit(ledger::post(&name, &posting, node.app().now())).await;
}

pub(super) async fn audit(node: &Node) {
    let audit = node.app().audit_ledger().await.unwrap();
    assert!(audit.faults.is_empty(), "{:?}", audit.faults);
}
