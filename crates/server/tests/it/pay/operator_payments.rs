//! `/operator/payments…`: income, undecided payments, and deciding by hand.

use crate::harness::{DAY, FacilitatorServer, NOW, Setup, on_each_database, payment};
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::rail::Rail;
use dropleaf_core::unlock::Sku;

const HASH: &str = "0x00000000000000000000000000000000000000000000000000000000000000ab";

#[tokio::test]
async fn money_is_shown_by_network_and_by_what_it_was_for() {
    let fake = FacilitatorServer::start().await;
    let live = || {
        Setup::new()
            .set("payments.mode", "live")
            .set("payments.facilitator_url", fake.url())
            .set("payments.evm_pay_to", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
    };
    on_each_database(live, async |node| {
        let operator = node.operator().await;
        let empty = operator.get("/operator/payments").await.expect(200).text();
        assert!(empty.contains("No payments yet") && empty.contains("No open payments"));
        let solana = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
        node.write_payments(&[
            payment("pay_a", PaymentState::Fulfilled),
            payment("pay_b", PaymentState::Fulfilled),
            Payment {
                network: solana.into(),
                item: Item::Provision,
                amount: 1_000_000,
                ..payment("pay_c", PaymentState::Fulfilled)
            },
            Payment { sandbox: true, ..payment("pay_d", PaymentState::Fulfilled) },
            payment("pay_e", PaymentState::Refused),
        ])
        .await;
        let account = &operator.account;
        node.app().credit_account("ada", &account.id, 700, "a gift", None).await.unwrap();
        node.app().unlock_with_balance(account, Sku::MakePermanent, None, |_| Vec::new()).await.unwrap();
        let row = |name: &str, [today, month, all]: [&str; 3]| {
            format!("<tr><th scope=\"row\">{name}</th><td>{today}</td><td>{month}</td><td>{all}</td></tr>")
        };
        let usdc = ["1.00"; 3];
        let html = operator.get("/operator/payments").await.expect(200).text();
        for row in [
            row("base", usdc),
            row("solana", usdc),
            row("base <span class=\"badge\">sandbox</span>", ["0.50"; 3]),
            row("publish", usdc),
            row("provision", usdc),
            row("make permanent <span class=\"badge\">USD</span>", ["2.00"; 3]),
        ] {
            assert!(html.contains(&row), "{row}\n{html}");
        }
        assert!(html.contains("Accounts have $5.00") && html.contains("$7.00 was granted in total"));
        node.clock.advance(DAY);
        let later = operator.get("/operator/payments").await.expect(200).text();
        assert!(later.contains(&row("base", ["0.00", "1.00", "1.00"])));
        node.clock.advance(30 * DAY);
        let operator = node.operator().await;
        let much_later = operator.get("/operator/payments").await.expect(200).text();
        assert!(much_later.contains(&row("base", ["0.00", "0.00", "1.00"])));
        assert!(node.app().audit_ledger().await.unwrap().faults.is_empty());
    })
    .await;
}

#[tokio::test]
async fn undecided_payment_is_decided_on_once_with_a_line_that_stays() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        node.write_payments(&[
            Payment { reason: Some("timeout <b>".into()), ..payment("pay_a", PaymentState::Unknown) },
            Payment { valid_until: NOW + 60, ..payment("pay_b", PaymentState::Unknown) },
            payment("pay_c", PaymentState::Settling),
        ])
        .await;
        let list = operator.get("/operator/payments").await.expect(200).text();
        assert!(list.contains("href=\"/operator/payments/pay_a\"") && list.contains("1 min ago"));
        let page = operator.get("/operator/payments/pay_a").await.expect(200).text();
        assert!(
            page.contains("The outcome of the payment is unknown") && page.contains("timeout &#60;b&#62;")
        );
        let waits = operator.get("/operator/payments/pay_b").await.expect(200).text();
        assert!(waits.contains("only after it expires") && !waits.contains("name=\"reason\""));
        assert!(!operator.get("/operator/payments/pay_c").await.text().contains("<textarea"));
        operator.get("/operator/payments/pay_x").await.expect(404);

        let resolve = async |id: &str, fields: &[(&str, &str)]| {
            operator.submit(&format!("/operator/payments/{id}/resolve"), fields).await
        };
        let silent = resolve("pay_a", &[("outcome", "not_settled"), ("reason", " ")]).await.expect(400);
        assert!(silent.text().contains("Enter an explanation"));
        let strange = resolve("pay_a", &[("outcome", "settled"), ("transaction", "0x12")]).await.expect(400);
        assert!(
            strange.text().contains("not a valid transaction hash")
                && strange.text().contains("value=\"0x12\"")
        );
        let early = resolve("pay_b", &[("outcome", "not_settled"), ("reason", "x")]).await.expect(409);
        assert!(early.text().contains("can still be settled"));
        resolve("pay_c", &[("outcome", "settled"), ("transaction", HASH)]).await.expect(409);
        resolve("pay_x", &[("outcome", "settled"), ("transaction", HASH)]).await.expect(404);

        let sent =
            resolve("pay_a", &[("outcome", "not_settled"), ("reason", "no transfer")]).await.expect(303);
        assert_eq!(sent.header("location"), "/operator/payments/pay_a?done=payment-refused");
        resolve("pay_a", &[("outcome", "not_settled"), ("reason", "again")]).await.expect(409);
        let line = node.app().list_audit(9).await.unwrap();
        assert_eq!(line.len(), 1);
        assert_eq!(line[0].reason.as_deref(), Some("not settled: no transfer"));
        assert_eq!((line[0].actor.as_str(), line[0].subject.as_str()), ("operator@localhost", "pay_a"));

        // Its draft is missing: the goods cannot be created, but the settlement is recorded.
        resolve("pay_b", &[("outcome", "settled"), ("transaction", HASH)]).await.expect(303);
        let settled = node.app().get_payment("pay_b").await.unwrap();
        assert_eq!((settled.state, settled.transaction.as_deref()), (PaymentState::Settled, Some(HASH)));
        let page = operator.get("/operator/payments/pay_b").await.expect(200).text();
        assert!(page.contains("Mark as refunded"), "{page}");
        resolve("pay_b", &[("outcome", "refunded"), ("reason", "")]).await.expect(400);
        let sent = resolve("pay_b", &[("outcome", "refunded"), ("reason", "by 0x12")]).await.expect(303);
        assert_eq!(sent.header("location"), "/operator/payments/pay_b?done=payment-refunded");
        let page = operator.get(sent.header("location")).await.expect(200).text();
        assert!(page.contains("marked as refunded") && !page.contains("<textarea"), "{page}");
        resolve("pay_b", &[("outcome", "refunded"), ("reason", "again")]).await.expect(409);
        assert!(node.app().audit_ledger().await.unwrap().faults.is_empty());
    })
    .await;
}

