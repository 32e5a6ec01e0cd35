//! Webhooks with a receiver that fails, hangs and comes back: order, retries, dead deliveries, crashes, rotation.

use crate::fixture::{DAY, Fixture, HOUR, fresh, upload};
use dropleaf_app::{DeliveryQuery, NewWebhook, WebhookChange, WebhookMessage, WebhookTransport};
use dropleaf_core::Code;
use dropleaf_core::account::Account;
use dropleaf_core::expiry::Lifetime;
use dropleaf_core::feedback::FeedbackContent;
use dropleaf_core::options::UploadOptions;
use dropleaf_core::site::Site;
use dropleaf_core::webhook::{Delivery, DeliveryState, EndpointState, Secret, verify};
use futures_util::future::BoxFuture;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

static NEXT_VIEWER: AtomicU8 = AtomicU8::new(0);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Mood {
    Answers(u16),
    Unreachable,
    /// Receives the message and never answers.
    Hangs,
    /// Answers 500 to messages that contain this text.
    Refuses(String),
}

#[derive(Debug)]
struct Receiver {
    mood: Mutex<Mood>,
    received: Mutex<Vec<WebhookMessage>>,
    /// Messages that are being sent at this moment, and the most there were.
    open: Mutex<(usize, usize)>,
}

impl Receiver {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            mood: Mutex::new(Mood::Answers(204)),
            received: Mutex::default(),
            open: Mutex::default(),
        })
    }

    fn be(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// What arrived since the last call.
    fn take(&self) -> Vec<WebhookMessage> {
        std::mem::take(&mut self.received.lock().unwrap())
    }
}

impl WebhookTransport for Receiver {
    fn send<'a>(&'a self, message: &'a WebhookMessage) -> BoxFuture<'a, Result<u16, String>> {
        Box::pin(async move {
            {
                let mut open = self.open.lock().unwrap();
                open.0 += 1;
                open.1 = open.1.max(open.0);
            }
            tokio::task::yield_now().await;
            self.open.lock().unwrap().0 -= 1;
            let mood = self.mood.lock().unwrap().clone();
            if mood != Mood::Unreachable {
                self.received.lock().unwrap().push(message.clone());
            }
            match mood {
                Mood::Answers(status) => Ok(status),
                Mood::Unreachable => Err("it cannot be reached".into()),
                Mood::Hangs => std::future::pending().await,
                Mood::Refuses(text) => Ok(if message.body.contains(&text) { 500 } else { 204 }),
            }
        })
    }
}

async fn open() -> (Fixture, Arc<Receiver>) {
    let receiver = Receiver::new();
    let transport = Arc::clone(&receiver) as Arc<dyn WebhookTransport>;
    (Fixture::open_with("http://localhost:8080", Some(transport)).await, receiver)
}

async fn page(fixture: &Fixture, who: usize) -> Site {
    let options = UploadOptions { agentation: Some(true), ..UploadOptions::default() };
    let caller = fixture.caller(Some(who));
    let made = fixture.app.create_site(&caller, upload(1), options, None, |_| Vec::new()).await;
    fresh(made.unwrap()).site
}

async fn comment(fixture: &Fixture, site: &Site) -> String {
    let content = FeedbackContent {
        comment: "A secret remark".into(),
        element: None,
        element_path: None,
        selected_text: None,
        page_url: None,
        intent: None,
        severity: None,
    };
    // Each from another network, because comments of one are limited.
    let ip = Some([203, 0, 113, NEXT_VIEWER.fetch_add(1, Ordering::Relaxed)].into());
    fixture.app.create_feedback(site, ip, content).await.unwrap().0.id
}

/// An endpoint for all events; returns its id and secret.
async fn hook(fixture: &Fixture, account: &Account) -> (String, Secret) {
    let new = NewWebhook { url: Some("https://hooks.example.com/x".into()), ..NewWebhook::default() };
    let made = fixture.app.create_webhook(account, None, new, None, |_| Vec::new()).await.unwrap();
    let made = fresh(made);
    (made.endpoint.id, made.secret)
}

