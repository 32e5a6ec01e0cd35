//! Webhooks of suspended accounts, of programs without access and of restored backups; what is read of a long queue; changes
//! of one endpoint at the same time.

use crate::harness::{NOW, account, for_each_database, text};
use bytes::Bytes;
use dropleaf_core::site_change::Field;
use dropleaf_core::webhook::{
    DeliveryState, Endpoint, EndpointKind, EndpointState, EventFilter, EventType, NEVER, WebhookUrl,
};
use dropleaf_store::backup::{backup, restore};
use dropleaf_store::webhook_deliveries::{self as deliveries, MOVED};
use dropleaf_store::webhook_endpoints::{self as endpoints, EndpointChange};
use dropleaf_store::webhook_outbox::{self as outbox, OutboxCondition, OutboxEvent};
use dropleaf_store::{DbError, Stmt, Store};

fn endpoint(id: &str, account_id: &str) -> Endpoint {
    Endpoint {
        id: id.into(),
        account_id: account_id.into(),
        grant_id: None,
        site_id: None,
        kind: EndpointKind::Url,
        url: Some(WebhookUrl::parse_stored("https://hooks.example.com/".into())),
        description: String::new(),
        events: EventFilter::All,
        state: EndpointState::Enabled,
        waiting: 0,
        missed: 0,
        failing_since: None,
        last_success_at: None,
        previous_until: None,
        created_at: NOW,
        expires_at: None,
    }
}

async fn add(store: &Store, endpoint: &Endpoint) {
    store.commit(vec![endpoints::insert(endpoint, &Bytes::from_static(b"sealed"), 9)]).await.unwrap();
}

async fn run(store: &Store, sql: &'static str) {
    store.commit(vec![Stmt::new(sql, [])]).await.unwrap();
}

/// Writes an event of an account that waits for no other.
async fn write(store: &Store, account_id: &str, id: &str, now: i64) {
    let event = OutboxEvent {
        id,
        event_type: EventType::PaymentReceived,
        account_id,
        site_id: None,
        body: "{}",
        now,
    };
    store.commit(outbox::enqueue(&event, OutboxCondition::Always, 99).into()).await.unwrap();
}

async fn due(store: &Store) -> Vec<String> {
    let found = store.list_due_deliveries(NOW + 99, 9, 99).await.unwrap();
    let mut found: Vec<_> = found.into_iter().map(|it| format!("{} {}", it.endpoint_id, it.id)).collect();
    found.sort();
    found
}

