//! Events of the card processor, repeated and in every order: what remains of a purchase does not depend on it.

use crate::harness::CardFault;
use crate::harness::card_till::{CardTill, Sold, VISA, at_each_card_till};
use dropleaf_core::Code;
use dropleaf_core::pay_session::{Feature, PaySessionState};
use dropleaf_core::payment::PaymentState;
use dropleaf_pay::stripe::sandbox::{STALLED_CARD, StepKind, WebhookEvent};
use serde_json::Value;
use std::collections::BTreeMap;

/// When a program polls, compared with the delivery of the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Polls {
    Before,
    Between,
    After,
}

/// What remains of a purchase: payment, balance, sums of the ledger by type of account.
type Remains = (PaymentState, i64, i64, i64, BTreeMap<String, i64>);

fn orders(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else { return vec![Vec::new()] };
    let shorter = orders(last);
    let with_last = |order: &Vec<usize>, at: usize| {
        let mut order = order.clone();
        order.insert(at, last);
        order
    };
    shorter.iter().flat_map(|order| (0..count).map(|at| with_last(order, at))).collect()
}

/// Events of these types; the processor sends others too, which have no effect.
fn of_types(events: Vec<WebhookEvent>, types: &[&str]) -> Vec<WebhookEvent> {
    events.into_iter().filter(|event| types.contains(&event.kind)).collect()
}

async fn remains(till: &CardTill, sold: &Sold) -> Remains {
    let payment = till.payment(sold).await;
    let sql = "SELECT CASE WHEN e.account_id LIKE 'asset:owed:%' THEN 'owed' ELSE a.kind END AS part, \
               CAST(SUM(e.amount) AS BIGINT) FROM ledger_entries e JOIN ledger_txns t ON t.id = e.txn_id \
               JOIN ledger_accounts a ON a.id = e.account_id WHERE t.payment_id = $1 GROUP BY part";
    let args = vec![payment.id.as_str().into()];
    let sums = till.store.db.list(sql, args, |row| Ok((row.string(0)?, row.int(1)?))).await.unwrap();
    let sums = sums.into_iter().filter(|(_, sum)| *sum != 0).collect();
    let balance = till.balance(sold).await;
    (payment.state, payment.refunded_minor, payment.disputed_minor, balance, sums)
}

/// Delivers the events of a new purchase in every order, each twice, and returns what remains, which is always the same.
async fn in_every_order(
    till: &CardTill,
    spent: i64,
    purchase: impl AsyncFn(&Sold) -> Vec<WebhookEvent>,
) -> Remains {
    let mut first = None;
    let count = purchase(&till.sell_key().await).await.len();
    for order in orders(count) {
        for polls in [Polls::Before, Polls::Between, Polls::After] {
            let sold = till.sell_key().await;
            let events = purchase(&sold).await;
            let mut keys = 0;
            if polls == Polls::Before || spent > 0 {
                keys += usize::from(till.poll(&sold).await.key.is_some());
            }
            if spent > 0 {
                let account = till.payment(&sold).await.account_id.unwrap();
                till.app().credit_account("test", &account, -spent, "spent", None).await.unwrap();
            }
            for (at, event) in order.iter().map(|at| &events[*at]).enumerate() {
                till.deliver(event).await.unwrap();
                till.deliver(event).await.unwrap();
                if polls == Polls::Between && at == 0 {
                    keys += usize::from(till.poll(&sold).await.key.is_some());
                }
            }
            let last = till.poll(&sold).await;
            keys += usize::from(last.key.is_some());
            assert_eq!((last.state, keys), (PaySessionState::Completed, 1), "{order:?} {polls:?}");
            for event in &events {
                till.deliver(event).await.unwrap();
            }
            let found = remains(till, &sold).await;
            let expected = first.get_or_insert_with(|| found.clone());
            assert_eq!(found, *expected, "{order:?} {polls:?}");
        }
    }
    till.check_ledger().await;
    let waiting = "SELECT COUNT(*) FROM processor_events WHERE intent IS NOT NULL";
    assert_eq!(till.till.count(waiting).await, 0, "no event waits");
    first.unwrap()
}

