//! Threads beside an older program: its statements know neither replies nor reopening, and go on working.

use crate::harness::for_each_database;
use dropleaf_core::feedback_thread::{Author, MOST_REPLIES, Reply, ThreadState};
use dropleaf_store::{DbError, Stmt, Store, feedback_replies, feedback_states};

const SITE: &str = "site_1";

fn comment(number: usize) -> String {
    format!("fb_{number:020}")
}

/// What the program of schema 9 writes.
fn older_insert(id: &str) -> Stmt {
    Stmt::new(
        "INSERT INTO feedback (id, site_id, comment, element, element_path, selected_text, page_url, intent, severity, \
         created_at, resolved_at, resolved_note) VALUES ($1, $2, 'x', NULL, NULL, NULL, NULL, NULL, NULL, 5, NULL, NULL)",
        vec![id.into(), SITE.into()],
    )
}

fn older(sql: &'static str) -> Stmt {
    Stmt::new(sql, [SITE.into()])
}

fn reply(number: usize, to: &str) -> Reply {
    Reply {
        id: format!("fr_{number:020}"),
        feedback_id: to.to_owned(),
        site_id: SITE.to_owned(),
        author: Author::Viewer,
        name: None,
        text: format!("Reply {number}"),
        reopens: false,
        created_at: 10 + i64::try_from(number).unwrap(),
    }
}

async fn filled(store: &Store) {
    let site = "INSERT INTO sites (id, token, host_label, visibility, state, title, version, byte_size, created_at, \
                updated_at, agentation, csp_strict, e2e, gate_version, counted, view_count) \
                VALUES ($1, 't', '', 'unlisted', 'live', '', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)";
    let mut stmts = vec![older(site), older_insert(&comment(1)), older_insert(&comment(2))];
    stmts.extend((0..3).map(|number| feedback_replies::insert(&reply(number, &comment(1)))));
    store.commit(stmts).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn older_program_resolves_and_deletes_comments_with_replies() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        filled(&store).await;
        let (one, two) = (comment(1), comment(2));
        let ids = [one.as_str(), two.as_str()];
        let resolve = "UPDATE feedback SET resolved_at = COALESCE(resolved_at, 7), \
                       resolved_note = COALESCE('old', resolved_note) WHERE site_id = $1";
        store.commit(vec![older(resolve)]).await.unwrap();
        let found = store.find_feedback(SITE, &one).await.unwrap().unwrap();
        assert_eq!((found.state(), found.resolved_by), (ThreadState::Resolved, None));
        store.commit(vec![feedback_states::reopen(SITE, &one, Author::Viewer, 8)]).await.unwrap();
        let found = store.find_feedback(SITE, &one).await.unwrap().unwrap();
        assert_eq!((found.state(), found.reopened_by), (ThreadState::Reopened, Some(Author::Viewer)));
        let again = store.commit(vec![feedback_states::reopen(SITE, &one, Author::Viewer, 9)]).await;
        assert!(matches!(again, Err(DbError::Guard(feedback_states::NOT_REOPENED))));
        store.commit(vec![feedback_states::resolve_all(SITE, &ids, None, Author::Owner, 20)]).await.unwrap();
        let undone = store.commit(vec![feedback_states::undo_resolve(SITE, &ids, 20)]).await.unwrap();
        assert_eq!(undone[0].affected, 1, "the other one was resolved before");
        assert_eq!(store.list_replies(SITE, &ids, 50).await.unwrap().len(), 3);
        store.commit(vec![older("DELETE FROM feedback WHERE site_id = $1")]).await.unwrap();
        assert!(store.list_replies(SITE, &ids, 50).await.unwrap().is_empty());
        assert!(store.count_replies(SITE).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn newest_replies_of_each_thread_are_listed_and_a_thread_is_bounded() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        filled(&store).await;
        let (one, two) = (comment(1), comment(2));
        store.commit(vec![feedback_replies::insert(&reply(3, &two))]).await.unwrap();
        let listed = store.list_replies(SITE, &[&one, &two], 2).await.unwrap();
        let texts: Vec<_> = listed.iter().map(|reply| reply.text.as_str()).collect();
        assert_eq!(texts, ["Reply 1", "Reply 2", "Reply 3"]);
        let most = usize::try_from(MOST_REPLIES).unwrap();
        let rest = (4..=most).map(|number| feedback_replies::insert(&reply(number, &one)));
        store.commit(rest.collect()).await.unwrap();
        let full = store.commit(vec![feedback_replies::insert(&reply(99, &one))]).await;
        assert!(matches!(full, Err(DbError::Guard(feedback_replies::FULL))));
        let unknown = store.commit(vec![feedback_replies::touch(&reply(100, &comment(3)))]).await;
        assert!(matches!(unknown, Err(DbError::Guard(dropleaf_store::feedback::UNKNOWN))));
    })
    .await;
}
