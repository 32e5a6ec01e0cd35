//! Stored answers to MCP messages: found by their session alone, and bounded in number and size per account.

use bytes::Bytes;
use dropleaf_store::mcp_answers::{McpAnswer, delete_beyond, delete_of_session, delete_old, insert};
use dropleaf_store::{Db, Store};

use crate::harness::{NOW, for_each_database};

fn answer(number: u8, account_id: &'static str, created_at: i64) -> McpAnswer<'static> {
    let sealed = Bytes::from(vec![number; 100]);
    McpAnswer { id_hash: [number; 32], session_id: "session", account_id, sealed, created_at }
}

async fn numbers(db: &Db, account_id: &str) -> Vec<u8> {
    let sql = "SELECT sealed FROM mcp_answers WHERE account_id = $1 ORDER BY id_hash";
    db.list(sql, vec![account_id.into()], |row| Ok(row.bytes(0)?[0])).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn newest_answers_of_an_account_are_kept_up_to_a_number_and_a_size() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        for number in 1..=6 {
            let created_at = NOW + i64::from(number);
            store.commit(vec![insert(&answer(number, "acct_1", created_at))]).await.unwrap();
        }
        store.commit(vec![insert(&answer(9, "acct_2", NOW))]).await.unwrap();
        // The same id again changes nothing.
        store.commit(vec![insert(&answer(9, "acct_1", NOW))]).await.unwrap();
        store.commit(vec![delete_beyond("acct_1", 5, 10_000)]).await.unwrap();
        assert_eq!(numbers(&store.db, "acct_1").await, [2, 3, 4, 5, 6]);
        store.commit(vec![delete_beyond("acct_1", 5, 250)]).await.unwrap();
        assert_eq!(numbers(&store.db, "acct_1").await, [5, 6]);
        assert_eq!(numbers(&store.db, "acct_2").await, [9], "another account is not affected");
        assert!(store.find_mcp_answer(&[6; 32], "session", NOW).await.unwrap().is_some());
        assert!(store.find_mcp_answer(&[6; 32], "other", NOW).await.unwrap().is_none());
        assert!(store.find_mcp_answer(&[6; 32], "session", NOW + 6).await.unwrap().is_none(), "too old");
        store.commit(vec![delete_old(NOW + 5)]).await.unwrap();
        assert_eq!(numbers(&store.db, "acct_1").await, [6]);
        store.commit(vec![delete_of_session("acct_1", "session")]).await.unwrap();
        assert!(numbers(&store.db, "acct_1").await.is_empty());
        store.db.close().await;
    })
    .await;
}