fn sums(parts: &[(&str, i64)]) -> BTreeMap<String, i64> {
    parts.iter().map(|(part, sum)| ((*part).to_owned(), *sum)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delayed_payment_and_its_refunds() {
    at_each_card_till(async |till| {
        let types =
            ["checkout.session.completed", "checkout.session.async_payment_succeeded", "charge.refunded"];
        let purchase = async |sold: &Sold| {
            let mut events = till.pay(sold, STALLED_CARD).await.1;
            events.extend(till.step(sold, StepKind::ReceiveFunds).await);
            events.extend(till.step(sold, StepKind::Refund { amount: Some(200) }).await);
            events.extend(till.step(sold, StepKind::Refund { amount: None }).await);
            of_types(events, &types)
        };
        let found = in_every_order(till, 0, purchase).await;
        assert_eq!(found, (PaymentState::Fulfilled, 600, 0, 0, BTreeMap::new()));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dispute_that_was_won_and_a_refund_before_it() {
    at_each_card_till(async |till| {
        let types = [
            "checkout.session.completed",
            "charge.refunded",
            "charge.dispute.funds_withdrawn",
            "charge.dispute.funds_reinstated",
        ];
        let purchase = async |sold: &Sold| {
            let mut events = till.pay(sold, VISA).await.1;
            events.extend(till.step(sold, StepKind::Refund { amount: Some(200) }).await);
            events.extend(till.step(sold, StepKind::OpenDispute { amount: None }).await);
            events.extend(till.step(sold, StepKind::CloseDispute { won: true }).await);
            of_types(events, &types)
        };
        let found = in_every_order(till, 0, purchase).await;
        let expected = sums(&[("asset", 400), ("liability", -300), ("revenue", -100)]);
        assert_eq!(found, (PaymentState::Fulfilled, 200, 0, 300, expected));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dispute_that_was_won_and_a_full_refund_after_it() {
    at_each_card_till(async |till| {
        let types = ["charge.refunded", "charge.dispute.funds_withdrawn", "charge.dispute.funds_reinstated"];
        let purchase = async |sold: &Sold| {
            let mut events = till.pay(sold, VISA).await.1;
            events.extend(till.step(sold, StepKind::OpenDispute { amount: None }).await);
            events.extend(till.step(sold, StepKind::CloseDispute { won: true }).await);
            events.extend(till.step(sold, StepKind::Refund { amount: None }).await);
            of_types(events, &types)
        };
        let found = in_every_order(till, 0, purchase).await;
        assert_eq!(found, (PaymentState::Fulfilled, 600, 0, 0, BTreeMap::new()));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dispute_after_the_credit_was_spent_leaves_a_debt_until_it_is_won() {
    at_each_card_till(async |till| {
        let types = ["charge.refunded", "charge.dispute.funds_withdrawn", "charge.dispute.funds_reinstated"];
        let lost = async |sold: &Sold| {
            let mut events = till.pay(sold, VISA).await.1;
            events.extend(till.step(sold, StepKind::Refund { amount: Some(50) }).await);
            events.extend(till.step(sold, StepKind::OpenDispute { amount: None }).await);
            of_types(events, &types)
        };
        let found = in_every_order(till, 400, lost).await;
        let expected = sums(&[("liability", -400), ("owed", 400)]);
        assert_eq!(found, (PaymentState::Fulfilled, 50, 550, 0, expected));
        let won = async |sold: &Sold| {
            let mut events = lost(sold).await;
            events.extend(of_types(till.step(sold, StepKind::CloseDispute { won: true }).await, &types));
            events
        };
        let found = in_every_order(till, 400, won).await;
        let expected = sums(&[("asset", 550), ("liability", -450), ("revenue", -100)]);
        assert_eq!(found, (PaymentState::Fulfilled, 50, 0, 50, expected));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_overtakes_the_response_that_opened_the_form_completes_the_session() {
    at_each_card_till(async |till| {
        let sold = till.sell_key().await;
        let (_, events) = till.pay(&sold, VISA).await;
        till.till.exec("UPDATE pay_sessions SET checkout_id = NULL").await;
        for event in &events {
            till.deliver(event).await.unwrap();
        }
        let session = till.session(&sold).await;
        assert_eq!(
            (session.state, session.checkout_id.as_deref()),
            (PaySessionState::Completed, Some(sold.form.as_str()))
        );
        // The response arrives now.
        assert!(till.open_form(&sold).await.is_err(), "it is paid");
        till.check_key_once(&sold).await;
        till.check_ledger().await;
    })
    .await;
}

/// Replaces every string of an event that the test knows to be foreign.
fn with_ids(event: &WebhookEvent, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(event.body.clone(), |body, (from, to)| body.replace(from, to))
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_other_products_in_the_same_account_change_nothing() {
    at_each_card_till(async |till| {
        let sold = till.sell_key().await;
        let mut events = till.pay(&sold, VISA).await.1;
        events.extend(till.step(&sold, StepKind::Refund { amount: Some(100) }).await);
        events.extend(till.step(&sold, StepKind::OpenDispute { amount: None }).await);
        events.extend(till.step(&sold, StepKind::CloseDispute { won: true }).await);
        let refunded = events.iter().find(|event| event.kind == "charge.refunded").unwrap();
        let refunded: Value = serde_json::from_str(&refunded.body).unwrap();
        let intent = refunded["data"]["object"]["payment_intent"].as_str().unwrap();
        let changes = [(sold.id.as_str(), "order_1"), (sold.form.as_str(), "cs_other"), (intent, "pi_other")];
        for event in &events {
            till.deliver_body(&with_ids(event, &changes)).await.unwrap();
            // Forms without a reference exist too.
            let mut bare: Value = serde_json::from_str(&event.body).unwrap();
            let object = bare["data"]["object"].as_object_mut().unwrap();
            object.insert("client_reference_id".into(), Value::Null);
            object.insert("payment_intent".into(), Value::Null);
            till.deliver_body(&bare.to_string()).await.unwrap();
        }
        assert_eq!(till.session(&sold).await.state, PaySessionState::Pending);
        assert_eq!(till.till.states().await, Vec::<String>::new());
        till.check_nothing_sold().await;
        // They do not wait for ever.
        till.till.clock.advance(31 * 86_400);
        till.app().sweep().await.unwrap();
        assert_eq!(till.till.count("SELECT COUNT(*) FROM processor_events").await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_of_more_than_is_left_is_owed_and_the_balance_is_never_negative() {
    at_each_card_till(async |till| {
        let account = till.app().create_account("a@example.org", Some("free"), false).await.unwrap();
        let sold = till.sell(Feature::Topup, 1000, Some(&account)).await;
        till.pay(&sold, VISA).await;
        assert_eq!(till.poll(&sold).await.state, PaySessionState::Completed);
        assert_eq!(till.balance(&sold).await, 1000);
        till.app().credit_account("test", &account.id, -700, "spent", None).await.unwrap();
        for (refund, balance, owed) in [(200, 100, 0), (300, 0, 200), (500, 0, 700)] {
            for event in till.step(&sold, StepKind::Refund { amount: Some(refund) }).await {
                till.deliver(&event).await.unwrap();
            }
            assert_eq!(till.balance(&sold).await, balance);
            let sql = "SELECT CAST(COALESCE(SUM(balance), 0) AS BIGINT) FROM ledger_accounts WHERE id LIKE 'asset:owed:%'";
            assert_eq!(till.till.count(sql).await, owed);
            till.check_ledger().await;
        }
        assert_eq!(till.payment(&sold).await.refunded_minor, 1000);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refunds_and_disputes_at_the_same_time_are_each_counted_once() {
    at_each_card_till(async |till| {
        let sold = till.sell_key().await;
        till.pay(&sold, VISA).await;
        till.check_key_once(&sold).await;
        let mut events = till.step(&sold, StepKind::Refund { amount: Some(100) }).await;
        events.extend(till.step(&sold, StepKind::Refund { amount: Some(100) }).await);
        events.extend(till.step(&sold, StepKind::OpenDispute { amount: Some(300) }).await);
        let other = till.beside().await;
        let twice = events.iter().flat_map(|event| [(till, event), (&other, event)]);
        let delivered = futures_util::future::join_all(twice.map(|(node, event)| node.deliver(event))).await;
        for outcome in delivered {
            outcome.unwrap();
        }
        let payment = till.payment(&sold).await;
        assert_eq!((payment.refunded_minor, payment.disputed_minor), (200, 300));
        assert_eq!(till.balance(&sold).await, 0);
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_that_failed_and_another_that_did_not() {
    at_each_card_till(async |till| {
        let types = ["checkout.session.completed", "charge.refunded", "refund.failed"];
        let purchase = async |sold: &Sold| {
            let mut events = till.pay(sold, VISA).await.1;
            events.extend(till.step(sold, StepKind::Refund { amount: Some(200) }).await);
            events.extend(till.step(sold, StepKind::FailRefund).await);
            events.extend(till.step(sold, StepKind::Refund { amount: Some(50) }).await);
            of_types(events, &types)
        };
        let found = in_every_order(till, 0, purchase).await;
        let expected = sums(&[("asset", 550), ("liability", -450), ("revenue", -100)]);
        assert_eq!(found, (PaymentState::Fulfilled, 50, 0, 450, expected));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refunds_that_fail_are_booked_back_each_time_they_are_reported() {
    at_each_card_till(async |till| {
        let account = till.app().create_account("a@example.org", Some("free"), false).await.unwrap();
        let sold = till.sell(Feature::Topup, 1000, Some(&account)).await;
        till.pay(&sold, VISA).await;
        assert_eq!(till.poll(&sold).await.state, PaySessionState::Completed);
        till.app().credit_account("test", &account.id, -700, "spent", None).await.unwrap();
        let owed = "SELECT CAST(COALESCE(SUM(balance), 0) AS BIGINT) FROM ledger_accounts WHERE id LIKE 'asset:owed:%'";
        let refund = StepKind::Refund { amount: None };
        for kind in ["refund.updated", "refund.failed", "charge.refund.updated"] {
            for (step, refunded, balance, debt) in
                [(refund, 1000, 0, 700), (StepKind::FailRefund, 0, 300, 0)]
            {
                let events = till.step(&sold, step).await;
                let reports = if step == refund { "charge.refunded" } else { kind };
                let event = events.iter().find(|event| event.kind == reports).unwrap();
                // Without an answer the processor has to repeat the event.
                till.processor.next([CardFault::Unreachable]);
                assert_eq!(till.deliver(event).await.unwrap_err().code, Code::ProcessorUnavailable);
                for _ in 0..3 {
                    till.deliver(event).await.unwrap();
                }
                assert_eq!(till.payment(&sold).await.refunded_minor, refunded, "{kind}");
                assert_eq!((till.balance(&sold).await, till.till.count(owed).await), (balance, debt));
                till.check_ledger().await;
            }
        }
    })
    .await;
}
