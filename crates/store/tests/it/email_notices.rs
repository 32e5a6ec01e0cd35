//! Emails to owners: who gets them, what is due, and which pages are announced, on both databases.

use crate::harness::{NOW, account, for_each_database};
use dropleaf_core::notification::{MOST_WAITING, NotificationKind, NotifyMode};
use dropleaf_store::email_notices::{self as notices, EmailNotice, PAUSED};
use dropleaf_store::{DbError, Stmt, Store, email_settings, expiry_announcements, expiry_emails};

const HOUR: i64 = 3600;
const DAY: i64 = 86_400;

fn notice(id: &str, lane: &str, created_at: i64) -> EmailNotice {
    EmailNotice {
        id: id.into(),
        account_id: "a1".into(),
        site_id: "s1".into(),
        lane: lane.into(),
        kind: NotificationKind::Comment,
        feedback_id: Some("fb_1".into()),
        expires_at: None,
        created_at,
    }
}

async fn store_with_account(db: dropleaf_store::Db, blobs: dropleaf_store::Blobs) -> Store {
    let store = Store::new(db, blobs);
    store.commit(vec![account("a1")]).await.unwrap();
    store
}

async fn choose(store: &Store, mode: NotifyMode) {
    store.commit(email_settings::set_notify_mode("a1", mode)).await.unwrap();
}

