//! The ledger: posted once, never changed, never overdrawn, and audited.

use dropleaf_core::account::{Account, Charge};
use dropleaf_core::ledger::Posting;
use dropleaf_core::payment::Item;
use dropleaf_core::unlock::Sku;
use dropleaf_store::backup::{backup, restore};
use dropleaf_store::{Db, DbError, Stmt, Store, ledger};

use crate::harness::{NOW, TestDatabase, account, for_each_database};

const UNLOCK: Item = Item::Unlock(Sku::MakePermanent);

async fn open(database: &TestDatabase) -> Store {
    let store = Store::new(database.open().await, database.blobs());
    store.commit(vec![account("a"), account("b")]).await.unwrap();
    store
}

async fn post(store: &Store, id: &str, posting: &Posting) -> Result<(), DbError> {
    store.commit(ledger::post(id, posting, NOW)).await.map(|_| ())
}

fn grant(name: &str, cents: i64) -> Posting {
    Posting::grant(name, "a", cents, false, "test".into()).unwrap()
}

fn spend(name: &str, cents: i64) -> Posting {
    Posting::spend(name, "a", UNLOCK, Charge { real: cents, sandbox: 0 }).unwrap()
}

async fn balance(store: &Store) -> i64 {
    store.find_account("a").await.unwrap().unwrap().balance_minor
}

