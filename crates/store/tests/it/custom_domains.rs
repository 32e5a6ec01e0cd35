//! Custom domains: one verified owner for each name, the copy of the primary one, cleanup, and backups.

use crate::harness::{NOW, account, for_each_database};
use dropleaf_core::custom_domain::{CheckResult, CustomDomain, DomainNotice};
use dropleaf_core::hostname::Hostname;
use dropleaf_store::custom_domains::{self as rows, CHANGED, EXISTS, FULL, TAKEN};
use dropleaf_store::{DbError, Stmt, Store, revisions};

const NAME: &str = "reports.customer.example";

fn site(id: &str, account_id: &str) -> Stmt {
    Stmt::new(
        "INSERT INTO sites (id, token, host_label, account_id, visibility, state, title, version, byte_size, created_at, \
         updated_at, agentation, csp_strict, e2e, gate_version, counted, view_count) \
         VALUES ($1, $2, '', $3, 'unlisted', 'live', '', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
        vec![id.into(), id.into(), account_id.into()],
    )
}

fn domain(name: &str, account_id: &str, site_id: &str) -> CustomDomain {
    CustomDomain::new(Hostname::parse_stored(name.into()), account_id, site_id, true, NOW)
}

fn guard(outcome: Result<Vec<dropleaf_store::Outcome>, DbError>) -> &'static str {
    match outcome {
        Err(DbError::Guard(label)) => label,
        other => panic!("{other:?}"),
    }
}