async fn deliveries(fixture: &Fixture, account: &Account, id: &str) -> Vec<Delivery> {
    let query = DeliveryQuery::default();
    fixture.app.list_webhook_deliveries(account, None, id, query).await.unwrap().deliveries
}

/// The ids of comments in the order in which they arrived.
fn comments(messages: &[WebhookMessage]) -> Vec<String> {
    let id = |message: &WebhookMessage| {
        let (_, rest) = message.body.split_once("\"feedback_id\":\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    messages.iter().map(id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comment_arrives_signed_and_without_its_text() {
    let (fixture, receiver) = open().await;
    let account = &fixture.accounts[0];
    let site = page(&fixture, 0).await;
    let before = comment(&fixture, &site).await;
    let (id, secret) = hook(&fixture, account).await;
    let made = comment(&fixture, &site).await;
    assert_eq!(fixture.app.send_due_webhooks().await.unwrap(), 1, "{before} was before the webhook");
    let messages = receiver.take();
    assert_eq!(comments(&messages), [made]);
    let message = &messages[0];
    assert!(verify(
        &secret,
        &message.signature,
        &message.id,
        message.timestamp,
        &message.body,
        fixture.app.now()
    ));
    for hidden in ["secret remark", site.token.as_str(), "@example.org", "http"] {
        assert!(!message.body.contains(hidden), "{}", message.body);
    }
    let all = deliveries(&fixture, account, &id).await;
    assert_eq!(
        (all.len(), all[0].state, all[0].attempts, all[0].status),
        (1, DeliveryState::Delivered, 1, Some(204))
    );
    assert_eq!(fixture.app.get_webhook(account, None, &id).await.unwrap().waiting, 0);
    assert_eq!(fixture.app.send_due_webhooks().await.unwrap(), 0, "once");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_an_hour_without_a_receiver_everything_arrives_in_order() {
    let (fixture, receiver) = open().await;
    let account = &fixture.accounts[0];
    let (id, _) = hook(&fixture, account).await;
    let sites = [page(&fixture, 0).await, page(&fixture, 0).await];
    receiver.be(Mood::Unreachable);
    let mut made = [Vec::new(), Vec::new()];
    for round in 0..6 {
        for (site, made) in sites.iter().zip(&mut made) {
            made.push(comment(&fixture, site).await);
        }
        fixture.app.send_due_webhooks().await.unwrap();
        fixture.clock.advance(if round == 0 { 6 } else { 10 * 60 });
    }
    fixture.clock.advance(HOUR);
    assert!(receiver.take().is_empty());
    receiver.be(Mood::Answers(200));
    // The next attempt of the first ones, at most two hours and a tenth later; the others follow at once.
    fixture.clock.advance(3 * HOUR);
    fixture.app.send_due_webhooks().await.unwrap();
    let messages = receiver.take();
    assert_eq!(messages.len(), 12, "each once");
    for (site, made) in sites.iter().zip(&made) {
        let of_site: Vec<_> =
            messages.iter().filter(|message| message.body.contains(&site.id)).cloned().collect();
        assert_eq!(&comments(&of_site), made);
    }
    let endpoint = fixture.app.get_webhook(account, None, &id).await.unwrap();
    assert_eq!((endpoint.waiting, endpoint.failing_since), (0, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_fails_holds_back_its_page_and_no_other() {
    let (fixture, receiver) = open().await;
    let account = &fixture.accounts[0];
    let (id, _) = hook(&fixture, account).await;
    let (bad, good) = (page(&fixture, 0).await, page(&fixture, 0).await);
    let first = comment(&fixture, &bad).await;
    receiver.be(Mood::Refuses(first.clone()));
    let second = comment(&fixture, &bad).await;
    let other = comment(&fixture, &good).await;
    fixture.app.send_due_webhooks().await.unwrap();
    let mut arrived = comments(&receiver.take());
    arrived.sort();
    let mut expected = vec![first.clone(), other];
    expected.sort();
    assert_eq!(arrived, expected);
    // Ten attempts, then it is dead and the next one follows.
    for _ in 0..9 {
        fixture.clock.advance(27 * HOUR);
        fixture.app.send_due_webhooks().await.unwrap();
        // A success elsewhere keeps the endpoint enabled.
        comment(&fixture, &good).await;
        fixture.app.send_due_webhooks().await.unwrap();
    }
    let arrived = comments(&receiver.take());
    assert_eq!(arrived.iter().filter(|id| **id == first).count(), 9);
    assert_eq!(arrived.iter().filter(|id| **id == second).count(), 1);
    let all = deliveries(&fixture, account, &id).await;
    let dead: Vec<_> = all.iter().filter(|it| it.state == DeliveryState::Dead).collect();
    assert_eq!((dead.len(), dead[0].attempts, dead[0].status), (1, 10, Some(500)));
    // The dead one can be sent again.
    receiver.be(Mood::Answers(200));
    let dead_id = dead[0].id.clone();
    let retried = fixture.app.retry_webhook_delivery(account, None, &id, &dead_id).await.unwrap();
    assert_eq!((retried.state, retried.attempts), (DeliveryState::Waiting, 0));
    fixture.app.send_due_webhooks().await.unwrap();
    let again = receiver.take();
    assert_eq!((comments(&again), again[0].id.as_str()), (vec![first], dead_id.as_str()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_between_delivery_and_record_repeats_the_same_message() {
    let (fixture, receiver) = open().await;
    let account = &fixture.accounts[0];
    let (id, _) = hook(&fixture, account).await;
    let site = page(&fixture, 0).await;
    comment(&fixture, &site).await;
    let later = comment(&fixture, &site).await;
    receiver.be(Mood::Hangs);
    let arrived = async {
        while receiver.received.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    // The sending is dropped, as if the process had been killed.
    tokio::select! {
        sent = fixture.app.send_due_webhooks() => panic!("the receiver answered: {sent:?}"),
        () = arrived => {}
    }
    receiver.be(Mood::Answers(200));
    let first = receiver.take();
    assert_eq!(fixture.app.send_due_webhooks().await.unwrap(), 0, "another node may still be sending it");
    fixture.clock.advance(90);
    assert_eq!(fixture.app.send_due_webhooks().await.unwrap(), 2);
    let second = receiver.take();
    assert_eq!(second[0].id, first[0].id);
    assert_eq!(second[0].body, first[0].body);
    assert_eq!(comments(&second)[1], later);
    let all = deliveries(&fixture, account, &id).await;
    assert!(all.iter().all(|it| it.state == DeliveryState::Delivered));
    assert_eq!(all[1].attempts, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_fails_for_days_or_is_gone_is_disabled() {
    let (fixture, receiver) = open().await;
    let account = &fixture.accounts[0];
    let site = page(&fixture, 0).await;
    let (id, _) = hook(&fixture, account).await;
    receiver.be(Mood::Answers(503));
    // Ten attempts; the last pause may be a little longer than a day.
    for _ in 0..12 {
        comment(&fixture, &site).await;
        fixture.app.send_due_webhooks().await.unwrap();
        fixture.clock.advance(DAY);
    }
    let state = async |id: &str| fixture.app.get_webhook(account, None, id).await.unwrap();
    let failed = state(&id).await;
    assert_eq!((failed.state, failed.waiting), (EndpointState::Failed, 0));
    let all = deliveries(&fixture, account, &id).await;
    assert!(all.iter().all(|it| it.state == DeliveryState::Dead && it.error.is_some()), "{all:?}");
    receiver.take();
    comment(&fixture, &site).await;
    fixture.app.send_due_webhooks().await.unwrap();
    assert!(receiver.take().is_empty(), "nothing is written for it");
    let refused = fixture.app.retry_webhook_delivery(account, None, &id, &all[0].id).await.unwrap_err();
    assert_eq!(refused.code, Code::Conflict);
    // Enabled again, it starts from the beginning.
    let change = WebhookChange { enabled: Some(true), ..WebhookChange::default() };
    fixture.app.change_webhook(account, None, &id, change).await.unwrap();
    receiver.be(Mood::Answers(410));
    comment(&fixture, &site).await;
    fixture.app.send_due_webhooks().await.unwrap();
    assert_eq!(state(&id).await.state, EndpointState::Failed, "410 disables at once");
    assert_eq!(receiver.take().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn for_a_day_after_a_rotation_both_secrets_sign() {
    let (fixture, receiver) = open().await;
    let account = &fixture.accounts[0];
    let (id, old) = hook(&fixture, account).await;
    let new = fixture.app.rotate_webhook(account, None, &id).await.unwrap().secret;
    assert_ne!(old, new);
    let signs = async || {
        fixture.app.test_webhook(account, None, &id).await.unwrap();
        fixture.app.send_due_webhooks().await.unwrap();
        let sent = receiver.take().remove(0);
        [&old, &new]
            .map(|key| verify(key, &sent.signature, &sent.id, sent.timestamp, &sent.body, fixture.app.now()))
    };
    assert_eq!(signs().await, [true, true]);
    fixture.clock.advance(DAY - 1);
    assert_eq!(signs().await, [true, true]);
    fixture.clock.advance(1);
    assert_eq!(signs().await, [false, true]);
    fixture.app.sweep().await.unwrap();
    assert_eq!(signs().await, [false, true]);
    assert_eq!(fixture.app.get_webhook(account, None, &id).await.unwrap().previous_until, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_end_are_told_of_once_each() {
    let (fixture, receiver) = open().await;
    let account = &fixture.accounts[0];
    hook(&fixture, account).await;
    let caller = fixture.caller(Some(0));
    let options = UploadOptions { lifetime: Some(Lifetime::Seconds(10 * DAY)), ..UploadOptions::default() };
    let made = fixture.app.create_site(&caller, upload(2), options, None, |_| Vec::new()).await.unwrap();
    let expiring = fresh(made).site;
    let taken = page(&fixture, 0).await;
    fixture.app.take_down("test", &taken.id, "phishing").await.unwrap();
    let mut types = Vec::new();
    for days in [6, 1, 2, 2] {
        fixture.clock.advance(days * DAY);
        fixture.app.sweep().await.unwrap();
        fixture.app.sweep().await.unwrap();
        fixture.app.send_due_webhooks().await.unwrap();
        let kind = |it: &WebhookMessage| it.body.split('"').nth(3).unwrap().to_owned();
        types.push(
            receiver.take().iter().map(|it| (kind(it), it.body.contains(&expiring.id))).collect::<Vec<_>>(),
        );
    }
    let event = |name: &str, is_first: bool| (name.to_owned(), is_first);
    assert_eq!(types[0], [event("site.taken_down", false)]);
    assert_eq!(types[1], [event("site.expiring", true)]);
    assert_eq!(types[2], []);
    assert_eq!(types[3], [event("site.expired", true)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_is_counted_and_no_account_takes_all_places() {
    let (fixture, receiver) = open().await;
    let [one, two] = &fixture.accounts;
    let (id, _) = hook(&fixture, one).await;
    hook(&fixture, two).await;
    let site = page(&fixture, 0).await;
    for _ in 0..25 {
        comment(&fixture, &site).await;
    }
    let endpoint = fixture.app.get_webhook(one, None, &id).await.unwrap();
    assert_eq!((endpoint.waiting, endpoint.missed), (20, 5));
    fixture.app.send_due_webhooks().await.unwrap();
    assert_eq!(receiver.take().len(), 20);
    assert_eq!(receiver.open.lock().unwrap().1, 1, "one of a page at a time");
    // Test events are independent of each other: several at a time, but not all.
    for _ in 0..12 {
        fixture.app.test_webhook(one, None, &id).await.unwrap();
    }
    fixture.app.send_due_webhooks().await.unwrap();
    assert_eq!(receiver.take().len(), 12);
    assert!((2..=4).contains(&receiver.open.lock().unwrap().1));
    let third = NewWebhook { url: Some("https://hooks.example.com/y".into()), ..NewWebhook::default() };
    for attempt in 0..3 {
        let made = fixture.app.create_webhook(one, None, third.clone(), None, |_| Vec::new()).await;
        assert_eq!(made.err().map(|error| error.code), (attempt == 2).then_some(Code::TooMany));
    }
}
