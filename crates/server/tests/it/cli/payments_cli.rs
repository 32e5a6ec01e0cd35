//! `dropleaf payments`, `dropleaf ledger` and `dropleaf account credit`, on the database of a running server.

use crate::harness::{Database, Dropleaf, NOW, Node, Setup, payment};
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::rail::Rail;
use dropleaf_core::unlock::Sku;
use dropleaf_store::{Db, Stmt};
use serde_json::Value;

const HASH: &str = "0x00000000000000000000000000000000000000000000000000000000000000ab";

/// The commands on the data of this server.
fn beside(node: &Node) -> Dropleaf {
    Dropleaf::in_dir(node.dir.path())
        .env("DROPLEAF_DATA_DIR", &node.data_dir().display().to_string())
        .env("DROPLEAF_DATABASE_URL", &node.running.resolved.database_url)
}

async fn on_each(test: impl AsyncFn(&Node, &Dropleaf)) {
    for database in [Database::Sqlite, Database::postgres().await] {
        let node = Setup::new().database(database.clone()).real_time().start().await;
        test(&node, &beside(&node)).await;
        node.stop().await;
        database.remove().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn payments_are_listed_shown_and_decided_on() {
    on_each(async |node, dropleaf| {
        assert_eq!(dropleaf.prints(&["payments", "list"]), "No payments.\n");
        let open = payment("pay_a", PaymentState::Unknown);
        let stuck = Payment { held_until: NOW, ..payment("pay_c", PaymentState::Settled) };
        node.write_payments(&[open, payment("pay_b", PaymentState::Fulfilled), stuck]).await;
        let all = dropleaf.prints(&["payments", "list"]);
        assert!(all.contains("pay_a") && all.contains("0.50 USDC") && all.lines().count() == 4, "{all}");
        let unknown = dropleaf.prints(&["payments", "list", "--state", "unknown", "--json"]);
        let unknown: Value = serde_json::from_str(&unknown).unwrap();
        assert_eq!(unknown["payments"].as_array().unwrap().len(), 1);
        assert_eq!(unknown["payments"][0]["amount"], 500_000);
        assert!(unknown["payments"][0].get("draft").is_none());
        assert!(dropleaf.complains(&["payments", "list", "--state", "x"]).contains("must be one of"));
        let shown = dropleaf.prints(&["payments", "show", "pay_a"]);
        assert!(
            shown.contains("pay_a for publish, 0.50 USDC, paid with x402")
                && shown.contains("look in the receiving wallet")
        );
        let json: Value =
            serde_json::from_str(&dropleaf.prints(&["payments", "show", "pay_b", "--json"])).unwrap();
        assert_eq!(json["state"], "fulfilled");

        for wrong in [
            &["payments", "resolve", "pay_a"][..],
            &["payments", "resolve", "pay_a", "--not-settled"],
            &["payments", "resolve", "pay_a", "--settled", "0x1"],
            &["payments", "resolve", "pay_b", "--settled", HASH],
            &["payments", "resolve", "pay_x", "--settled", HASH],
            &["payments", "resolve", "pay_a", "--refunded", "--reason", "x"],
            &["payments", "resolve", "pay_c", "--refunded"],
            &["payments", "resolve", "pay_c", "--not-settled", "--reason", "x"],
            &["payments", "resolve", "pay_a", "--settled", HASH, "--not-settled", "--reason", "x"],
        ] {
            dropleaf.complains(wrong);
        }
        assert!(dropleaf.complains(&["payments", "ask", "pay_b"]).contains("nothing to check"));
        assert!(dropleaf.complains(&["payments", "ask", "pay_a"]).contains("a different `payments.mode`"));
        let done = dropleaf.prints(&["payments", "resolve", "pay_a", "--not-settled", "--reason", "looked"]);
        assert_eq!(done, "pay_a is now refused.\n");
        let done = dropleaf.prints(&["payments", "resolve", "pay_c", "--refunded", "--reason", "by 0x12"]);
        assert_eq!(done, "pay_c is now refunded.\n");
        // The server itself will not check it for a long time.
        let held_until = NOW + 100 * 365 * 86_400;
        let sandbox = Payment { sandbox: true, held_until, ..payment("pay_d", PaymentState::Unknown) };
        node.write_payments(&[sandbox]).await;
        let asked = dropleaf.prints(&["payments", "ask", "pay_d"]);
        assert_eq!(asked, "pay_d is now refused (payment_expired).\n");
        let audit = dropleaf.prints(&["audit"]);
        assert!(audit.contains("resolve_payment") && audit.contains("refunded: by 0x12"), "{audit}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn payments_of_all_rails_are_listed_shown_and_resolved_alike() {
    on_each(async |node, dropleaf| {
        let account = node.app().get_account_by_email("operator@localhost").await.unwrap();
        let card = |id: &str, rail, state| Payment {
            rail,
            item: Item::Topup,
            network: "stripe".into(),
            payer: id.into(),
            amount: 600,
            credit_minor: 600,
            sandbox: true,
            account_id: Some(account.id.clone()),
            transaction: Some(format!("pi_{id}")),
            ..payment(id, state)
        };
        node.write_payments(&[
            payment("pay_x402", PaymentState::Fulfilled),
            Payment { rail: Rail::Mpp, ..payment("pay_mpp", PaymentState::Fulfilled) },
            card("pay_card", Rail::Card, PaymentState::Fulfilled),
            card("pay_acp", Rail::Acp, PaymentState::Refused),
            card("pay_ap2", Rail::Ap2, PaymentState::Refused),
        ])
        .await;
        node.app().unlock_with_balance(&account, Sku::MakePermanent, None, |_| Vec::new()).await.unwrap();
        assert_eq!(dropleaf.prints(&["payments", "list"]).lines().count(), 7);
        for rail in Rail::ALL.map(Rail::as_str) {
            let args = ["payments", "list", "--rail", rail, "--json"];
            let found: Value = serde_json::from_str(&dropleaf.prints(&args)).unwrap();
            let [one] = found["payments"].as_array().unwrap().as_slice() else { panic!("{rail}: {found}") };
            assert_eq!(one["protocol"], rail);
            let id = one["id"].as_str().unwrap();
            let shown = dropleaf.prints(&["payments", "show", id]);
            assert!(shown.contains(&format!(", paid with {rail}\n")), "{shown}");
            let table = dropleaf.prints(&["payments", "list", "--rail", rail]);
            assert!(table.lines().count() == 2 && table.contains(&format!(" {rail} ")), "{table}");
        }
        let wallets = dropleaf.prints(&["payments", "list", "--state", "refused"]);
        assert!(wallets.lines().count() == 3 && wallets.contains("$6.00"), "{wallets}");
        let bought = dropleaf.prints(&["payments", "list", "--rail", "balance", "--state", "unknown"]);
        assert_eq!(bought, "No payments.\n");
        assert!(dropleaf.complains(&["payments", "list", "--rail", "cash"]).contains("must be one of x402"));

        // The server itself will not check it for a long time.
        let held_until = NOW + 100 * 365 * 86_400;
        let stuck = Payment { held_until, ..card("pay_stuck", Rail::Card, PaymentState::Unknown) };
        node.write_payments(&[stuck]).await;
        let shown = dropleaf.prints(&["payments", "show", "pay_stuck"]);
        assert!(shown.contains("card processor") && !shown.contains("wallet"), "{shown}");
        let wrong = dropleaf.complains(&["payments", "resolve", "pay_stuck", "--settled", "pi-1"]);
        assert!(wrong.contains("such as pi_3Qx"), "{wrong}");
        let done = dropleaf.prints(&["payments", "resolve", "pay_stuck", "--settled", "pi_pay_stuck"]);
        assert_eq!(done, "pay_stuck is now fulfilled.\n");
        assert!(dropleaf.prints(&["ledger", "audit"]).starts_with("Ledger check passed"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn revenue_is_printed_as_a_table_csv_or_json() {
    on_each(async |node, dropleaf| {
        let revenue = |more: &[&'static str]| {
            let args = ["payments", "revenue", "--from", "2023-10", "--to", "2023-11"];
            args.into_iter().chain(more.iter().copied()).collect::<Vec<_>>()
        };
        assert_eq!(dropleaf.prints(&revenue(&[])), "No revenue from 2023-10 to 2023-11.\n");
        assert!(dropleaf.prints(&["payments", "revenue"]).starts_with("No revenue from 20"));
        let sandbox = Payment { sandbox: true, ..payment("pay_b", PaymentState::Fulfilled) };
        node.write_payments(&[payment("pay_a", PaymentState::Fulfilled), sandbox]).await;
        let table = dropleaf.prints(&revenue(&[]));
        assert!(table.lines().count() == 3 && table.contains("sandbox USDC"), "{table}");
        assert_eq!(
            dropleaf.prints(&revenue(&["--csv"])),
            "month,rail,item,currency,payments,gross,returned,net\r\n\
             2023-11,x402,publish,sandbox USDC,1,0.50,0.00,0.50\r\n\
             2023-11,x402,publish,USDC,1,0.50,0.00,0.50\r\n"
        );
        let json: Value = serde_json::from_str(&dropleaf.prints(&revenue(&["--json"]))).unwrap();
        assert_eq!((&json["from"], &json["to"]), (&"2023-10".into(), &"2023-11".into()));
        let line = &json["revenue"][1];
        assert_eq!(
            (&line["unit"], &line["sandbox"], &line["net"]),
            (&"usdc6".into(), &false.into(), &500_000.into())
        );

        assert!(dropleaf.complains(&["payments", "revenue", "--from", "2023"]).contains("such as 2026-11"));
        assert!(dropleaf.complains(&revenue(&["--csv", "--json"])).contains("cannot be used with"));
        let backwards = dropleaf.complains(&["payments", "revenue", "--from", "2023-12", "--to", "2023-11"]);
        assert!(backwards.contains("must not be after the last month"), "{backwards}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn credit_reaches_the_running_server_and_the_audit_says_how_the_books_are() {
    on_each(async |node, dropleaf| {
        let credit = |amount: &'static str, more: &[&'static str]| {
            let args = ["account", "credit", "operator@localhost", "--amount", amount, "--reason", "a gift"];
            args.into_iter().chain(more.iter().copied()).collect::<Vec<_>>()
        };
        assert!(
            dropleaf
                .prints(&credit("10.00", &["--once", "g"]))
                .ends_with(" now has a balance of $10.00 (sandbox).\n")
        );
        assert!(dropleaf.prints(&credit("10.00", &["--once", "g"])).contains("already applied"));
        assert!(
            dropleaf
                .complains(&credit("11.00", &["--once", "g"]))
                .contains("A different entry was already recorded")
        );
        assert!(dropleaf.complains(&credit("-10.01", &[])).contains("more than the balance"));
        assert!(dropleaf.complains(&credit("1.001", &[])).contains("must be an amount in dollars"));
        assert!(dropleaf.prints(&credit("-2.5", &[])).ends_with(" now has a balance of $7.50 (sandbox).\n"));
        let id = node.app().get_account_by_email("operator@localhost").await.unwrap().id;
        dropleaf.prints(&["account", "credit", &id, "--amount", "1", "--reason", "by id"]);
        let balance = node.get("/me").key(&node.key).send().await.expect(200).json()["balance_minor"].clone();
        assert_eq!(balance, 850);

        let good = dropleaf.run(&["ledger", "audit"]);
        assert_eq!(good.status.code(), Some(0));
        assert!(String::from_utf8_lossy(&good.stdout).starts_with("Ledger check passed: 3 transactions"));
        let db = Db::open(&node.running.resolved.database_url).await.unwrap();
        db.exec(Stmt::new("UPDATE accounts SET sandbox_balance_minor = 851", [])).await.unwrap();
        db.close().await;
        let bad = dropleaf.run(&["ledger", "audit"]);
        assert_eq!(bad.status.code(), Some(3));
        let said = String::from_utf8_lossy(&bad.stdout);
        let wrong = format!(
            "sandbox balance of an account does not match the ledger: {id} (found 851, expected 850)"
        );
        assert!(said.contains(&wrong), "{said}");
        assert!(String::from_utf8_lossy(&bad.stderr).contains("ledger check failed"));
    })
    .await;
}