/// Marks a name as proven, as the operations do.
fn prove(before: &CustomDomain) -> (CustomDomain, Vec<Stmt>) {
    let after = before.after_check(&CheckResult::Proven, NOW);
    let stmts = vec![
        revisions::advance(revisions::DOMAINS),
        rows::require_unverified(&after.account_id, after.hostname.as_str()),
        rows::update(before, &after),
        rows::refresh_primary(&after.site_id),
    ];
    (after, stmts)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_has_one_verified_owner_and_its_site_a_copy_of_it() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        store.commit(vec![account("a1"), account("a2"), site("s1", "a1"), site("s2", "a2")]).await.unwrap();
        let (one, two) = (domain(NAME, "a1", "s1"), domain(NAME, "a2", "s2"));
        for new in [&one, &two] {
            store.commit(rows::insert(new, 1).into()).await.unwrap();
        }
        assert_eq!(guard(store.commit(rows::insert(&one, 9).into()).await), EXISTS);
        assert_eq!(guard(store.commit(rows::insert(&domain("b.example", "a1", "s1"), 1).into()).await), FULL);
        assert_eq!(store.find_domain("a1", NAME).await.unwrap().as_ref(), Some(&one));
        let (verified, stmts) = prove(&one);
        store.commit(stmts).await.unwrap();
        assert_eq!(guard(store.commit(prove(&two).1).await), TAKEN);
        assert_eq!(guard(store.commit(vec![rows::update(&one, &verified)]).await), CHANGED);
        assert_eq!(store.find_verified_domain(NAME).await.unwrap().as_ref(), Some(&verified));
        let served = store.list_served_domains().await.unwrap();
        assert_eq!((served.len(), served[0].site_token.as_str()), (1, "s1"));
        let primary = async |id: &str| store.find_site(id).await.unwrap().unwrap().primary_domain;
        assert_eq!((primary("s1").await.as_deref(), primary("s2").await), (Some(NAME), None));
        // It changes hands in one batch.
        let lost = verified.clone().lapsed("gone", NOW);
        let mut stmts = vec![rows::update(&verified, &lost)];
        let (won, more) = prove(&two);
        stmts.extend(more);
        stmts.push(rows::refresh_primary("s1"));
        store.commit(stmts).await.unwrap();
        assert_eq!(store.find_verified_domain(NAME).await.unwrap(), Some(won));
        assert_eq!((primary("s1").await, primary("s2").await.as_deref()), (None, Some(NAME)));
        assert_eq!(store.find_revision(revisions::DOMAINS).await.unwrap(), 2);
        // Its email is taken once, and can be returned.
        let waiting = store.list_domain_notices(9).await.unwrap();
        assert_eq!(waiting, [lost]);
        assert_eq!(waiting[0].notice, Some(DomainNotice::Lapsed));
        store.commit(vec![rows::take_notice(&waiting[0])]).await.unwrap();
        assert_eq!(guard(store.commit(vec![rows::take_notice(&waiting[0])]).await), CHANGED);
        store.commit(vec![rows::return_notice(&waiting[0])]).await.unwrap();
        assert_eq!(store.list_domain_notices(9).await.unwrap(), waiting);
        // A change that was prepared before the email was taken would restore it.
        store.commit(vec![rows::take_notice(&waiting[0])]).await.unwrap();
        assert_eq!(guard(store.commit(vec![rows::update(&waiting[0], &waiting[0])]).await), CHANGED);
        store.commit(vec![rows::delete(&waiting[0])]).await.unwrap();
        assert_eq!(guard(store.commit(vec![rows::delete(&waiting[0])]).await), CHANGED);
        store.db.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_accounts_that_prove_a_name_at_once_one_gets_it() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        let mut batches = Vec::new();
        for number in 0..8 {
            let (owner, id) = (format!("a{number}"), format!("s{number}"));
            let new = domain(NAME, &owner, &id);
            let mut stmts = vec![account(&owner), site(&id, &owner)];
            stmts.extend(rows::insert(&new, 9));
            store.commit(stmts).await.unwrap();
            batches.push(prove(&new).1);
        }
        let outcomes = futures_util::future::join_all(batches.into_iter().map(|it| store.commit(it))).await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        for outcome in outcomes.into_iter().filter(Result::is_err) {
            assert_eq!(guard(outcome), TAKEN);
        }
        store.db.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn due_names_are_listed_in_order_and_those_of_a_site_are_deleted_with_it() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        store.commit(vec![account("a1"), site("s1", "a1"), site("s2", "a1")]).await.unwrap();
        for (name, id, at) in [("c.example", "s1", 5), ("b.example", "s2", 3), ("a.example", "s1", i64::MAX)]
        {
            let new = CustomDomain { next_check_at: at, ..domain(name, "a1", id) };
            store.commit(rows::insert(&new, 9).into()).await.unwrap();
        }
        let names = |found: Vec<CustomDomain>| {
            found.into_iter().map(|domain| domain.hostname.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(store.list_due_domains(4, 9).await.unwrap()), ["b.example"]);
        assert_eq!(names(store.list_due_domains(NOW, 9).await.unwrap()), ["b.example", "c.example"]);
        assert_eq!(names(store.list_due_domains(NOW, 1).await.unwrap()), ["b.example"]);
        // Planned while the clock was wrong.
        let early = names(store.list_due_domains(-86_400, 9).await.unwrap());
        assert_eq!(early, ["b.example", "c.example"]);
        assert!(store.list_due_domains(-86_000, 9).await.unwrap().is_empty());
        let revision = async || store.find_revision(revisions::DOMAINS).await.unwrap();
        let delete = async |id: &'static str| {
            store.db.exec(Stmt::new("DELETE FROM sites WHERE id = $1", vec![id.into()])).await.unwrap();
            store.commit(rows::delete_orphans().into()).await.unwrap();
        };
        // Viewers of an erased site are told that it is gone.
        store.db.exec(Stmt::new("UPDATE sites SET purged_at = 1", vec![])).await.unwrap();
        store.commit(rows::delete_orphans().into()).await.unwrap();
        assert_eq!((revision().await, store.list_domains("a1").await.unwrap().len()), (0, 3));
        // No viewer notices that a pending name is gone.
        delete("s2").await;
        assert_eq!((revision().await, store.list_domains("a1").await.unwrap().len()), (0, 2));
        let pending = store.find_domain("a1", "c.example").await.unwrap().unwrap();
        store.commit(prove(&pending).1).await.unwrap();
        delete("s1").await;
        assert_eq!((revision().await, store.list_domains("a1").await.unwrap().len()), (2, 0));
        store.db.close().await;
    })
    .await;
}
