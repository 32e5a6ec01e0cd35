//! The audit log cannot be changed or deleted from.

use dropleaf_core::audit::{AuditAction, AuditEntry};
use dropleaf_store::backup::{backup, restore};
use dropleaf_store::{Stmt, Store, audit};

use crate::harness::{NOW, for_each_database};

fn line(id: &str) -> AuditEntry {
    AuditEntry {
        id: id.to_owned(),
        at: NOW,
        actor: "ada".to_owned(),
        action: AuditAction::SuspendAccount,
        subject: "acct_1".to_owned(),
        reason: Some("spam".to_owned()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_are_added_and_never_changed_or_removed() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        store.commit(vec![audit::insert(&line("aud_1")), audit::insert(&line("aud_2"))]).await.unwrap();
        for sql in [
            "UPDATE audit SET reason = 'nothing'",
            "UPDATE audit SET actor = 'eve' WHERE id = 'aud_1'",
            "DELETE FROM audit",
            "DELETE FROM audit WHERE id = 'aud_2'",
            "INSERT INTO audit (id, at, actor, act, subject) VALUES ('aud_1', 1, 'eve', 'set_plan', 'x')",
            "INSERT INTO audit (id, at, actor, act, subject) VALUES ('aud_1', 1, 'eve', 'set_plan', 'x') \
             ON CONFLICT (id) DO UPDATE SET actor = 'eve'",
        ] {
            let outcome = store.commit(vec![Stmt::new(sql, [])]).await;
            assert!(outcome.is_err(), "{sql}");
        }
        for sql in ["INSERT OR REPLACE INTO audit (id, at, actor, act, subject) VALUES ('aud_1', 1, 'eve', 'set_plan', 'x')", "TRUNCATE audit"] {
            // Each database rejects one of them as a syntax error.
            assert!(store.commit(vec![Stmt::new(sql, [])]).await.is_err(), "{sql}");
        }
        assert_eq!(store.list_audit(10).await.unwrap(), [line("aud_2"), line("aud_1")]);
        assert_eq!(store.list_audit_of("acct_1", 1).await.unwrap().len(), 1);
        assert_eq!(store.list_audit_of("acct_2", 10).await.unwrap(), []);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_of_one_second_stand_in_the_order_in_which_they_were_written() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        let ids = ["aud_5", "aud_1", "aud_4", "aud_2", "aud_3"];
        for pair in ids.chunks(2) {
            store.commit(pair.iter().map(|id| audit::insert(&line(id))).collect()).await.unwrap();
        }
        // The order does not depend on the clock.
        let last = AuditEntry { at: NOW - 60, subject: "site_1".to_owned(), ..line("aud_0") };
        store.commit(vec![audit::insert(&last)]).await.unwrap();
        let newest_first = ["aud_0", "aud_3", "aud_2", "aud_4", "aud_1", "aud_5"];
        let names = |lines: Vec<AuditEntry>| lines.into_iter().map(|line| line.id).collect::<Vec<_>>();
        assert_eq!(names(store.list_audit(10).await.unwrap()), newest_first);
        assert_eq!(names(store.list_audit_of("acct_1", 10).await.unwrap()), newest_first[1..]);
        assert_eq!(
            names(store.list_audit_of_either("acct_1", "site_1", 3).await.unwrap()),
            newest_first[..3]
        );
        assert_eq!(names(store.list_audit_before("aud_2", 2).await.unwrap()), newest_first[3..5]);
        assert_eq!(names(store.list_audit_before("aud_9", 2).await.unwrap()), [""; 0]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_come_back_with_a_backup_and_stay_there() {
    for_each_database(async |from| {
        let store = Store::new(from.open().await, from.blobs());
        store.commit(vec![audit::insert(&line("aud_1"))]).await.unwrap();
        let dir = from.dir.path().join("copy");
        backup(&store.db, &store.blobs, &dir, NOW, &|_| {}).await.unwrap();
        for_each_database(async |to| {
            let target = Store::new(to.open().await, to.blobs());
            target.commit(vec![audit::insert(&line("aud_old"))]).await.unwrap();
            restore(&target.db, &target.blobs, &dir, true, NOW, &|_| {}).await.unwrap();
            assert_eq!(target.list_audit(10).await.unwrap(), [line("aud_1")]);
            assert!(target.commit(vec![Stmt::new("DELETE FROM audit", [])]).await.is_err());
        })
        .await;
    })
    .await;
}
