//! Scheduled backups: due, verified, old ones deleted, one node at a time, and operators are told when they fail.

use crate::access::email_gate::with_mail;
use crate::harness::{
    DAY, Database, HOUR, MailServer, Mood, NOW, Node, Seen, Setup, on_each_database, s3_url,
};
use dropleaf_app::BackupOutcome;
use std::future::pending;
use tempfile::TempDir;

async fn run(node: &Node) -> BackupOutcome {
    node.app().run_due_backup(pending()).await.unwrap()
}

#[track_caller]
fn assert_done(outcome: &BackupOutcome) -> (u64, u64) {
    let BackupOutcome::Done { pruned: Some(pruned), info } = outcome else { panic!("{outcome:?}") };
    assert_eq!(info.service.split(':').next(), Some("http"));
    (pruned.backups, info.new_objects)
}

#[tokio::test]
async fn backups_are_taken_when_due_and_old_ones_are_deleted() {
    for database in [Database::Sqlite, Database::postgres().await] {
        let setup = Setup::new().set("backup.to", s3_url()).set("backup.every", "6h").set("backup.keep", "2");
        let node = setup.set("storage.inline_bytes", "0").database(database.clone()).start().await;
        node.publish_page("Kept").await;
        assert_eq!(node.app().backup_status().await.unwrap().unwrap().last, None);
        // Of two nodes at the same time, one takes it.
        let (one, two) = tokio::join!(run(&node), run(&node));
        let done = [&one, &two].iter().filter(|it| matches!(it, BackupOutcome::Done { .. })).count();
        let not_due = [&one, &two].iter().filter(|it| matches!(it, BackupOutcome::NotDue)).count();
        assert_eq!((done, not_due), (1, 1), "{one:?} {two:?}");
        let status = node.app().backup_status().await.unwrap().unwrap();
        assert_eq!((status.last, status.next, status.failures), (Some(NOW), NOW + 6 * HOUR, 0));
        assert!(status.stored_bytes > 0 && !status.is_late);
        node.clock.advance(6 * HOUR - 1);
        assert!(matches!(run(&node).await, BackupOutcome::NotDue));
        node.clock.advance(1);
        assert_eq!(assert_done(&run(&node).await), (0, 0), "nothing new, nothing to delete");
        node.clock.advance(6 * HOUR);
        assert_eq!(assert_done(&run(&node).await).0, 1, "two are kept");
        let operator = node.operator().await;
        let html = operator.get("/operator").await.expect(200).text();
        assert!(html.contains("Last backup: ") && html.contains("· next: "), "{html}");
        assert!(node.app().service_stats().await.unwrap().is_some_and(|stats| stats.live_pages == 1));
        drop(operator);
        node.stop().await;
        database.remove().await;
    }
}

#[tokio::test]
async fn operators_are_told_when_backups_fail_for_twice_the_interval() {
    let mut mail = MailServer::start(Mood::Takes).await;
    let folder = TempDir::new().unwrap();
    // A file where the folder should be.
    let place = folder.path().join("copies");
    on_each_database(
        || with_mail(&mail).set("backup.to", format!("file:{}", place.display())).set("backup.every", "24h"),
        async |node| {
            std::fs::write(&place, "in the way").unwrap();
            let BackupOutcome::Failed(error) = run(node).await else { panic!("it fails") };
            assert!(error.to_string().contains("copies"), "{error}");
            assert!(matches!(run(node).await, BackupOutcome::NotDue), "not again at once");
            node.clock.advance(HOUR);
            assert!(matches!(run(node).await, BackupOutcome::Failed(_)));
            node.clock.advance(2 * DAY);
            assert!(matches!(run(node).await, BackupOutcome::Failed(_)));
            let Seen::Letter { to, text } = mail.next().await else { panic!("an email") };
            assert_eq!(to, "operator@localhost");
            assert!(text.contains("Subject: Backups of localhost fail"), "{text}");
            assert!(text.contains("There is no backup yet") && text.contains("/operator"), "{text}");
            let status = node.app().backup_status().await.unwrap().unwrap();
            assert!(status.is_late && status.failures == 3, "{status:?}");
            node.clock.advance(DAY);
            assert!(matches!(run(node).await, BackupOutcome::Failed(_)));
            std::fs::remove_file(&place).unwrap();
            node.clock.advance(HOUR);
            assert_done(&run(node).await);
            let status = node.app().backup_status().await.unwrap().unwrap();
            assert!(!status.is_late && status.failures == 0, "{status:?}");
            std::fs::remove_dir_all(&place).unwrap();
        },
    )
    .await;
    while let Some(seen) = mail.unread() {
        assert!(!matches!(seen, Seen::Letter { .. }), "one email for one outage: {seen:?}");
    }
}

#[tokio::test]
async fn backup_stops_with_the_server_and_counts_as_no_failure() {
    let node = Setup::new().set("backup.to", s3_url()).start().await;
    node.publish_page("One").await;
    let outcome = node.app().run_due_backup(std::future::ready(())).await.unwrap();
    assert!(matches!(outcome, BackupOutcome::Stopped), "{outcome:?}");
    assert_eq!(node.app().backup_status().await.unwrap().unwrap().failures, 0);
    assert_done(&run(&node).await);
    node.stop().await;
}
