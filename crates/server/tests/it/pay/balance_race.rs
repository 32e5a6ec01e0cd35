//! Purchases of all kinds that race for one balance: each is delivered and charged, or neither.

use super::prepaid::{Customer, audit};
use crate::harness::{Ask, Node, Setup, on_each_database, page};
use futures_util::future::join_all;
use serde_json::json;

/// The path and the price in cents of one purchase.
fn purchase(number: usize) -> (&'static str, i64) {
    [("/publish", 50), ("/provision", 100), ("/unlock?feature=custom_domain", 500), ("/publish", 50)]
        [number % 4]
}

fn ask(node: &Node, key: &str, number: usize) -> Ask {
    let ask = node.post(purchase(number).0).key(key);
    if purchase(number).0 == "/publish" { ask.json(&json!({"html": page(&number.to_string())})) } else { ask }
}

#[tokio::test]
async fn fifty_purchases_never_spend_more_than_the_balance() {
    on_each_database(Setup::new, async |node| {
        let total = 2230;
        let ada = Customer::new(node, total).await;
        let answers = join_all((0..50).map(|number| ask(node, &ada.key, number).send())).await;
        let (mut spent, mut cheapest_refused) = (0, i64::MAX);
        let (mut pages, mut accounts, mut unlocks) = (0, 0, 0);
        for (number, answer) in answers.iter().enumerate() {
            let (path, price) = purchase(number);
            match answer.status {
                200 | 201 => spent += price,
                402 => {
                    cheapest_refused = cheapest_refused.min(price);
                    continue;
                }
                _ => panic!("{path}: {}", answer.text()),
            }
            let bought = answer.json();
            match path {
                "/publish" => {
                    pages += 1;
                    node.get(bought["url"].as_str().unwrap()).send().await.expect(200);
                }
                "/provision" => {
                    accounts += 1;
                    node.get("/me").key(bought["api_key"].as_str().unwrap()).send().await.expect(200);
                }
                _ => unlocks += 1,
            }
        }
        let left = total - spent;
        assert_eq!(ada.balance(node).await, left);
        assert!((0..cheapest_refused).contains(&left), "{left} would have sufficed for {cheapest_refused}");
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, pages);
        assert_eq!(node.count("SELECT COUNT(*) FROM accounts WHERE email IS NULL").await, accounts);
        let spends = node.count("SELECT COUNT(*) FROM ledger_txns WHERE kind = 'spend'").await;
        assert_eq!(spends, pages + accounts + unlocks);
        audit(node).await;
    })
    .await;
}
