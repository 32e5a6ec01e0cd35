//! A card processor that fails, stalls, lies or mixes up sessions: nothing is delivered without its money, and what was paid is
//! delivered once the processor answers again.

use crate::harness::CardFault;
use crate::harness::card_till::{CardTill, Sold, VISA, at_each_card_till};
use dropleaf_app::Resolution;
use dropleaf_core::Code;
use dropleaf_core::pay_session::{Feature, PaySessionState};
use dropleaf_core::payment::PaymentState;
use dropleaf_pay::stripe::sandbox::{STALLED_CARD, StepKind};
use serde_json::{Value, json};

/// The form of a session as the processor shows it.
async fn form_of(till: &CardTill, sold: &Sold) -> String {
    let id = dropleaf_pay::stripe::ObjectId::parse(&sold.form).unwrap();
    let request = dropleaf_pay::stripe::retrieve_checkout(&id);
    let reply = dropleaf_app::CardProcessor::send(&*till.processor.sandbox, &request).await.unwrap();
    String::from_utf8(reply.body.to_vec()).unwrap()
}

/// The payments that an operator has to decide on.
async fn unknown(till: &CardTill) -> i64 {
    till.till.count("SELECT COUNT(*) FROM payments WHERE state = 'unknown'").await
}

/// Changes an answer of the processor.
type Lie = fn(&mut Value);

