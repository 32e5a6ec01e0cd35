//! `exec` and `batch`: all or nothing, guards, and callers that go away.

use dropleaf_store::{Db, DbError, Stmt, Val};
use tokio::task::JoinSet;

use crate::harness::{TestDatabase, account, count_accounts, for_each_database, for_each_db, text};

const SPEND: &str =
    "UPDATE accounts SET balance_minor = balance_minor - 1 WHERE id = $1 AND balance_minor > 0";

#[tokio::test(flavor = "multi_thread")]
async fn returning_gives_rows_and_counts_them() {
    for_each_db(async |db| {
        let outcomes = db
            .batch(vec![
                account("a"),
                account("b"),
                Stmt::new("UPDATE accounts SET plan = $1 RETURNING id", ["pro".into()]),
                Stmt::new("DELETE FROM accounts WHERE id = $1", ["a".into()]),
                account("b"),
            ])
            .await
            .unwrap();
        let affected: Vec<u64> = outcomes.iter().map(|outcome| outcome.affected).collect();
        assert_eq!(affected, [1, 1, 2, 1, 0]);
        let mut ids: Vec<_> =
            outcomes[2].rows.iter().map(|row| row.as_row().text(0).unwrap().to_owned()).collect();
        ids.sort();
        assert_eq!(ids, ["a", "b"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_guard_undoes_its_own_batch_only() {
    for_each_db(async |db| {
        let batches = (0..60).map(|n| {
            let spend = Stmt::new(SPEND, ["nobody".into()]);
            let spend = if n % 3 == 0 { spend.one("no_money") } else { spend };
            vec![account(&format!("a{n}")), spend]
        });
        let answers = futures_util::future::join_all(batches.map(|batch| db.batch(batch))).await;
        for (n, answer) in answers.iter().enumerate() {
            assert_eq!(n % 3 == 0, matches!(answer, Err(DbError::Guard("no_money"))), "{n}: {answer:?}");
        }
        assert_eq!(count_accounts(db).await, 40);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_statement_undoes_its_own_batch_only() {
    for_each_db(async |db| {
        let key = Stmt::new(
            "INSERT INTO api_keys (id, account_id, name, prefix, key_hash, created_at) VALUES ($1, $2, '', '', $3, 0)",
            vec!["k".into(), "nobody".into(), [7; 32].into()],
        );
        let (bad, good) = tokio::join!(db.batch(vec![account("a"), key]), db.batch(vec![account("b")]));
        assert!(matches!(bad, Err(DbError::Internal(_))), "{bad:?}");
        good.unwrap();
        let ids = db.list("SELECT id FROM accounts ORDER BY id", vec![], text).await.unwrap();
        assert_eq!(ids, ["b"]);
        // The connection that failed is still usable.
        db.exec(account("c")).await.unwrap();
        assert_eq!(count_accounts(db).await, 2);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_one_of_many_takes_a_single_thing() {
    for_each_db(async |db| {
        db.batch(vec![
            account("a"),
            Stmt::new("UPDATE accounts SET balance_minor = 5 WHERE id = 'a'", vec![]),
        ])
        .await
        .unwrap();
        let spends = (0..40).map(|_| db.exec(Stmt::new(SPEND, ["a".into()]).one("no_money")));
        let answers = futures_util::future::join_all(spends).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 5);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn abandoned_callers_harm_nobody() {
    for_each_db(async |db| {
        for round in 0..20 {
            let mut tasks = JoinSet::new();
            for n in 0..20 {
                let db = db.clone();
                tasks.spawn(async move {
                    let guarded = account(&format!("gone{round}-{n}")).one("new");
                    db.batch(vec![guarded, account("shared")]).await
                });
            }
            tokio::task::yield_now().await;
            tasks.abort_all();
            let kept = format!("kept{round}");
            db.batch(vec![account(&kept).one("new"), account("shared")]).await.unwrap();
            while tasks.join_next().await.is_some() {}
        }
        let kept = db.list("SELECT id FROM accounts WHERE id LIKE 'kept%'", vec![], text).await.unwrap();
        assert_eq!(kept.len(), 20);
        // No connection was left inside a transaction.
        let writes = (0..32).map(|n| db.exec(account(&format!("after{n}"))));
        for answer in futures_util::future::join_all(writes).await {
            answer.unwrap();
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn crossing_locks_are_retried() {
    for_each_db(async |db| {
        db.batch(vec![account("a"), account("b")]).await.unwrap();
        let touch = |id: &str| {
            Stmt::new("UPDATE accounts SET balance_minor = balance_minor + 1 WHERE id = $1", [id.into()])
                .one("there")
        };
        let there = (0..8).map(|_| db.batch(vec![touch("a"), touch("b")]));
        let back = (0..8).map(|_| db.batch(vec![touch("b"), touch("a")]));
        let (there, back) =
            tokio::join!(futures_util::future::join_all(there), futures_util::future::join_all(back));
        for answer in there.into_iter().chain(back) {
            answer.unwrap();
        }
        let sum =
            db.get("SELECT CAST(SUM(balance_minor) AS BIGINT) FROM accounts", &[], |row| row.int(0)).await;
        assert_eq!(sum.unwrap(), Some(32));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn large_batch_runs_in_order() {
    for_each_db(async |db| {
        let mut batch = vec![account("a")];
        for n in 0..300_i64 {
            let sql = "UPDATE accounts SET balance_minor = $1 WHERE id = 'a' AND balance_minor = $2";
            batch.push(Stmt::new(sql, [Val::Int(n + 1), Val::Int(n)]).one("in_order"));
        }
        db.batch(batch).await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_number_of_arguments_is_an_error() {
    for_each_db(async |db| {
        let one_short = Stmt::new("DELETE FROM accounts WHERE id = $1 AND plan = $2", ["a".into()]);
        assert!(matches!(db.exec(one_short).await, Err(DbError::Internal(_))));
        db.exec(account("a")).await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closed_database_answers_instead_of_hanging() {
    for_each_database(async |database| {
        let db = database.open().await;
        let writes = futures_util::future::join_all((0..50).map(|n| {
            let db = db.clone();
            async move { db.exec(account(&format!("a{n}"))).await }
        }));
        let (answers, ()) = tokio::join!(writes, db.close());
        let kept = answers.iter().filter(|answer| answer.is_ok()).count();
        assert!(matches!(db.exec(account("late")).await, Err(DbError::Unavailable(_))));
        let again = database.open().await;
        assert_eq!(count_accounts(&again).await, i64::try_from(kept).unwrap());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn close_moves_the_log_into_the_file() {
    let database = TestDatabase::sqlite();
    let db = database.open().await;
    db.exec(account("a")).await.unwrap();
    db.close().await;
    let log = database.dir.path().join("data/dropleaf.db-wal");
    assert!(std::fs::metadata(&log).map_or(true, |file| file.len() == 0));
}

#[test]
fn futures_may_move_between_threads() {
    fn sendable<T: Send>(_: T) {}
    fn check(db: &Db) {
        sendable(db.batch(vec![]));
        sendable(db.exec(account("a")));
        sendable(db.get("SELECT 1", &[], |row| row.int(0)));
        sendable(db.list("SELECT 1", vec![], |row| row.int(0)));
        sendable(db.migrate(0));
        sendable(db.listen(|_| {}));
    }
    let _ = check;
}