async fn due(store: &Store, now: i64, digest_at: i64) -> usize {
    store.list_due_accounts(now, digest_at, 10).await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn only_accounts_that_want_emails_have_something_to_send() {
    for_each_database(async |database| {
        let store = store_with_account(database.open().await, database.blobs()).await;
        let write = async |id: &str| {
            let written = store.commit(vec![notices::enqueue(&notice(id, "s1", NOW))]).await.unwrap();
            written[0].affected
        };
        assert_eq!(store.find_notify_mode("a1").await.unwrap(), Some(NotifyMode::Off));
        assert_eq!(write("n0").await, 0, "the address is not confirmed");
        let confirm = Stmt::new("UPDATE accounts SET email_confirmed_at = 1 WHERE id = $1", ["a1".into()]);
        store.commit(vec![confirm]).await.unwrap();
        assert_eq!(store.find_notify_mode("a1").await.unwrap(), Some(NotifyMode::Instant));
        assert_eq!(store.find_chosen_notify_mode("a1").await.unwrap(), None);
        assert_eq!(write("n1").await, 1);
        assert_eq!(due(&store, NOW, NOW).await, 1);
        choose(&store, NotifyMode::Daily).await;
        assert_eq!((due(&store, NOW, NOW).await, due(&store, NOW, NOW + 1).await), (0, 1));
        let suspend = Stmt::new("UPDATE accounts SET suspended_at = 1 WHERE id = $1", ["a1".into()]);
        store.commit(vec![suspend]).await.unwrap();
        assert_eq!((write("n2").await, due(&store, NOW, NOW + 1).await), (0, 0));
        let lift = Stmt::new("UPDATE accounts SET suspended_at = NULL WHERE id = $1", ["a1".into()]);
        store.commit(vec![lift]).await.unwrap();
        let many = (0..MOST_WAITING).map(|n| notices::enqueue(&notice(&format!("m{n}"), "s1", NOW)));
        store.commit(many.collect()).await.unwrap();
        assert_eq!(write("n3").await, 0, "too much waits");
        choose(&store, NotifyMode::Off).await;
        assert_eq!((write("n4").await, due(&store, NOW, NOW + 1).await), (0, 0));
        choose(&store, NotifyMode::Instant).await;
        assert_eq!(due(&store, NOW, NOW + 1).await, 0, "what waited is gone");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_taken_is_taken_once_and_a_lane_pauses() {
    for_each_database(async |database| {
        let store = store_with_account(database.open().await, database.blobs()).await;
        choose(&store, NotifyMode::Instant).await;
        let all = [notice("n1", "s1", NOW), notice("n2", "s2", NOW), notice("n3", "s1", NOW - 1)];
        store.commit(all.iter().map(notices::enqueue).collect()).await.unwrap();
        assert_eq!(store.list_due_lanes("a1", NOW, 10).await.unwrap(), ["s1", "s2"]);
        let take =
            || store.commit(vec![notices::pause("s1", NOW + 600, NOW), notices::take_lane("a1", "s1")]);
        let (left, right) = tokio::join!(take(), take());
        let (won, lost) = if left.is_ok() { (left, right) } else { (right, left) };
        let taken = notices::taken(&won.unwrap()).unwrap();
        assert_eq!(taken.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["n3", "n1"], "oldest first");
        assert_eq!(taken[1], all[0]);
        assert!(matches!(lost, Err(DbError::Guard(PAUSED))));
        store.commit(vec![notices::enqueue(&notice("n4", "s1", NOW))]).await.unwrap();
        assert_eq!(store.list_due_lanes("a1", NOW + 599, 10).await.unwrap(), ["s2"]);
        assert_eq!(store.list_due_lanes("a1", NOW + 600, 10).await.unwrap(), ["s1", "s2"]);
        store.commit(vec![notices::set_pause("s2", NOW + 9)]).await.unwrap();
        assert_eq!(store.list_due_lanes("a1", NOW + 8, 10).await.unwrap(), Vec::<String>::new());
        let rest = store.commit(vec![notices::take_all("a1")]).await.unwrap();
        assert_eq!(notices::taken(&rest).unwrap().len(), 2);
        store.commit(vec![notices::enqueue(&notice("n5", "s1", NOW))]).await.unwrap();
        store.commit(notices::delete_old(NOW + 3 * DAY).into()).await.unwrap();
        assert_eq!(due(&store, NOW + 3 * DAY, NOW).await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_announced_in_the_last_quarter_of_their_life_and_at_most_three_days_before() {
    for_each_database(async |database| {
        let store = store_with_account(database.open().await, database.blobs()).await;
        for (id, token, life) in [
            ("s1", "t1", DAY - 1),
            ("s2", "t2", DAY),
            ("s3", "t3", 4 * DAY),
            ("s4", "t4", 100 * DAY),
        ] {
            let sql = "INSERT INTO sites (id, account_id, token, host_label, visibility, state, title, version, \
                byte_size, created_at, updated_at, expires_at, agentation, csp_strict, e2e, gate_version, counted, \
                view_count) VALUES ($1, 'a1', $2, '', 'unlisted', 'live', '', 1, 0, $3, $3, $4, 0, 0, 0, 0, 0, 0)";
            let args = vec![id.into(), token.into(), NOW.into(), (NOW + life).into()];
            store.commit(vec![Stmt::new(sql, args)]).await.unwrap();
        }
        let found = async |now: i64| {
            let all = store.list_expiring_to_email(now, 10).await.unwrap();
            all.into_iter().map(|site| site.id).collect::<Vec<_>>()
        };
        assert!(found(NOW + 18 * HOUR).await.is_empty(), "no emails are wanted");
        choose(&store, NotifyMode::Instant).await;
        assert!(found(NOW + 18 * HOUR - 1).await.is_empty());
        assert_eq!(found(NOW + 18 * HOUR).await, ["s2"]);
        assert_eq!(found(NOW + 3 * DAY).await, ["s3"]);
        assert!(found(NOW + 97 * DAY - 1).await.is_empty());
        assert_eq!(found(NOW + 97 * DAY).await, ["s4"]);
        choose(&store, NotifyMode::Daily).await;
        assert_eq!(found(NOW + 60).await, ["s2"], "a digest comes once a day");
        assert_eq!(found(NOW + 3 * DAY).await, ["s3"]);
        let sites = store.list_expiring_to_email(NOW + 60, 10).await.unwrap();
        let mark = || store.commit(vec![expiry_emails::mark_emailed(&sites[0])]);
        assert!(mark().await.is_ok());
        assert!(matches!(mark().await, Err(DbError::Guard(expiry_announcements::CHANGED))));
        assert!(found(NOW + 60).await.is_empty());
        let later = Stmt::new("UPDATE sites SET expires_at = expires_at + 60 WHERE id = $1", ["s2".into()]);
        store.commit(vec![later]).await.unwrap();
        assert_eq!(found(NOW + 18 * HOUR).await, ["s2"], "another expiry");
    })
    .await;
}
