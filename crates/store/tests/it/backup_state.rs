//! The state of scheduled backups.

use dropleaf_store::backup_state::{UNCHANGED, change_destination, record_failure};
use dropleaf_store::{DbError, Store};

use crate::harness::{NOW, for_each_database};

#[tokio::test]
async fn start_over_that_comes_late_forgets_no_failure() {
    for_each_database(async |database| {
        let db = database.open().await;
        let store = Store::new(db.clone(), database.blobs());
        db.batch(change_destination(1, NOW)).await.unwrap();
        db.batch(record_failure(1, NOW + 1)).await.unwrap();
        // As of another task that had found no destination.
        let late = db.batch(change_destination(1, NOW + 2)).await;
        assert!(matches!(late, Err(DbError::Guard(UNCHANGED))), "{late:?}");
        let state = store.find_backup_state().await.unwrap();
        assert_eq!((state.since, state.failures), (Some(NOW), 1));
        // Another destination starts over.
        db.batch(change_destination(2, NOW + 3)).await.unwrap();
        let state = store.find_backup_state().await.unwrap();
        assert_eq!((state.destination, state.since, state.failures), (Some(2), Some(NOW + 3), 0));
        db.close().await;
    })
    .await;
}
