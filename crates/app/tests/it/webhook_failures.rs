//! Webhooks that cannot be signed, that failed long ago, and whose account or program may no longer get events.

use crate::fixture::{DAY, Fixture, HOUR, fresh};
use dropleaf_app::{
    DeliveryQuery, GrantedClient, NewWebhook, WebhookChange, WebhookMessage, WebhookTransport,
};
use dropleaf_core::Code;
use dropleaf_core::account::Account;
use dropleaf_core::scope::Scopes;
use dropleaf_core::webhook::{Delivery, DeliveryState, EndpointState, Secret, verify};
use dropleaf_store::{Db, Stmt, Val};
use futures_util::future::BoxFuture;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Debug)]
struct Receiver {
    status: AtomicU16,
    received: Mutex<Vec<WebhookMessage>>,
}

impl Receiver {
    fn answer(&self, status: u16) {
        self.status.store(status, Ordering::Relaxed);
    }

    /// What arrived since the last call.
    fn take(&self) -> Vec<WebhookMessage> {
        std::mem::take(&mut self.received.lock().unwrap())
    }
}

impl WebhookTransport for Receiver {
    fn send<'a>(&'a self, message: &'a WebhookMessage) -> BoxFuture<'a, Result<u16, String>> {
        self.received.lock().unwrap().push(message.clone());
        Box::pin(async { Ok(self.status.load(Ordering::Relaxed)) })
    }
}

async fn open() -> (Fixture, Arc<Receiver>) {
    let receiver = Arc::new(Receiver { status: AtomicU16::new(204), received: Mutex::default() });
    let transport = Arc::clone(&receiver) as Arc<dyn WebhookTransport>;
    (Fixture::open_with("http://localhost:8080", Some(transport)).await, receiver)
}

async fn exec(fixture: &Fixture, sql: &'static str, args: Vec<Val>) {
    let db = Db::open(&fixture.url).await.unwrap();
    db.exec(Stmt::new(sql, args)).await.unwrap();
    db.close().await;
}

async fn hook(fixture: &Fixture, grant_id: Option<&str>, url: Option<&str>) -> (String, Secret) {
    let new = NewWebhook { url: url.map(str::to_owned), ..NewWebhook::default() };
    let made = fixture.app.create_webhook(&fixture.accounts[0], grant_id, new, None, |_| Vec::new()).await;
    let made = fresh(made.unwrap());
    (made.endpoint.id, made.secret)
}

const URL: Option<&str> = Some("https://hooks.example.com/x");

