//! `GET /me/transactions`: the movements of the prepaid balance.

use super::prepaid::{Customer, give_sandbox_money};
use crate::harness::oauth::let_in;
use crate::harness::{NOW, Node, Setup, on_each_database, page};
use serde_json::{Value, json};

async fn list(node: &Node, key: &str, query: &str) -> Value {
    node.get(&format!("/me/transactions{query}")).key(key).send().await.expect(200).json()
}

fn shown(list: &Value) -> Vec<(String, i64, Value)> {
    let row = |it: &Value| {
        (it["kind"].as_str().unwrap().to_owned(), it["amount_minor"].as_i64().unwrap(), it["item"].clone())
    };
    list["transactions"].as_array().unwrap().iter().map(row).collect()
}

#[tokio::test]
async fn movements_are_listed_newest_first_page_by_page() {
    on_each_database(Setup::new, async |node| {
        let ada = Customer::new(node, 1000).await;
        node.clock.advance(1);
        give_sandbox_money(node, &ada.id, 30).await;
        node.clock.advance(1);
        node.post("/publish").key(&ada.key).json(&json!({"html": page("x")})).send().await.expect(201);
        node.clock.advance(1);
        node.post("/unlock?feature=make_permanent").key(&ada.key).send().await.expect(200);
        node.post("/provision").key(&ada.key).send().await.expect(200);
        node.app().credit_account("a test", &ada.id, -80, "too much", None).await.unwrap();
        let all = list(node, &ada.key, "").await;
        assert_eq!((&all["balance_minor"], &all["has_more"]), (&json!(600), &json!(false)));
        assert_eq!((&all["next_before"], &all["next_before_id"]), (&Value::Null, &Value::Null));
        let mut rows = shown(&all);
        let older = rows.split_off(3);
        // Three in one second, in the order of their random IDs.
        rows.sort_by_key(|row| row.1);
        let row = |kind: &str, amount: i64, item: Value| (kind.to_owned(), amount, item);
        assert_eq!(
            rows,
            [
                row("purchase", -200, json!("make_permanent")),
                row("purchase", -100, json!("provision")),
                row("grant", -80, Value::Null),
            ]
        );
        assert_eq!(
            older,
            [
                row("purchase", -50, json!("publish")),
                row("grant", 30, Value::Null),
                row("grant", 1000, Value::Null),
            ]
        );
        let sum: i64 = shown(&all).iter().map(|row| row.1).sum();
        assert_eq!(sum, 600, "the movements explain the balance");
        let last = &all["transactions"][5];
        assert_eq!((&last["created_at"], &last["note"]), (&json!(NOW), &json!("for a test")));

        let mut paged = Vec::new();
        let mut query = "?limit=2".to_owned();
        loop {
            let part = list(node, &ada.key, &query).await;
            paged.extend(part["transactions"].as_array().unwrap().clone());
            let (Some(before), Some(id)) = (part["next_before"].as_i64(), part["next_before_id"].as_str())
            else {
                break;
            };
            query = format!("?limit=2&before={before}&before_id={id}");
        }
        assert_eq!(Value::Array(paged), all["transactions"]);
    })
    .await;
}

#[tokio::test]
async fn list_is_for_the_account_alone_and_needs_a_credential() {
    let node = Node::start().await;
    let ada = Customer::new(&node, 10).await;
    let other = Customer::new(&node, 0).await;
    assert_eq!(list(&node, &other.key, "").await["transactions"], json!([]));
    node.get("/me/transactions").send().await.refused(401, "auth required");
    for bad in ["?limit=0", "?limit=201", "?limit=x", "?before=x", "?before_id=txn_1"] {
        let path = format!("/me/transactions{bad}");
        node.get(&path).key(&ada.key).send().await.refused(400, "invalid_field");
    }
    let person = node.newcomer("grace@example.org").await;
    let read = let_in(&person, "sites:read").await;
    assert_eq!(list(&node, &read.access, "").await["balance_minor"], 0);
    node.app().suspend_account("operator", &ada.id, "spam").await.unwrap();
    assert_eq!(list(&node, &ada.key, "").await["balance_minor"], 10, "a suspended account can read");
}
