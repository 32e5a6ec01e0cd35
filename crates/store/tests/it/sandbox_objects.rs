//! Objects of the sandbox card processor: each version is written once, ids are hashed, old objects are deleted.

use dropleaf_store::sandbox_objects::{self, CHANGED, SandboxKey};
use dropleaf_store::{DbError, Store};

use crate::harness::{NOW, for_each_database, text};

const SESSION: SandboxKey<'_> = SandboxKey { kind: "checkout_session", id: "cs_1" };
const TOKEN: SandboxKey<'_> = SandboxKey { kind: "granted_token", id: "spt_secret" };

async fn for_each_store(test: impl AsyncFn(&Store)) {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        test(&store).await;
        store.db.close().await;
    })
    .await;
}

/// The versions of the objects that exist, in the order of the keys.
async fn versions(store: &Store, keys: &[SandboxKey<'_>]) -> Vec<Option<u64>> {
    let found = store.find_sandbox_objects(keys).await.unwrap();
    let version = |at| found.iter().find(|object| object.key_index == at).map(|object| object.version);
    (0..keys.len()).map(version).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_is_written_once_and_in_order() {
    for_each_store(async |store| {
        let write = async |version| {
            let stmt = sandbox_objects::write(SESSION, version, &format!("v{version}"), NOW);
            store.commit(vec![stmt]).await.map(|_| ())
        };
        assert!(matches!(write(2).await, Err(DbError::Guard(CHANGED))));
        write(1).await.unwrap();
        assert!(matches!(write(1).await, Err(DbError::Guard(CHANGED))));
        assert!(matches!(write(3).await, Err(DbError::Guard(CHANGED))));
        write(2).await.unwrap();
        assert!(matches!(write(2).await, Err(DbError::Guard(CHANGED))));
        let found = store.find_sandbox_objects(&[SESSION]).await.unwrap();
        assert_eq!((found.len(), found[0].version, found[0].json.as_str()), (1, 2, "v2"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_found_by_type_and_id_together() {
    for_each_store(async |store| {
        let same_id = SandboxKey { kind: "payment", ..SESSION };
        let both =
            [sandbox_objects::write(SESSION, 1, "{}", NOW), sandbox_objects::write(TOKEN, 1, "{}", NOW)];
        store.commit(both.into()).await.unwrap();
        assert_eq!(versions(store, &[SESSION, TOKEN]).await, [Some(1), Some(1)]);
        assert_eq!(versions(store, &[TOKEN, same_id]).await, [Some(1), None]);
        assert_eq!(versions(store, &[same_id]).await, [None]);
        assert_eq!(versions(store, &[]).await, []);
        assert!(store.find_sandbox_objects(&[SESSION, TOKEN, same_id]).await.is_err());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_are_stored_as_hashes() {
    for_each_store(async |store| {
        store.commit(vec![sandbox_objects::write(TOKEN, 1, "{}", NOW)]).await.unwrap();
        let id = store.db.get("SELECT id FROM sandbox_objects", &[], text).await.unwrap().unwrap();
        assert_eq!(id.len(), 64);
        assert!(!id.contains("secret") && !format!("{TOKEN:?}").contains("secret"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_without_changes_are_deleted_a_batch_at_a_time() {
    for_each_store(async |store| {
        let ids = ["a", "b", "c"];
        let key = |id| SandboxKey { kind: "payment", id };
        for (at, id) in (NOW..).zip(ids) {
            store.commit(vec![sandbox_objects::write(key(id), 1, "{}", at)]).await.unwrap();
        }
        // A change keeps an object.
        store.commit(vec![sandbox_objects::write(key("a"), 2, "{}", NOW + 10)]).await.unwrap();
        let delete = async |before, most| {
            let outcome = store.commit(vec![sandbox_objects::delete_old(before, most)]).await.unwrap();
            outcome[0].affected
        };
        assert_eq!(delete(NOW, 10).await, 0);
        assert_eq!(delete(NOW + 2, 1).await, 1);
        assert_eq!(versions(store, &[key("b"), key("c")]).await, [None, Some(1)]);
        assert_eq!(delete(NOW + 2, 10).await, 1);
        assert_eq!(versions(store, &[key("a"), key("c")]).await, [Some(2), None]);
    })
    .await;
}
