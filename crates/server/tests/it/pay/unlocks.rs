//! Unlocks paid from a balance, and the balance itself. Spec §5.5.

use crate::harness::{DAY, Form, NOW, Node, Setup, on_each_database, page, site_path};
use dropleaf_app::{App, IdempotentRequest, IdempotentResult, StoredOutcome, UnlockResult};
use dropleaf_core::Code;
use dropleaf_core::account::Account;
use dropleaf_core::unlock::Sku;
use serde_json::{Value, json};

async fn give(app: &App, account: &Account, cents: i64) {
    app.credit_account("test", &account.id, cents, "test", None).await.unwrap();
}

/// An account on the plan `free` with this balance, and its key.
async fn customer(node: &Node, cents: i64) -> (Account, String) {
    let key = node.account("free").await;
    let me = node.get("/me").key(&key).send().await.expect(200).json();
    let account = node.app().get_account(me["id"].as_str().unwrap()).await.unwrap();
    if cents > 0 {
        give(node.app(), &account, cents).await;
    }
    (account, key)
}

async fn buy(app: &App, account: &Account, sku: Sku) -> Option<UnlockResult> {
    match app.unlock_with_balance(account, sku, None, |_| Vec::new()).await.unwrap()? {
        IdempotentResult::New(unlocked) => Some(unlocked),
        IdempotentResult::Replayed { .. } => panic!("nothing was sent twice"),
    }
}

async fn me(node: &Node, key: &str) -> Value {
    node.get("/me").key(key).send().await.expect(200).json()
}

async fn balanced(node: &Node) {
    let audit = node.app().audit_ledger().await.unwrap();
    assert!(audit.faults.is_empty(), "{:?}", audit.faults);
}

#[tokio::test]
async fn balance_is_drawn_and_periods_are_added_to_each_other() {
    on_each_database(Setup::new, async |node| {
        let (account, key) = customer(node, 5400).await;
        assert_eq!(me(node, &key).await["balance_minor"], 5400);
        let first = buy(node.app(), &account, Sku::HigherLimits).await.unwrap();
        assert_eq!((first.charged_minor, first.account.sandbox_balance_minor), (2500, 2900));
        assert_eq!(first.until, Some(NOW + 30 * DAY));
        let shown = me(node, &key).await;
        assert_eq!(shown["balance_minor"], 2900);
        assert_eq!(shown["unlocks"], json!([{"sku": "higher_limits", "until": NOW + 30 * DAY}]));
        assert_eq!(
            (&shown["limits"]["active_pages"], &shown["limits"]["publishes_a_day"]),
            (&json!(100), &json!(null))
        );
        node.clock.advance(DAY);
        let second = buy(node.app(), &account, Sku::HigherLimits).await.unwrap();
        assert_eq!(second.until, Some(NOW + 60 * DAY), "a period begins when the present one ends");
        assert!(buy(node.app(), &account, Sku::HigherLimits).await.is_none(), "4 dollars are not 25");
        assert_eq!(me(node, &key).await["balance_minor"], 400);
        node.clock.advance(60 * DAY);
        let over = me(node, &key).await;
        assert_eq!((&over["unlocks"], &over["limits"]["active_pages"]), (&json!([]), &json!(3)));
        assert_eq!(node.count("SELECT COUNT(*) FROM ledger_txns").await, 3);
        balanced(node).await;
    })
    .await;
}

#[tokio::test]
async fn pages_that_would_end_with_the_plan_stay_and_the_unlock_is_bought_once() {
    on_each_database(Setup::new, async |node| {
        let (account, key) = customer(node, 1000).await;
        let publish = async |hours: Option<&str>| {
            let form = Form::file("a.html", page("x"));
            let form = hours.into_iter().fold(form, |form, hours| form.field("expires_in_hours", hours));
            node.publish_as(&key, form).await
        };
        let (plain, short) = (publish(None).await, publish(Some("2")).await);
        node.clock.advance(1);
        assert!(!node.app().is_unlocked(&account.id, Sku::MakePermanent).await.unwrap());
        let bought = buy(node.app(), &account, Sku::MakePermanent).await.unwrap();
        assert_eq!((bought.charged_minor, bought.until, bought.already), (200, None, false));
        assert!(node.app().is_unlocked(&account.id, Sku::MakePermanent).await.unwrap());
        let read = async |site: &Value| node.get(&site_path(site)).key(&key).send().await.expect(200).json();
        let stays = read(&plain).await;
        assert_eq!(stays["expires_at"], json!(null));
        assert!(stays["updated_at"].as_i64() > plain["updated_at"].as_i64(), "a change that others notice");
        assert_eq!(read(&short).await["expires_at"], short["expires_at"], "a shorter life was asked for");
        assert_eq!(publish(None).await["expires_at"], json!(null));
        node.clock.advance(8 * DAY);
        node.get(plain["url"].as_str().unwrap()).send().await.expect(200);
        node.get(short["url"].as_str().unwrap()).send().await.expect(410);

        let again = buy(node.app(), &account, Sku::MakePermanent).await.unwrap();
        assert_eq!((again.charged_minor, again.already), (0, true));
        assert_eq!(me(node, &key).await["balance_minor"], 800);
        assert_eq!(me(node, &key).await["unlocks"], json!([{"sku": "make_permanent", "until": null}]));
        balanced(node).await;
    })
    .await;
}

