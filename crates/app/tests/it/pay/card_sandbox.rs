//! The sandbox card processor over a real database: requests, the payment form, later steps, concurrency and cleaning up.

use crate::harness::Database;
use crate::harness::till::{Till, TillConfig};
use dropleaf_app::{CardSettings, Mode, SandboxProcessor};
use dropleaf_core::Code;
use dropleaf_pay::stripe::sandbox::{
    CardDetails, FormOutcome, PaymentRef, Request, Step, StepKind, WebhookEvent,
};
use dropleaf_pay::stripe::{
    self, ApiRequest, ChargeAnswer, Checkout, CheckoutStatus, ExpectedCharge, Money, NewCheckout, ObjectId,
    PaymentStatus, SharedPaymentToken, TokenCharge, TokenSpelling,
};
use futures_util::future::join_all;
use std::sync::Arc;

const DAY: i64 = 86_400;

async fn at_each_sandbox(test: impl AsyncFn(&Till)) {
    for database in [Database::Sqlite, Database::postgres().await] {
        test(&Till::open_in(&database, Mode::Sandbox).await.beside_with(accept_cards).await).await;
    }
}

fn accept_cards(config: &mut TillConfig) {
    let cards = CardSettings { webhook_secrets: Vec::new(), token_spelling: TokenSpelling::Nested };
    config.settings.payments.as_mut().unwrap().cards = Some(cards);
}

fn sandbox(till: &Till) -> &Arc<SandboxProcessor> {
    till.app.sandbox_processor().unwrap()
}

/// Sends a request as the application does.
async fn send(till: &Till, request: &ApiRequest) -> (u16, bool, bytes::Bytes) {
    let reply = till.app.card_processor().unwrap().send(request).await.unwrap();
    (reply.status, reply.replayed, reply.body)
}

async fn open_checkout(till: &Till, reference: &str) -> Checkout {
    let request = stripe::create_checkout(&NewCheckout {
        reference,
        price: Money::usd_cents(600),
        product: "API key",
        feature: "provision",
        success_url: "https://api.pages.test/pay/x?done=1",
        cancel_url: "https://api.pages.test/pay/x",
        expires_at: till.app.now() + 3600,
    });
    let (status, _, body) = send(till, &request).await;
    stripe::read_checkout(status, &body).unwrap()
}

async fn retrieve(till: &Till, id: &ObjectId) -> Checkout {
    let (status, _, body) = send(till, &stripe::retrieve_checkout(id)).await;
    stripe::read_checkout(status, &body).unwrap()
}

async fn submit(till: &Till, id: &ObjectId, number: &str) -> (FormOutcome, Vec<WebhookEvent>) {
    let card = CardDetails { number, expiry: "12/34", cvc: "123" };
    sandbox(till).submit(id.as_str(), card, None).await.unwrap()
}

fn kinds(events: &[WebhookEvent]) -> Vec<&str> {
    events.iter().map(|event| event.kind).collect()
}

async fn post(till: &Till, path: &str, form: &str) -> (u16, serde_json::Value) {
    let request = Request {
        method: "POST",
        path,
        authorization: Some("Bearer sk_test_agent"),
        idempotency_key: None,
        parameters: form.as_bytes(),
    };
    let reply = sandbox(till).call(&request).await.unwrap();
    (reply.status, serde_json::from_str(&reply.body).unwrap())
}

async fn grant_token(till: &Till) -> SharedPaymentToken {
    let form = "payment_method=pm_card_visa&usage_limits[currency]=usd&usage_limits[max_amount]=100";
    let (status, token) = post(till, "/v1/test_helpers/shared_payment/granted_tokens", form).await;
    assert_eq!(status, 200);
    SharedPaymentToken::parse(token["id"].as_str().unwrap()).unwrap()
}