const LIES: [(&str, Lie); 6] = [
    ("less", |form| form["amount_total"] = json!(599)),
    ("more", |form| form["amount_total"] = json!(60_000)),
    ("another currency", |form| form["currency"] = json!("eur")),
    ("another purchase", |form| form["client_reference_id"] = json!("ps_other")),
    ("no purchase", |form| form["client_reference_id"] = Value::Null),
    ("another form", |form| form["id"] = json!("cs_test_other")),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_does_not_match_delivers_nothing_until_it_is_reported_correctly() {
    at_each_card_till(async |till| {
        for (what, lie) in LIES {
            let before = unknown(till).await;
            let keys = till.till.count("SELECT COUNT(*) FROM api_keys").await;
            let sold = till.sell_key().await;
            till.pay(&sold, VISA).await;
            till.processor.next([CardFault::Bends(lie), CardFault::Bends(lie)]);
            for _ in 0..2 {
                let polled = till.poll(&sold).await;
                assert!(polled.key.is_none() && polled.state == PaySessionState::Pending, "{what}");
            }
            assert_eq!(unknown(till).await, before + 1, "{what}: an operator sees it once");
            assert_eq!(till.till.count("SELECT COUNT(*) FROM api_keys").await, keys, "{what}");
            till.app().recover_payments().await.unwrap();
            till.till.clock.advance(7200);
            till.app().recover_payments().await.unwrap();
            assert_eq!(unknown(till).await, before + 1, "{what}: time decides nothing");
            till.check_key_once(&sold).await;
            let payment = till.payment(&sold).await;
            assert_eq!((payment.state, payment.amount), (PaymentState::Fulfilled, 600), "{what}");
            assert_eq!(till.balance(&sold).await, 500, "{what}");
        }
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lies_in_events_deliver_nothing() {
    at_each_card_till(async |till| {
        for (what, lie) in LIES {
            let sold = till.sell_key().await;
            let (_, events) = till.pay(&sold, VISA).await;
            let event = events.iter().find(|event| event.kind == "checkout.session.completed").unwrap();
            let mut body: Value = serde_json::from_str(&event.body).unwrap();
            lie(&mut body["data"]["object"]);
            till.deliver_body(&body.to_string()).await.unwrap();
            assert_eq!(till.session(&sold).await.state, PaySessionState::Pending, "{what}");
        }
        till.check_nothing_sold().await;
        // Two of them name no purchase of ours.
        assert_eq!(unknown(till).await, 4);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_form_of_another_session_pays_only_for_that_one() {
    at_each_card_till(async |till| {
        let account = till.app().create_account("a@example.org", Some("free"), false).await.unwrap();
        let topup = till.sell(Feature::Topup, 600, Some(&account)).await;
        let sold = till.sell_key().await;
        till.pay(&sold, VISA).await;
        till.processor.next([CardFault::Mixes(form_of(till, &sold).await)]);
        assert_eq!(till.poll(&topup).await.state, PaySessionState::Pending);
        assert_eq!(unknown(till).await, 1);
        till.check_key_once(&sold).await;
        assert_eq!(till.app().get_account(&account.id).await.unwrap().balance_minor, 0);
        // A refund concerns the payment that was delivered, not the doubtful one.
        for event in till.step(&sold, StepKind::Refund { amount: None }).await {
            till.deliver(&event).await.unwrap();
        }
        assert_eq!(till.payment(&sold).await.refunded_minor, 600);
        till.pay(&topup, VISA).await;
        assert_eq!(till.poll(&topup).await.state, PaySessionState::Completed);
        assert_eq!(till.app().get_account(&account.id).await.unwrap().balance_minor, 600);
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_decides_on_a_payment_that_does_not_match() {
    at_each_card_till(async |till| {
        for is_ours in [true, false] {
            let sold = till.sell_key().await;
            till.pay(&sold, VISA).await;
            till.processor.next([CardFault::Bends(LIES[0].1)]);
            till.poll(&sold).await;
            let payment = till.payment(&sold).await;
            assert_eq!((payment.state, payment.amount), (PaymentState::Unknown, 599));
            let resolution = if is_ours {
                Resolution::Settled { transaction: payment.transaction.clone().unwrap() }
            } else {
                Resolution::NotSettled { reason: "returned in the dashboard".into() }
            };
            let decided = till.app().resolve_payment("ada", &payment.id, resolution).await.unwrap();
            if is_ours {
                assert_eq!(decided.state, PaymentState::Fulfilled);
                till.check_key_once(&sold).await;
                assert_eq!(till.balance(&sold).await, 499);
            } else {
                assert_eq!(decided.state, PaymentState::Refused);
                let session = till.session(&sold).await;
                assert!(till.app().find_received_payment(&session).await.unwrap().is_none());
            }
        }
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_that_could_not_be_opened_is_opened_by_the_next_attempt() {
    at_each_card_till(async |till| {
        for fault in [
            CardFault::Unreachable,
            CardFault::Says(500, "{}"),
            CardFault::Says(503, "<html>"),
            CardFault::Says(401, "{\"error\":{\"type\":\"invalid_request_error\"}}"),
            CardFault::Says(429, "{\"error\":{\"type\":\"rate_limit_error\"}}"),
            CardFault::Says(200, "{}"),
            CardFault::DoesAndSays(500),
            CardFault::DoesAndIsLost,
            CardFault::Bends(|form| form["amount_total"] = json!(1)),
            CardFault::Bends(|form| form["url"] = Value::Null),
            CardFault::Bends(|form| form["url"] = json!("javascript:alert(1)")),
        ] {
            let what = format!("{fault:?}");
            let mut sold = till.create(Feature::Provision, 600, None).await;
            till.processor.next([fault]);
            let error = till.open_form(&sold).await.unwrap_err();
            assert_eq!(error.code, Code::ProcessorUnavailable, "{what}");
            assert!(error.retry_after.is_some(), "{what}");
            till.till.clock.advance(2);
            let url = till.open_form(&sold).await.unwrap();
            let keys = till.processor.keys();
            let [.., first, second] = keys.as_slice() else { panic!("two requests") };
            assert_eq!(first, second, "{what}: the same idempotency key");
            assert_eq!(till.open_form(&sold).await.unwrap(), url, "{what}: the same form");
            url.rsplit('/').next().unwrap().clone_into(&mut sold.form);
            till.pay(&sold, VISA).await;
            till.check_key_once(&sold).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn polling_goes_on_while_the_processor_is_away() {
    at_each_card_till(async |till| {
        let sold = till.sell_key().await;
        till.pay(&sold, VISA).await;
        for fault in [
            CardFault::Unreachable,
            CardFault::Says(500, ""),
            CardFault::Says(200, "null"),
            CardFault::Says(404, "{\"error\":{\"type\":\"invalid_request_error\"}}"),
            CardFault::DoesAndSays(502),
            CardFault::DoesAndIsLost,
        ] {
            till.processor.next([fault]);
            let polled = till.poll(&sold).await;
            assert!(polled.state == PaySessionState::Pending && polled.key.is_none());
        }
        till.check_key_once(&sold).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_processor_that_never_answers_holds_up_only_the_request_that_asked_it() {
    at_each_card_till(async |till| {
        let sold = till.sell_key().await;
        till.pay(&sold, VISA).await;
        till.processor.next([CardFault::DoesAndWaits]);
        {
            let waiting = till.poll(&sold);
            tokio::pin!(waiting);
            tokio::select! {
                _ = &mut waiting => panic!("it has no answer"),
                () = till.processor.stalled() => {}
            }
            // Others are told what is known.
            let polled = till.app().poll_pay_session(&sold.code).await.unwrap();
            assert_eq!(polled.state, PaySessionState::Pending);
        }
        // The client gave up.
        till.check_key_once(&sold).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn delayed_money_is_noticed_without_events() {
    at_each_card_till(async |till| {
        for arrives in [true, false] {
            let sold = till.sell_key().await;
            till.pay(&sold, STALLED_CARD).await;
            for _ in 0..2 {
                assert_eq!(till.poll(&sold).await.state, PaySessionState::Processing);
            }
            assert_eq!(till.open_form(&sold).await.unwrap_err().code, Code::Conflict);
            if arrives {
                till.step(&sold, StepKind::ReceiveFunds).await;
                till.check_key_once(&sold).await;
            } else {
                till.step(&sold, StepKind::FailFunds).await;
                for _ in 0..2 {
                    assert_eq!(till.poll(&sold).await.state, PaySessionState::Failed);
                }
            }
        }
        till.check_ledger().await;
    })
    .await;
}