#[tokio::test]
async fn twenty_at_once_spend_no_more_than_is_there() {
    let setup = || Setup::new().set("payments.prices.higher_limits", "5");
    on_each_database(setup, async |node| {
        let (account, _) = customer(node, 1700).await;
        let all = (0..20).map(|_| buy(node.app(), &account, Sku::HigherLimits));
        let done = futures_util::future::join_all(all).await;
        assert_eq!(done.iter().flatten().count(), 3);
        let account = node.app().get_account(&account.id).await.unwrap();
        assert_eq!((account.sandbox_balance_minor, account.balance_minor), (200, 0));
        assert_eq!(account.unlocks.higher_limits_until, Some(NOW + 90 * DAY));
        let all = (0..20).map(|_| buy(node.app(), &account, Sku::MakePermanent));
        let done = futures_util::future::join_all(all).await;
        assert_eq!(done.iter().flatten().filter(|unlocked| !unlocked.already).count(), 1);
        assert_eq!(done.iter().flatten().count(), 20, "the others have it already");
        balanced(node).await;
    })
    .await;
}

#[tokio::test]
async fn same_key_gets_the_first_answer_and_is_charged_once() {
    let setup = || Setup::new().set("payments.prices.higher_limits", "5");
    on_each_database(setup, async |node| {
        let (account, _) = customer(node, 1000).await;
        let once = IdempotentRequest {
            scope: account.id.clone(),
            key: "k".into(),
            request_hash: dropleaf_core::secret::hash("x"),
        };
        let buy = async || {
            let render = |unlocked: &UnlockResult| unlocked.until.unwrap().to_string().into_bytes();
            node.app().unlock_with_balance(&account, Sku::HigherLimits, Some(&once), render).await.unwrap()
        };
        assert!(matches!(buy().await, Some(IdempotentResult::New(_))));
        node.clock.advance(60);
        let Some(IdempotentResult::Replayed { outcome, body }) = buy().await else {
            panic!("it was sent before")
        };
        assert_eq!((outcome, body), (StoredOutcome::Updated, (NOW + 30 * DAY).to_string().into()));
        assert_eq!(node.app().get_account(&account.id).await.unwrap().sandbox_balance_minor, 500);
        balanced(node).await;
    })
    .await;
}

#[tokio::test]
async fn credit_is_given_once_under_its_name_and_taken_back_as_far_as_it_is_there() {
    on_each_database(Setup::new, async |node| {
        let (account, _) = customer(node, 0).await;
        let credit = async |cents: i64, name: Option<&str>| {
            node.app().credit_account("ada", &account.id, cents, "a gift", name).await
        };
        assert!(!credit(1000, Some("gift-1")).await.unwrap().already_applied);
        assert!(credit(1000, Some("gift-1")).await.unwrap().already_applied);
        assert_eq!(credit(900, Some("gift-1")).await.unwrap_err().code, Code::Conflict);
        assert_eq!(credit(-1001, None).await.unwrap_err().code, Code::InvalidField);
        assert_eq!(credit(-400, None).await.unwrap().account.sandbox_balance_minor, 600);
        assert_eq!(credit(0, None).await.unwrap_err().code, Code::InvalidField);
        let silent = node.app().credit_account("ada", &account.id, 5, " ", None).await;
        assert_eq!(silent.unwrap_err().code, Code::InvalidField);
        let nobody = node.app().credit_account("ada", "acct_x", 5, "x", None).await;
        assert_eq!(nobody.unwrap_err().code, Code::NotFound);
        let lines = node.app().list_audit(9).await.unwrap();
        let said: Vec<_> = lines.iter().filter_map(|line| line.reason.as_deref()).collect();
        assert_eq!(lines.len(), 2);
        assert!(
            said.contains(&"$10.00 (sandbox): a gift") && said.contains(&"-$4.00 (sandbox): a gift"),
            "{said:?}"
        );
        balanced(node).await;
    })
    .await;
}

#[tokio::test]
async fn catalogue_lists_what_the_settings_say() {
    let node = Setup::new().set("payments.prices.custom_domain", "4.125").start().await;
    let listed: Vec<_> = node.app().unlock_catalogue().into_iter().collect();
    let shown = |sku: Sku| {
        let entry = listed.iter().find(|entry| entry.sku == sku).unwrap();
        (entry.price.as_str(), entry.amount.as_str(), entry.amount_minor, entry.period_days)
    };
    assert_eq!(shown(Sku::MakePermanent), ("2.00", "2000000", 200, None));
    assert_eq!(shown(Sku::CustomDomain), ("4.125", "4125000", 413, Some(30)));
    assert_eq!(shown(Sku::HigherLimits), ("25.00", "25000000", 2500, Some(30)));
    for entry in &listed {
        assert_eq!(entry.networks.len(), 1);
        assert!(entry.networks.iter().all(|network| network.starts_with("eip155:")));
    }
    let off = Setup::new().set("payments.mode", "off").start().await;
    assert!(off.app().unlock_catalogue().is_empty());
    let operator = off.app().get_account_by_email("operator@localhost").await.unwrap();
    let refused = off.app().unlock_with_balance(&operator, Sku::MakePermanent, None, |_| Vec::new()).await;
    assert_eq!(refused.unwrap_err().code, Code::NotFound);
}