async fn grant(store: &Store) {
    run(store, "INSERT INTO oauth_grants VALUES ('g', 'c', 'n', 'a1', '', '', 1, NULL, 4000000000, NULL)")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_for_a_suspended_account_or_a_program_without_access() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        store.commit(vec![account("a1"), account("a2")]).await.unwrap();
        grant(&store).await;
        add(&store, &endpoint("w_own", "a1")).await;
        add(&store, &Endpoint { grant_id: Some("g".into()), ..endpoint("w_app", "a1") }).await;
        add(&store, &endpoint("w_other", "a2")).await;
        write(&store, "a1", "e1", NOW).await;
        write(&store, "a2", "e2", NOW).await;
        assert_eq!(due(&store).await, ["w_app e1", "w_other e2", "w_own e1"]);
        let read = store.find_delivery("w_app", "e1").await.unwrap().unwrap();
        let take = async || store.commit(vec![deliveries::claim(&read, NOW + 90, NOW)]).await;
        // The access ends after the events were written, and after they were read.
        run(&store, "UPDATE oauth_grants SET revoked_at = 9 WHERE id = 'g'").await;
        assert_eq!(due(&store).await, ["w_other e2", "w_own e1"]);
        assert!(matches!(take().await, Err(DbError::Guard(MOVED))));
        run(&store, "UPDATE oauth_grants SET revoked_at = NULL, ends_at = 1800000000 WHERE id = 'g'").await;
        assert_eq!(due(&store).await, ["w_other e2", "w_own e1"], "it has ended by itself");
        assert!(matches!(take().await, Err(DbError::Guard(MOVED))));
        run(&store, "UPDATE oauth_grants SET ends_at = 4000000000 WHERE id = 'g'").await;
        run(&store, "UPDATE accounts SET suspended_at = 9 WHERE id = 'a1'").await;
        assert_eq!(due(&store).await, ["w_other e2"]);
        assert!(matches!(take().await, Err(DbError::Guard(MOVED))));
        // What waits is sent when the suspension is lifted.
        run(&store, "UPDATE accounts SET suspended_at = NULL WHERE id = 'a1'").await;
        assert_eq!(due(&store).await, ["w_app e1", "w_other e2", "w_own e1"]);
        run(&store, "UPDATE webhook_endpoints SET state = 'disabled' WHERE id = 'w_app'").await;
        assert!(matches!(take().await, Err(DbError::Guard(MOVED))));
        run(&store, "UPDATE webhook_endpoints SET state = 'enabled' WHERE id = 'w_app'").await;
        take().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn listening_program_is_found_only_while_it_has_access() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        store.commit(vec![account("a1")]).await.unwrap();
        grant(&store).await;
        let listening = Endpoint {
            kind: EndpointKind::Listen,
            url: None,
            grant_id: Some("g".into()),
            expires_at: Some(NOW + 600),
            ..endpoint("w", "a1")
        };
        add(&store, &listening).await;
        let is_found = async |grant: Option<&str>, now: i64| {
            store.find_listening_webhook("a1", grant, "w", now).await.unwrap().is_some()
        };
        assert!(is_found(Some("g"), NOW).await && is_found(None, NOW + 599).await);
        assert!(!is_found(Some("other"), NOW).await && !is_found(None, NOW + 600).await);
        assert!(store.find_listening_webhook("a2", None, "w", NOW).await.unwrap().is_none());
        run(&store, "UPDATE accounts SET suspended_at = 9 WHERE id = 'a1'").await;
        assert!(!is_found(Some("g"), NOW).await);
        run(&store, "UPDATE accounts SET suspended_at = NULL WHERE id = 'a1'").await;
        run(&store, "UPDATE oauth_grants SET revoked_at = 9 WHERE id = 'g'").await;
        assert!(!is_found(Some("g"), NOW).await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_account_has_its_share_of_what_is_read() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        store.commit(vec![account("a1"), account("a2")]).await.unwrap();
        add(&store, &endpoint("w1", "a1")).await;
        add(&store, &endpoint("w2", "a2")).await;
        for n in 0..8 {
            write(&store, "a1", &format!("e{n}"), NOW + n).await;
        }
        write(&store, "a2", "late", NOW + 9).await;
        let read = async |per_account: i64, limit: i64| {
            let found = store.list_due_deliveries(NOW + 10, per_account, limit).await.unwrap();
            found.into_iter().map(|it| it.id).collect::<Vec<_>>()
        };
        assert_eq!(read(3, 99).await, ["e0", "late", "e1", "e2"]);
        assert_eq!(read(3, 2).await, ["e0", "late"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn change_of_one_field_leaves_the_others_as_they_are_now() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        store.commit(vec![account("a1")]).await.unwrap();
        let failing = Endpoint { state: EndpointState::Failed, ..endpoint("w", "a1") };
        add(&store, &failing).await;
        run(&store, "UPDATE webhook_endpoints SET failing_since = 5").await;
        let change = async |change: EndpointChange| {
            store.commit(vec![endpoints::update("a1", "w", &change)]).await.unwrap();
            store.find_webhook("a1", None, "w").await.unwrap().unwrap()
        };
        let none = EndpointChange::default;
        let burnt = EventFilter::from_names(&["site.burnt".into()]).unwrap();
        let url = WebhookUrl::parse_stored("https://hooks.example.com/new".into());
        change(EndpointChange { events: Some(burnt.clone()), ..none() }).await;
        change(EndpointChange { site_id: Field::Value("s1".into()), ..none() }).await;
        change(EndpointChange { description: Some("bot".into()), ..none() }).await;
        let now = change(EndpointChange { url: Some(url.clone()), enabled: Some(false), ..none() }).await;
        assert_eq!((now.events.clone(), now.site_id.as_deref()), (burnt, Some("s1")));
        assert_eq!((now.description.as_str(), now.url), ("bot", Some(url)));
        assert_eq!(
            (now.state, now.failing_since),
            (EndpointState::Failed, Some(5)),
            "it is not merely paused"
        );
        let now = change(EndpointChange { site_id: Field::Null, enabled: Some(true), ..none() }).await;
        assert_eq!((now.site_id, now.state, now.failing_since), (None, EndpointState::Enabled, None));
        run(&store, "UPDATE webhook_endpoints SET failing_since = 6").await;
        // The server disables it between the read and the write of a change of something else.
        run(&store, "UPDATE webhook_endpoints SET state = 'failed'").await;
        let now = change(EndpointChange { description: Some(String::new()), ..none() }).await;
        assert_eq!((now.state, now.failing_since), (EndpointState::Failed, Some(6)));
        change(EndpointChange { enabled: Some(true), ..none() }).await;
        let now = change(EndpointChange { enabled: Some(false), ..none() }).await;
        assert_eq!((now.state, now.description.as_str()), (EndpointState::Disabled, ""));
        let other = endpoints::update("a2", "w", &none());
        assert!(matches!(store.commit(vec![other]).await, Err(DbError::Guard(endpoints::UNKNOWN))));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn restored_copy_sends_nothing_until_its_owner_enables_it() {
    for_each_database(async |database| {
        let (db, blobs) = (database.open().await, database.blobs());
        let store = Store::new(db.clone(), database.blobs());
        store.commit(vec![account("a1")]).await.unwrap();
        grant(&store).await;
        add(&store, &endpoint("w_own", "a1")).await;
        add(&store, &Endpoint { grant_id: Some("g".into()), ..endpoint("w_app", "a1") }).await;
        let listening = Endpoint {
            kind: EndpointKind::Listen,
            url: None,
            expires_at: Some(NOW + 600),
            ..endpoint("w_l", "a1")
        };
        add(&store, &listening).await;
        write(&store, "a1", "e1", NOW).await;
        for (id, state) in [("w_off", EndpointState::Disabled), ("w_failed", EndpointState::Failed)] {
            add(&store, &Endpoint { state, ..endpoint(id, "a1") }).await;
        }
        let dir = database.dir.path().join("copy");
        backup(&db, &blobs, &dir, NOW, &|_| {}).await.unwrap();
        restore(&db, &blobs, &dir, true, NOW, &|_| {}).await.unwrap();
        assert!(due(&store).await.is_empty());
        let states = "SELECT id || ' ' || state || ' ' || waiting FROM webhook_endpoints ORDER BY id";
        let states = db.list(states, vec![], text).await.unwrap();
        assert_eq!(states, ["w_failed failed 0", "w_off disabled 0", "w_own restored 0"]);
        let all = db.list("SELECT endpoint_id FROM webhook_deliveries", vec![], text).await.unwrap();
        assert_eq!(all, ["w_own"]);
        let dead = store.find_delivery("w_own", "e1").await.unwrap().unwrap();
        assert_eq!((dead.state, dead.next_attempt_at), (DeliveryState::Dead, NEVER));
        assert_eq!(dead.error.as_deref(), Some("restored from a backup"));
        let found = store.find_webhook("a1", None, "w_own").await.unwrap().unwrap();
        assert_eq!(found.state, EndpointState::Restored);
        // New events are not written for it either, until it is enabled. Then the dead one can be sent again.
        write(&store, "a1", "e2", NOW).await;
        let enable = EndpointChange { enabled: Some(true), ..EndpointChange::default() };
        store.commit(vec![endpoints::update("a1", "w_own", &enable)]).await.unwrap();
        write(&store, "a1", "e3", NOW).await;
        store.commit(deliveries::requeue("w_own", "e1", 9, NOW).into()).await.unwrap();
        assert_eq!(due(&store).await, ["w_own e1", "w_own e3"]);
    })
    .await;
}