async fn faults(store: &Store) -> Vec<&'static str> {
    store.audit_ledger().await.unwrap().into_iter().map(|fault| fault.what).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn key_is_booked_once_and_what_was_booked_is_known() {
    for_each_database(async |database| {
        let store = open(database).await;
        post(&store, "t1", &grant("g", 500)).await.unwrap();
        let again = post(&store, "t2", &grant("g", 500)).await.unwrap_err();
        assert!(matches!(again, DbError::Guard(ledger::POSTED)), "{again}");
        let other = grant("g", 700);
        assert!(matches!(post(&store, "t3", &other).await, Err(DbError::Guard(ledger::POSTED))));
        let booked = store.find_posted("grant:g").await.unwrap().unwrap();
        assert_eq!(booked, grant("g", 500).fingerprint());
        assert_ne!(booked, other.fingerprint());
        assert_eq!(balance(&store).await, 500);
        assert_eq!(faults(&store).await, [""; 0]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn balance_is_never_overdrawn_however_many_spend_at_once() {
    for_each_database(async |database| {
        let store = open(database).await;
        post(&store, "t", &grant("g", 500)).await.unwrap();
        let nobody = Posting::spend("x", "b", UNLOCK, Charge { real: 1, sandbox: 0 }).unwrap();
        assert!(matches!(post(&store, "x", &nobody).await, Err(DbError::Guard(ledger::OVERDRAWN))));
        let spends: Vec<_> = (0..12).map(|n| (format!("s{n}"), spend(&format!("s{n}"), 200))).collect();
        let all = spends.iter().map(|(id, spend)| post(&store, id, spend));
        let done = futures_util::future::join_all(all).await;
        assert_eq!(done.iter().filter(|done| done.is_ok()).count(), 2);
        let refused = done.iter().filter(|done| matches!(done, Err(DbError::Guard(ledger::OVERDRAWN))));
        assert_eq!(refused.count(), 10, "{done:?}");
        assert_eq!(balance(&store).await, 100);

        let copies: Vec<_> = (0..12).map(|n| (format!("c{n}"), grant("copied", 50))).collect();
        let all = copies.iter().map(|(id, grant)| post(&store, id, grant));
        let done = futures_util::future::join_all(all).await;
        assert_eq!(done.iter().filter(|done| done.is_ok()).count(), 1);
        assert_eq!(balance(&store).await, 150);
        assert_eq!(faults(&store).await, [""; 0]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_in_the_middle_leaves_nothing() {
    for_each_database(async |database| {
        let store = open(database).await;
        post(&store, "t", &grant("g", 500)).await.unwrap();
        let mut stmts = ledger::post("s", &spend("s", 200), NOW);
        stmts.push(ledger::refuse());
        let failed = store.commit(stmts).await.unwrap_err();
        assert!(matches!(failed, DbError::Guard(ledger::UNSOUND)), "{failed}");
        assert_eq!(balance(&store).await, 500);
        assert_eq!(store.find_posted("spend:s").await.unwrap(), None);
        assert_eq!(faults(&store).await, [""; 0]);
    })
    .await;
}

/// Spends 200 cents, if that leaves the balances of `after`.
async fn buy(store: &Store, name: &str, after: &Account) -> Result<(), DbError> {
    let mut stmts = ledger::post(name, &spend(name, 200), NOW);
    stmts.push(ledger::require_balance(after));
    store.commit(stmts).await.map(|_| ())
}

#[tokio::test(flavor = "multi_thread")]
async fn of_purchases_that_expect_the_same_balance_one_is_booked() {
    for_each_database(async |database| {
        let store = open(database).await;
        post(&store, "t", &grant("g", 900)).await.unwrap();
        let before = store.find_account("a").await.unwrap().unwrap();
        let after = before.charged(Charge { real: 200, sandbox: 0 });
        let done = futures_util::future::join_all(
            ["s1", "s2", "s3"].into_iter().map(|name| buy(&store, name, &after)),
        )
        .await;
        assert_eq!(done.iter().filter(|done| done.is_ok()).count(), 1, "{done:?}");
        let moved = done.iter().filter(|done| matches!(done, Err(DbError::Guard(ledger::MOVED))));
        assert_eq!(moved.count(), 2, "{done:?}");
        assert_eq!(balance(&store).await, 700);
        assert_eq!(faults(&store).await, [""; 0]);
    })
    .await;
}

const CHANGES: [&str; 4] = [
    "UPDATE ledger_txns SET note = 'x'",
    "DELETE FROM ledger_txns",
    "UPDATE ledger_entries SET amount = 1",
    "DELETE FROM ledger_entries",
];

async fn books_refuse_change(db: &Db) {
    for sql in CHANGES {
        let refused = db.exec(Stmt::new(sql, [])).await.unwrap_err();
        let why = format!("{:?}", std::error::Error::source(&refused));
        assert!(why.contains("the books are only added to"), "{sql}: {why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn databases_refuse_to_change_what_is_booked() {
    for_each_database(async |database| {
        let store = open(database).await;
        post(&store, "t", &grant("g", 500)).await.unwrap();
        books_refuse_change(&store.db).await;
        let same = post(&store, "other", &grant("g", 500)).await.unwrap_err();
        assert!(matches!(same, DbError::Guard(ledger::POSTED)), "{same}");
        if !database.url.starts_with("postgres") {
            // REPLACE would delete the conflicting rows.
            for sql in [
                "INSERT OR REPLACE INTO ledger_txns SELECT id, 'x', fingerprint, kind, payment_id, 'x', 1 FROM ledger_txns",
                "INSERT OR REPLACE INTO ledger_txns SELECT 'x', idem_key, fingerprint, kind, payment_id, 'x', 1 FROM ledger_txns",
                "REPLACE INTO ledger_entries SELECT txn_id, position, account_id, 2 * amount FROM ledger_entries",
            ] {
                let refused = store.db.exec(Stmt::new(sql, [])).await.unwrap_err();
                let why = format!("{:?}", std::error::Error::source(&refused));
                assert!(why.contains("the books are only added to"), "{sql}: {why}");
            }
        }
        if database.url.starts_with("postgres") {
            let cut = Stmt::new("TRUNCATE ledger_txns, ledger_entries", []);
            assert!(store.db.exec(cut).await.is_err());
        }
        let more = Stmt::new("UPDATE ledger_accounts SET balance = 1 WHERE kind = 'liability'", []);
        assert!(store.db.exec(more).await.is_err(), "a liability cannot become a debt of the account");
        assert_eq!(faults(&store).await, [""; 0]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn books_come_back_from_a_backup_and_stay_closed() {
    for_each_database(async |from| {
        let store = open(from).await;
        post(&store, "t", &grant("g", 500)).await.unwrap();
        let dir = from.dir.path().join("copy");
        backup(&store.db, &store.blobs, &dir, NOW, &|_| {}).await.unwrap();
        for_each_database(async |to| {
            // Restores into a database with an existing ledger, which is replaced.
            let target = open(to).await;
            post(&target, "old", &grant("old", 900)).await.unwrap();
            restore(&target.db, &target.blobs, &dir, true, NOW, &|_| {}).await.unwrap();
            assert_eq!(target.find_posted("grant:old").await.unwrap(), None);
            assert_eq!(balance(&target).await, 500);
            assert_eq!(faults(&target).await, [""; 0]);
            books_refuse_change(&target.db).await;
            post(&target, "t2", &grant("g2", 1)).await.unwrap();
        })
        .await;
    })
    .await;
}

/// Changes made behind the program's back, and the faults that the audit reports.
const TAMPERED: [(&str, &[&str]); 6] = [
    (
        "INSERT INTO ledger_entries (txn_id, position, account_id, amount) VALUES ('t', 9, 'equity:grants', 5)",
        &["entries of a transaction do not sum to zero", "balance is not the sum of its entries"],
    ),
    (
        "UPDATE ledger_accounts SET balance = balance + 7 WHERE id = 'equity:grants'",
        &["balance is not the sum of its entries", "balances of a unit do not sum to zero"],
    ),
    (
        "UPDATE accounts SET balance_minor = 501 WHERE id = 'a'",
        &["account balance does not match the ledger"],
    ),
    ("UPDATE accounts SET balance_minor = 3 WHERE id = 'b'", &["account balance does not match the ledger"]),
    (
        "INSERT INTO ledger_txns (id, idem_key, fingerprint, kind, created_at) VALUES ('u', 'u', '\\x01', 'income', 1)",
        &["transaction has fewer than two entries", "ledger income has no fulfilled payment"],
    ),
    (
        "INSERT INTO payments (id, payment_key, item, protocol, generation, network, asset, payer, pay_to, amount, \
         payer_is_eoa, sandbox, request_hash, client, state, attempts, held_until, valid_until, created_at, updated_at) \
         VALUES ('p', 'k', 'publish', 'x402', 2, 'n', 'a', 'p', 't', 5, 1, 0, '\\x01', '', 'fulfilled', 1, 0, 0, 0, 0)",
        &["fulfilled payment is missing from the ledger"],
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn audit_names_what_was_tampered_with() {
    for (sql, expected) in TAMPERED {
        for_each_database(async |database| {
            let store = open(database).await;
            post(&store, "t", &grant("g", 500)).await.unwrap();
            assert_eq!(faults(&store).await, [""; 0]);
            store.db.exec(Stmt::new(sql, [])).await.unwrap();
            assert_eq!(faults(&store).await, expected, "{sql}");
        })
        .await;
    }
}