#[tokio::test]
async fn refused_payment_can_be_booked_as_paid_after_all() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        node.write_payments(&[payment("pay_a", PaymentState::Refused)]).await;
        let page = operator.get("/operator/payments/pay_a").await.expect(200).text();
        assert!(page.contains("Mark as settled") && !page.contains("<textarea"), "{page}");
        assert!(!page.contains("Check again"), "{page}");
        let fields = [("outcome", "settled"), ("transaction", HASH)];
        let sent = operator.submit("/operator/payments/pay_a/resolve", &fields).await.expect(303);
        let page = operator.get(sent.header("location")).await.expect(200).text();
        assert!(page.contains("The page will be created when the payer sends the request again"), "{page}");
        assert!(!page.contains("automatically"), "{page}");
        assert!(page.contains("the content is missing") && page.contains("Mark as refunded"), "{page}");
        assert!(operator.get("/operator/payments").await.text().contains("/operator/payments/pay_a"));
    })
    .await;
}

#[tokio::test]
async fn operator_asks_again_at_once() {
    let fake = FacilitatorServer::start().await;
    let setup = || {
        let setup = Setup::new().set("payments.mode", "live").set("payments.facilitator_url", fake.url());
        setup.set("payments.evm_pay_to", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
    };
    on_each_database(setup, async |node| {
        let operator = node.operator().await;
        let overview = operator.get("/operator").await.expect(200).text();
        assert!(overview.contains("<code>payments.evm_rpc_url</code>"), "{overview}");
        assert!(!overview.contains("solana_rpc_url"), "what is not paid on is not missed: {overview}");
        node.write_payments(&[
            payment("pay_a", PaymentState::Unknown),
            payment("pay_b", PaymentState::Fulfilled),
        ])
        .await;
        let page = operator.get("/operator/payments/pay_a").await.expect(200).text();
        assert!(
            page.contains("action=\"/operator/payments/pay_a/ask#outcome\"") && page.contains("Check again")
        );
        // The data needed to query it is missing, so it stays unknown.
        let asked = operator.submit("/operator/payments/pay_a/ask", &[]).await.expect(303);
        assert_eq!(asked.header("location"), "/operator/payments/pay_a?done=payment-asked");
        let asked = node.app().get_payment("pay_a").await.unwrap();
        assert_eq!(asked.attempts, 2);
        let done = operator.submit("/operator/payments/pay_b/ask", &[]).await.expect(409);
        assert!(done.text().contains("There is nothing to check"), "{}", done.text());
        assert!(
            done.text().contains("id=\"outcome\" tabindex=\"-1\" role=\"alert\""),
            "where the browser goes"
        );
        operator.submit("/operator/payments/pay_x/ask", &[]).await.expect(404);
    })
    .await;
    let node = Setup::new().start().await;
    let operator = node.operator().await;
    assert!(
        !operator.get("/operator").await.expect(200).text().contains("rpc_url"),
        "the sandbox has no chain"
    );
}

/// A sandbox payment by card in a state, for credit of an account.
fn card(id: &str, rail: Rail, state: PaymentState, account_id: &str) -> Payment {
    Payment {
        rail,
        item: Item::Topup,
        network: "stripe".into(),
        asset: "usd".into(),
        payer: id.into(),
        pay_to: "stripe".into(),
        amount: 600,
        credit_minor: 600,
        sandbox: true,
        account_id: Some(account_id.into()),
        transaction: Some(format!("pi_{id}")),
        ..payment(id, state)
    }
}

#[tokio::test]
async fn payments_of_all_rails_are_listed_alike_and_filtered() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        let account = &operator.account;
        node.write_payments(&[
            payment("pay_x402", PaymentState::Fulfilled),
            Payment { rail: Rail::Mpp, ..payment("pay_mpp", PaymentState::Fulfilled) },
            card("pay_card", Rail::Card, PaymentState::Fulfilled, &account.id),
            card("pay_acp", Rail::Acp, PaymentState::Refused, &account.id),
            card("pay_ap2", Rail::Ap2, PaymentState::Unknown, &account.id),
        ])
        .await;
        node.app().unlock_with_balance(account, Sku::MakePermanent, None, |_| Vec::new()).await.unwrap();
        let latest = async |query: &str| {
            let html = operator.get(&format!("/operator/payments{query}")).await.expect(200).text();
            let (_, latest) = html.split_once("id=\"latest\"").unwrap();
            latest.to_owned()
        };
        let all = latest("").await;
        for rail in Rail::ALL.map(Rail::as_str) {
            assert!(all.contains(&format!("<span class=\"badge\">{rail}</span>")), "{rail}: {all}");
            let only = latest(&format!("?rail={rail}")).await;
            assert_eq!(only.matches("<li>").count(), 1, "{rail}: {only}");
            assert!(only.contains(&format!("aria-current=\"true\">{rail}</a>")), "{only}");
            let id = if rail == "balance" { "txn_".to_owned() } else { format!("pay_{rail}") };
            assert!(only.contains(&format!("href=\"/operator/payments/{id}")), "{rail}: {only}");
        }
        assert_eq!(latest("?rail=cash").await.matches("<li>").count(), 6, "an unknown rail filters nothing");
        let cards = latest("?rail=card").await;
        assert!(cards.contains("<b>$6.00</b> for topup") && cards.contains("pi_pay_card"), "{cards}");
        assert!(!cards.contains("from <span"), "the cardholder is not known: {cards}");
        let bought = latest("?rail=balance").await;
        assert!(
            bought.contains("<b>$2.00</b> for make permanent") && bought.contains(&account.id),
            "{bought}"
        );
        let (_, id) = bought.split_once("href=\"/operator/payments/").unwrap();
        let id = id.split('"').next().unwrap();
        let page = operator.get(&format!("/operator/payments/{id}")).await.expect(200).text();
        assert!(
            page.contains("<dt>Rail</dt><dd>balance</dd>")
                && !page.contains("<form method=\"post\" action=\"/operator/payments/"),
            "{page}"
        );
        operator.submit(&format!("/operator/payments/{id}/ask"), &[]).await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn stuck_card_payment_is_resolved_like_any_other() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        let account = &operator.account.id;
        node.write_payments(&[
            card("pay_a", Rail::Card, PaymentState::Unknown, account),
            card("pay_b", Rail::Acp, PaymentState::Unknown, account),
            Payment {
                item: Item::Provision,
                credit_minor: 500,
                held_until: NOW,
                ..card("pay_c", Rail::Card, PaymentState::Settled, account)
            },
        ])
        .await;
        let page = operator.get("/operator/payments/pay_a").await.expect(200).text();
        for text in [
            "dashboard of the card processor",
            "Payment ID at the card processor",
            "value=\"pi_pay_a\"",
            "Mark as not settled",
        ] {
            assert!(page.contains(text), "{text}: {page}");
        }
        for text in ["blockchain", "wallet", "Valid until"] {
            assert!(!page.contains(text), "{text}: {page}");
        }
        let resolve = async |id: &str, fields: &[(&str, &str)]| {
            operator.submit(&format!("/operator/payments/{id}/resolve"), fields).await
        };
        let bad = resolve("pay_a", &[("outcome", "settled"), ("transaction", "pi-1")]).await.expect(400);
        assert!(bad.text().contains("card processor"), "{}", bad.text());
        resolve("pay_a", &[("outcome", "settled"), ("transaction", "pi_pay_a")]).await.expect(303);
        let settled = node.app().get_payment("pay_a").await.unwrap();
        assert_eq!(settled.state, PaymentState::Fulfilled);
        let me = node.app().get_account(account).await.unwrap();
        assert_eq!(me.sandbox_balance_minor, 600, "what was paid for is delivered");
        let taken =
            resolve("pay_b", &[("outcome", "settled"), ("transaction", "pi_pay_a")]).await.expect(409);
        assert!(taken.text().contains("settled another payment"), "{}", taken.text());
        resolve("pay_b", &[("outcome", "not_settled"), ("reason", "refunded at Stripe")]).await.expect(303);
        assert_eq!(node.app().get_payment("pay_b").await.unwrap().state, PaymentState::Refused);
        let page = operator.get("/operator/payments/pay_c").await.expect(200).text();
        assert!(page.contains("Mark as refunded") && page.contains("Credit for the balance"), "{page}");
        resolve("pay_c", &[("outcome", "refunded"), ("reason", "at Stripe")]).await.expect(303);
        assert_eq!(node.app().get_payment("pay_c").await.unwrap().state, PaymentState::Refunded);
        assert!(node.app().audit_ledger().await.unwrap().faults.is_empty());
    })
    .await;
}
