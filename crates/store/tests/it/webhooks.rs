//! Webhooks: which endpoints get an event, positions and lanes, leases of several nodes, and what is deleted.

use crate::harness::{NOW, account, for_each_database};
use bytes::Bytes;
use dropleaf_core::webhook::{
    Delivery, DeliveryState, Endpoint, EndpointKind, EndpointState, EventFilter, EventType, NEVER, WebhookUrl,
};
use dropleaf_store::account_erasure::{self, Tombstones};
use dropleaf_store::webhook_deliveries::{self as deliveries, Attempt, MOVED, NOT_RETRIABLE};
use dropleaf_store::webhook_endpoints::{self as endpoints, FULL, UNKNOWN};
use dropleaf_store::webhook_outbox::{self as outbox, OutboxCondition, OutboxEvent};
use dropleaf_store::{DbError, Outcome, Stmt, Store};

fn endpoint(id: &str, site_id: Option<&str>, events: EventFilter) -> Endpoint {
    Endpoint {
        id: id.into(),
        account_id: "a1".into(),
        grant_id: None,
        site_id: site_id.map(str::to_owned),
        kind: EndpointKind::Url,
        url: Some(WebhookUrl::parse_stored("https://hooks.example.com/".into())),
        description: String::new(),
        events,
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

fn event<'a>(id: &'a str, event_type: EventType, site_id: Option<&'a str>) -> OutboxEvent<'a> {
    OutboxEvent { id, event_type, account_id: "a1", site_id, body: "{}", now: NOW }
}

async fn write(store: &Store, id: &str, event_type: EventType, site_id: Option<&str>) {
    let stmts = outbox::enqueue(&event(id, event_type, site_id), OutboxCondition::Always, 3);
    store.commit(stmts.into()).await.unwrap();
}

fn attempt(delivery: &Delivery) -> Attempt<'_> {
    Attempt {
        endpoint_id: &delivery.endpoint_id,
        id: &delivery.id,
        number: delivery.attempts + 1,
        status: Some(200),
        error: None,
    }
}

fn guard(outcome: Result<Vec<Outcome>, DbError>) -> &'static str {
    match outcome {
        Err(DbError::Guard(label)) => label,
        other => panic!("{other:?}"),
    }
}

fn ids(found: &[Delivery]) -> Vec<(&str, &str)> {
    found.iter().map(|it| (it.endpoint_id.as_str(), it.id.as_str())).collect()
}