fn charge(token: &SharedPaymentToken) -> ApiRequest {
    let (price, spelling) = (Money::usd_cents(100), TokenSpelling::Nested);
    stripe::charge_token(&TokenCharge { token, price, feature: "provision", request_id: "r1", spelling })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkout_is_opened_declined_paid_and_disputed() {
    at_each_sandbox(async |till| {
        let open = open_checkout(till, "pay_1").await;
        assert_eq!(
            open.url.as_deref(),
            Some(format!("http://localhost:8080/pay/sandbox/{}", open.id).as_str())
        );
        let form = sandbox(till).form(open.id.as_str()).await.unwrap().unwrap();
        assert_eq!((form.product.as_str(), form.price), ("API key", Money::usd_cents(600)));
        assert_eq!(form.status, CheckoutStatus::Open);

        let (outcome, events) = submit(till, &open.id, "4000000000000002").await;
        assert!(matches!(outcome, FormOutcome::Declined { .. }), "{outcome:?}");
        assert_eq!(kinds(&events), ["charge.failed", "payment_intent.payment_failed"]);
        let (outcome, events) = submit(till, &open.id, "4242424242424242").await;
        assert!(matches!(outcome, FormOutcome::Paid { .. }), "{outcome:?}");
        assert_eq!(kinds(&events).last(), Some(&"checkout.session.completed"));
        assert_eq!(submit(till, &open.id, "4242424242424242").await.0, FormOutcome::AlreadyComplete);
        let paid = retrieve(till, &open.id).await;
        assert_eq!(paid.payment_status, PaymentStatus::Paid);

        let step = Step {
            payment: PaymentRef::Checkout(open.id.as_str()),
            kind: StepKind::OpenDispute { amount: None },
        };
        let reply = sandbox(till).step(step).await.unwrap();
        assert_eq!((reply.status, reply.events.len()), (200, 2));
        assert_eq!(sandbox(till).step(step).await.unwrap().status, 400, "it is disputed already");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_opens_one_checkout_however_often_it_is_sent() {
    at_each_sandbox(async |till| {
        let opened = join_all((0..8).map(|_| open_checkout(till, "pay_1"))).await;
        assert!(opened.iter().all(|checkout| checkout.id == opened[0].id));
        let count = "SELECT COUNT(*) FROM sandbox_objects WHERE kind = 'checkout_session'";
        assert_eq!(till.count(count).await, 1);
        assert_ne!(open_checkout(till, "pay_2").await.id, opened[0].id);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_that_is_submitted_many_times_at_once_is_paid_once() {
    at_each_sandbox(async |till| {
        let open = open_checkout(till, "pay_1").await;
        let numbers = ["4242424242424242", "4000000000000002"].repeat(3);
        let submitted = join_all(numbers.iter().map(|number| submit(till, &open.id, number))).await;
        let paid = submitted.iter().filter(|(outcome, _)| matches!(outcome, FormOutcome::Paid { .. }));
        assert_eq!(paid.count(), 1, "{submitted:?}");
        let completed = submitted.iter().flat_map(|(_, events)| kinds(events));
        assert_eq!(completed.filter(|kind| *kind == "checkout.session.completed").count(), 1);
        let now = retrieve(till, &open.id).await;
        assert_eq!(now.payment_status, PaymentStatus::Paid);
        let intent = now.payment_intent.unwrap();
        let (status, replayed, body) = send(till, &stripe::retrieve_intent(&intent)).await;
        let price = Money::usd_cents(600);
        let expected = ExpectedCharge { price, request_id: None, intent: Some(&intent) };
        let answer = stripe::read_charge(status, replayed, &body, &expected);
        assert!(matches!(answer, ChargeAnswer::Succeeded { .. }), "{answer:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_charged_once_and_stored_under_its_hash() {
    at_each_sandbox(async |till| {
        let token = grant_token(till).await;
        let request = charge(&token);
        let answers = join_all((0..4).map(|_| send(till, &request))).await;
        assert!(answers.iter().all(|(status, _, body)| *status == 200 && *body == answers[0].2));
        assert_eq!(answers.iter().filter(|(_, replayed, _)| !replayed).count(), 1);
        assert_eq!(till.count("SELECT COUNT(*) FROM sandbox_objects WHERE kind = 'payment'").await, 1);
        assert_eq!(till.count("SELECT COUNT(*) FROM sandbox_objects WHERE id LIKE '%spt%'").await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_from_elsewhere_is_not_stored() {
    at_each_sandbox(async |till| {
        let token = SharedPaymentToken::parse("spt_1live").unwrap();
        assert_eq!(send(till, &charge(&token)).await.0, 400);
        let found = "SELECT COUNT(*) FROM sandbox_objects WHERE json LIKE '%spt_1live%' OR id LIKE '%spt%'";
        assert_eq!(till.count(found).await, 0);
        assert_eq!(till.count("SELECT COUNT(*) FROM sandbox_objects").await, 1, "the answer is kept");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_sessions_have_no_form() {
    at_each_sandbox(async |till| {
        for id in ["cs_unknown", "", "../x", "spt_1"] {
            assert_eq!(sandbox(till).form(id).await.unwrap(), None, "{id}");
            let card = CardDetails { number: "4242424242424242", expiry: "12/34", cvc: "123" };
            assert_eq!(sandbox(till).submit(id, card, None).await.unwrap().0, FormOutcome::NotFound, "{id}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_that_do_not_change_are_swept_after_a_month() {
    at_each_sandbox(async |till| {
        let (old, used) = (open_checkout(till, "pay_1").await, open_checkout(till, "pay_2").await);
        till.clock.advance(20 * DAY);
        // An overdue session expires when it is read.
        assert_eq!(retrieve(till, &used.id).await.status, CheckoutStatus::Expired);
        till.clock.advance(10 * DAY - 1);
        Box::pin(till.app.sweep()).await.unwrap();
        assert!(sandbox(till).form(old.id.as_str()).await.unwrap().is_some());
        till.clock.advance(1);
        Box::pin(till.app.sweep()).await.unwrap();
        assert_eq!(sandbox(till).form(old.id.as_str()).await.unwrap(), None);
        assert!(sandbox(till).form(used.id.as_str()).await.unwrap().is_some());
        assert_eq!(till.count("SELECT COUNT(*) FROM sandbox_objects").await, 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_fails_is_reported_and_nothing_is_answered() {
    at_each_sandbox(async |till| {
        let open = open_checkout(till, "pay_1").await;
        till.exec("ALTER TABLE sandbox_objects RENAME TO sandbox_objects_away").await;
        let error = sandbox(till).form(open.id.as_str()).await.unwrap_err();
        assert_eq!(error.code, Code::Internal);
        let lost = till.app.card_processor().unwrap().send(&stripe::retrieve_checkout(&open.id)).await;
        assert!(lost.is_err());
        till.exec("ALTER TABLE sandbox_objects_away RENAME TO sandbox_objects").await;
        assert_eq!(retrieve(till, &open.id).await.status, CheckoutStatus::Open);
    })
    .await;
}

#[tokio::test]
async fn in_live_mode_there_is_no_sandbox_and_its_secret_is_its_own() {
    let till = Till::open_in(&Database::Sqlite, Mode::Live).await.beside_with(accept_cards).await;
    assert!(till.app.sandbox_processor().is_none() && till.app.card_processor().is_none());
    assert!(till.app.card_settings().unwrap().webhook_secrets.is_empty());
    let play = Till::open_in(&Database::Sqlite, Mode::Sandbox).await.beside_with(accept_cards).await;
    assert!(play.app.card_settings().unwrap().webhook_secrets[0].starts_with("whsec_"));
}