async fn newest(fixture: &Fixture, account: &Account, id: &str) -> Delivery {
    let query = DeliveryQuery::default();
    fixture.app.list_webhook_deliveries(account, None, id, query).await.unwrap().deliveries.remove(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn secret_that_cannot_be_read_is_a_failed_attempt_and_rotating_it_helps_at_once() {
    let (fixture, receiver) = open().await;
    let (app, account) = (&fixture.app, &fixture.accounts[0]);
    let (id, _) = hook(&fixture, None, URL).await;
    app.test_webhook(account, None, &id).await.unwrap();
    exec(&fixture, "UPDATE webhook_endpoints SET secret = $1", vec![vec![7_u8; 60].into()]).await;
    assert_eq!(app.send_due_webhooks().await.unwrap(), 1);
    let failed = newest(&fixture, account, &id).await;
    assert_eq!((failed.state, failed.attempts), (DeliveryState::Waiting, 1));
    assert!(failed.error.unwrap().contains("rotate it"));
    assert!(failed.next_attempt_at <= app.now() + 6, "as after any failure");
    assert!(app.get_webhook(account, None, &id).await.unwrap().failing_since.is_some());
    // It is given up like any other.
    for _ in 0..9 {
        fixture.clock.advance(27 * HOUR);
        app.send_due_webhooks().await.unwrap();
    }
    assert_eq!(newest(&fixture, account, &id).await.state, DeliveryState::Dead);
    assert!(receiver.take().is_empty());
    let enable = WebhookChange { enabled: Some(true), ..WebhookChange::default() };
    app.change_webhook(account, None, &id, enable).await.unwrap();
    let secret = app.rotate_webhook(account, None, &id).await.unwrap().secret;
    app.test_webhook(account, None, &id).await.unwrap();
    app.send_due_webhooks().await.unwrap();
    let sent = receiver.take().remove(0);
    assert!(verify(&secret, &sent.signature, &sent.id, sent.timestamp, &sent.body, app.now()));
}

#[tokio::test(flavor = "multi_thread")]
async fn listening_program_is_told_to_rotate_a_secret_that_cannot_be_read() {
    let (fixture, _) = open().await;
    let (app, account) = (&fixture.app, &fixture.accounts[0]);
    let (id, _) = hook(&fixture, None, None).await;
    exec(&fixture, "UPDATE webhook_endpoints SET secret = $1", vec![vec![7_u8; 60].into()]).await;
    let listen = async || app.listen_to_webhook(account, None, &id, None, Duration::ZERO).await;
    let refused = listen().await.unwrap_err();
    assert_eq!(refused.code, Code::Conflict);
    app.rotate_webhook(account, None, &id).await.unwrap();
    listen().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn failure_of_long_ago_does_not_disable_a_webhook_at_the_next_one() {
    let (fixture, receiver) = open().await;
    let (app, account) = (&fixture.app, &fixture.accounts[0]);
    let (id, _) = hook(&fixture, None, URL).await;
    let state = async || app.get_webhook(account, None, &id).await.unwrap().state;
    receiver.answer(500);
    app.test_webhook(account, None, &id).await.unwrap();
    // Ten attempts in less than five days: it is dead, and the webhook stays enabled.
    app.send_due_webhooks().await.unwrap();
    for pause in [6, 330, 1980, 7920, 19_800, 39_600, 55_440, 79_200, 95_040] {
        fixture.clock.advance(pause);
        app.send_due_webhooks().await.unwrap();
    }
    let first = newest(&fixture, account, &id).await;
    assert_eq!((first.state, first.attempts), (DeliveryState::Dead, 10));
    assert_eq!(state().await, EndpointState::Enabled);
    // Weeks later one attempt fails, and the next one succeeds.
    fixture.clock.advance(30 * DAY);
    app.test_webhook(account, None, &id).await.unwrap();
    app.send_due_webhooks().await.unwrap();
    let again = newest(&fixture, account, &id).await;
    assert_eq!((again.state, again.attempts), (DeliveryState::Waiting, 1));
    assert_eq!(state().await, EndpointState::Enabled);
    receiver.answer(200);
    fixture.clock.advance(6);
    app.send_due_webhooks().await.unwrap();
    assert_eq!(newest(&fixture, account, &id).await.state, DeliveryState::Delivered);
    assert_eq!(app.get_webhook(account, None, &id).await.unwrap().failing_since, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_a_suspended_account_wait_and_its_webhook_can_be_deleted() {
    let (fixture, receiver) = open().await;
    let (app, account) = (&fixture.app, &fixture.accounts[0]);
    let (id, _) = hook(&fixture, None, URL).await;
    app.test_webhook(account, None, &id).await.unwrap();
    app.suspend_account("operator", &account.id, "spam").await.unwrap();
    assert_eq!(app.send_due_webhooks().await.unwrap(), 0);
    app.lift_suspension("operator", &account.id, "a mistake").await.unwrap();
    assert_eq!(app.send_due_webhooks().await.unwrap(), 1);
    assert_eq!(receiver.take().len(), 1);
    fixture.clock.advance(1);
    app.suspend_account("operator", &account.id, "spam").await.unwrap();
    let refused = app.rotate_webhook(account, None, &id).await.unwrap_err();
    assert_eq!(refused.code, Code::AccountSuspended);
    app.delete_webhook(account, None, &id).await.unwrap();
    assert!(app.list_webhooks(account, None).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn program_whose_access_was_revoked_gets_nothing_that_waits() {
    let (fixture, receiver) = open().await;
    let (app, account) = (&fixture.app, &fixture.accounts[0]);
    let client = GrantedClient { id: "client_1", name: "A program" };
    app.grant_access(client, &account.id, Scopes::ALL, "http://localhost:8080/mcp").await.unwrap();
    let grant_id = app.list_grants(account).await.unwrap().remove(0).id;
    let grant = Some(grant_id.as_str());
    let (sent_to, _) = hook(&fixture, grant, URL).await;
    let (fetched, _) = hook(&fixture, grant, None).await;
    let (own, _) = hook(&fixture, None, URL).await;
    for id in [&sent_to, &fetched, &own] {
        app.test_webhook(account, None, id).await.unwrap();
    }
    let listen = async || app.listen_to_webhook(account, grant, &fetched, None, Duration::ZERO).await;
    assert_eq!(listen().await.unwrap().len(), 1);
    app.revoke_grant(account, &grant_id).await.unwrap();
    app.send_due_webhooks().await.unwrap();
    let messages = receiver.take();
    assert!(messages.len() == 1 && messages[0].body.contains(&own), "{messages:?}");
    // A request that was accepted before the access ended.
    assert_eq!(listen().await.unwrap_err().code, Code::NotFound);
    app.sweep().await.unwrap();
    assert_eq!(app.list_webhooks(account, None).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_at_the_same_time_are_all_kept() {
    let (fixture, _) = open().await;
    let (app, account) = (&fixture.app, &fixture.accounts[0]);
    let (id, _) = hook(&fixture, None, URL).await;
    let change = |change: WebhookChange| app.change_webhook(account, None, &id, change);
    let none = WebhookChange::default;
    let outcomes = futures_util::future::join_all([
        change(WebhookChange { url: Some("https://hooks.example.com/new".into()), ..none() }),
        change(WebhookChange { events: Some(vec!["site.burnt".into()]), ..none() }),
        change(WebhookChange { description: Some("bot".into()), ..none() }),
        change(WebhookChange { enabled: Some(false), ..none() }),
    ]);
    assert!(outcomes.await.iter().all(Result::is_ok));
    let after = app.get_webhook(account, None, &id).await.unwrap();
    assert_eq!(after.url.unwrap().as_str(), "https://hooks.example.com/new");
    assert_eq!((after.events.names(), after.description.as_str()), (vec!["site.burnt"], "bot"));
    assert_eq!(after.state, EndpointState::Disabled);
}