async fn due(store: &Store, now: i64) -> Vec<Delivery> {
    store.list_due_deliveries(now, 9, 99).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_goes_to_the_endpoints_that_want_it_and_fit_it() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        store.commit(vec![account("a1"), account("a2")]).await.unwrap();
        let burnt = EventFilter::from_names(&["site.burnt".into()]).unwrap();
        add(&store, &endpoint("w_all", None, EventFilter::All)).await;
        add(&store, &endpoint("w_site", Some("s1"), EventFilter::All)).await;
        add(&store, &endpoint("w_burnt", None, burnt)).await;
        add(
            &store,
            &Endpoint { state: EndpointState::Disabled, ..endpoint("w_off", None, EventFilter::All) },
        )
        .await;
        add(&store, &Endpoint { expires_at: Some(NOW), ..endpoint("w_over", None, EventFilter::All) }).await;
        add(&store, &Endpoint { grant_id: Some("g".into()), ..endpoint("w_app", None, EventFilter::All) })
            .await;
        add(&store, &Endpoint { account_id: "a2".into(), ..endpoint("w_other", None, EventFilter::All) })
            .await;
        assert_eq!(
            guard(
                store
                    .commit(vec![endpoints::insert(
                        &endpoint("w_9", None, EventFilter::All),
                        &Bytes::new(),
                        5
                    )])
                    .await
            ),
            FULL
        );
        write(&store, "e1", EventType::SiteBurnt, Some("s1")).await;
        write(&store, "e2", EventType::FeedbackCreated, Some("s2")).await;
        write(&store, "e3", EventType::PaymentReceived, None).await;
        let mut found = due(&store, NOW).await;
        found.sort_by(|one, other| (&one.endpoint_id, one.seq).cmp(&(&other.endpoint_id, other.seq)));
        assert_eq!(
            ids(&found),
            [("w_all", "e1"), ("w_all", "e2"), ("w_all", "e3"), ("w_burnt", "e1"), ("w_site", "e1")]
        );
        // The fourth does not fit.
        write(&store, "e4", EventType::SiteExpired, Some("s3")).await;
        let all = store.find_webhook("a1", None, "w_all").await.unwrap().unwrap();
        assert_eq!((all.waiting, all.missed), (3, 1));
        assert_eq!(store.count_waiting_deliveries().await.unwrap(), 5);
        assert_eq!(store.find_webhook("a2", None, "w_all").await.unwrap(), None);
        assert_eq!(store.find_webhook("a1", Some("g"), "w_all").await.unwrap(), None);
        assert_eq!(store.list_webhooks("a1", Some("g")).await.unwrap().len(), 1);
        // Nothing of an account is left.
        store.commit(account_erasure::erase("a1", None, Tombstones::Deleted, NOW)).await.unwrap();
        assert_eq!(
            (due(&store, NEVER).await.len(), store.list_webhooks("a1", None).await.unwrap().len()),
            (0, 0)
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_has_one_delivery_at_a_time_and_a_lease_ends() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        store.commit(vec![account("a1")]).await.unwrap();
        add(&store, &endpoint("w", None, EventFilter::All)).await;
        for (id, site) in [("e1", "s1"), ("e2", "s1"), ("e3", "s2")] {
            write(&store, id, EventType::FeedbackCreated, Some(site)).await;
        }
        let found = due(&store, NOW).await;
        assert_eq!(ids(&found), [("w", "e1"), ("w", "e3")]);
        let first = &found[0];
        // Two nodes try to take it.
        store.commit(vec![deliveries::claim(first, NOW + 60, NOW)]).await.unwrap();
        assert_eq!(guard(store.commit(vec![deliveries::claim(first, NOW + 60, NOW)]).await), MOVED);
        assert_eq!(guard(store.commit(vec![deliveries::hurry("w", "e1", NOW)]).await), NOT_RETRIABLE);
        assert_eq!(guard(store.commit(vec![deliveries::hurry("w", "e2", NOW)]).await), NOT_RETRIABLE);
        assert_eq!(ids(&due(&store, NOW + 59).await), [("w", "e3")]);
        // The node died: another one takes it, and the first can no longer record anything.
        let again = store.find_delivery("w", "e1").await.unwrap().unwrap();
        store.commit(vec![deliveries::claim(&again, NOW + 120, NOW + 60)]).await.unwrap();
        assert_eq!(guard(store.commit(deliveries::record_delivered(&attempt(first), NOW + 61)).await), MOVED);
        let waiting = async || store.find_webhook("a1", None, "w").await.unwrap().unwrap().waiting;
        assert_eq!(waiting().await, 3, "the whole batch was undone");
        store.commit(deliveries::record_failed(&attempt(&again), NOW + 500, NOW + 61)).await.unwrap();
        assert_eq!(ids(&due(&store, NOW + 499).await), [("w", "e3")]);
        store.commit(vec![deliveries::hurry("w", "e1", NOW + 70)]).await.unwrap();
        let third = store.find_delivery("w", "e1").await.unwrap().unwrap();
        store.commit(vec![deliveries::claim(&third, NOW + 160, NOW + 70)]).await.unwrap();
        store.commit(deliveries::record_delivered(&attempt(&third), NOW + 71)).await.unwrap();
        assert_eq!(waiting().await, 2);
        let mut next = due(&store, NOW + 71).await;
        next.sort_by_key(|it| it.seq);
        assert_eq!(ids(&next), [("w", "e2"), ("w", "e3")]);
        // It is given up and sent again at the end of the line.
        store.commit(vec![deliveries::claim(&next[0], NOW + 160, NOW + 71)]).await.unwrap();
        store.commit(deliveries::record_dead(&attempt(&next[0]), NOW + 72)).await.unwrap();
        write(&store, "e4", EventType::FeedbackCreated, Some("s1")).await;
        store.commit(deliveries::requeue("w", "e2", 3, NOW + 73).into()).await.unwrap();
        assert_eq!(
            guard(store.commit(deliveries::requeue("w", "e2", 9, NOW + 73).into()).await),
            NOT_RETRIABLE
        );
        let listed = store.list_deliveries("w", Some(DeliveryState::Waiting), NEVER, 9).await.unwrap();
        assert_eq!(ids(&listed), [("w", "e2"), ("w", "e4"), ("w", "e3")]);
        assert_eq!(listed[0].next_attempt_at, NEVER);
        store.commit(deliveries::give_up_endpoint("w", "why").into()).await.unwrap();
        assert_eq!(waiting().await, 0);
        assert_eq!(store.list_deliveries("w", Some(DeliveryState::Dead), NEVER, 9).await.unwrap().len(), 3);
        store.commit(endpoints::delete("a1", "w").into()).await.unwrap();
        assert_eq!(guard(store.commit(endpoints::delete("a1", "w").into()).await), UNKNOWN);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_written_at_once_have_different_positions() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        store.commit(vec![account("a1")]).await.unwrap();
        add(&store, &endpoint("w", None, EventFilter::All)).await;
        let write = |n: usize| {
            let store = &store;
            async move {
                let id = format!("e{n}");
                let event = event(&id, EventType::FeedbackCreated, Some("s1"));
                store.commit(outbox::enqueue(&event, OutboxCondition::Always, 100).into()).await.unwrap();
            }
        };
        futures_util::future::join_all((0..20).map(write)).await;
        let all = store.list_deliveries("w", None, NEVER, 99).await.unwrap();
        let positions: Vec<i64> = all.iter().rev().map(|it| it.seq).collect();
        assert_eq!(positions, (1..=20).collect::<Vec<_>>());
        assert_eq!(due(&store, NOW).await.len(), 1, "one of the page");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listening_program_gets_everything_until_it_acknowledges() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        store.commit(vec![account("a1")]).await.unwrap();
        let listening = Endpoint {
            kind: EndpointKind::Listen,
            url: None,
            expires_at: Some(NOW + 600),
            ..endpoint("w", None, EventFilter::All)
        };
        add(&store, &listening).await;
        for id in ["e1", "e2", "e3"] {
            write(&store, id, EventType::FeedbackCreated, Some("s1")).await;
        }
        assert!(due(&store, NEVER - 1).await.is_empty(), "nothing is sent");
        let waiting = async || store.list_waiting_deliveries("w", 9).await.unwrap();
        assert_eq!(ids(&waiting().await), [("w", "e1"), ("w", "e2"), ("w", "e3")]);
        store.commit(deliveries::acknowledge("w", 2, NOW).into()).await.unwrap();
        assert_eq!(ids(&waiting().await), [("w", "e3")]);
        assert_eq!(store.find_webhook("a1", None, "w").await.unwrap().unwrap().waiting, 1);
        store.commit(vec![endpoints::extend("w", NOW + 700)]).await.unwrap();
        store.commit(endpoints::delete_ended(NOW + 699).into()).await.unwrap();
        assert_eq!(waiting().await.len(), 1);
        store.commit(endpoints::delete_ended(NOW + 700).into()).await.unwrap();
        assert_eq!((waiting().await.len(), store.list_webhooks("a1", None).await.unwrap().len()), (0, 0));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn finished_deliveries_are_deleted_by_age_and_by_number() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        store.commit(vec![account("a1")]).await.unwrap();
        add(&store, &endpoint("w", None, EventFilter::All)).await;
        for n in 0..6 {
            let id = format!("e{n}");
            let event = OutboxEvent { now: NOW + n, ..event(&id, EventType::WebhookTest, None) };
            store.commit(outbox::enqueue_for("w", &event, 9).into()).await.unwrap();
            let found = store.find_delivery("w", &id).await.unwrap().unwrap();
            if n != 1 {
                store.commit(vec![deliveries::claim(&found, NOW + 99, NOW + n)]).await.unwrap();
                store.commit(deliveries::record_delivered(&attempt(&found), NOW + n)).await.unwrap();
            }
        }
        let left = async |stmts: [Stmt; 2]| {
            store.commit(stmts.into()).await.unwrap();
            let all = store.list_deliveries("w", None, NEVER, 99).await.unwrap();
            all.iter().map(|it| it.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(left(deliveries::delete_old(NOW - 1, 100)).await.len(), 6);
        assert_eq!(left(deliveries::delete_old(NOW + 2, 100)).await, ["e5", "e4", "e3", "e1"]);
        assert_eq!(left(deliveries::delete_old(NOW - 1, 2)).await, ["e5", "e4", "e1"]);
    })
    .await;
}
