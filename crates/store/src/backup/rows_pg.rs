//! Copies rows between PostgreSQL and the SQLite file of a backup, in bounded memory, each direction in one transaction.

use std::path::{Path, PathBuf};

use futures_util::{TryStreamExt, pin_mut};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_postgres::IsolationLevel;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;

use super::{BackupError, Report, rows_sqlite, tables};
use crate::db::{DbError, PgDb, Val, migrate, own_pg};

/// Rows are passed on in groups of about this many bytes.
const GROUP: usize = 1 << 20;
const GROUPS: usize = 4;

/// A message between the reading and the writing side: the start of a table, or some of its rows.
enum Parcel {
    Table(&'static str, Vec<String>),
    Rows(Vec<Vec<Val>>),
}

/// Collects rows until they reach the size of a group.
#[derive(Default)]
struct Group {
    rows: Vec<Vec<Val>>,
    weight: usize,
}

impl Group {
    fn add(&mut self, row: Vec<Val>) -> Option<Parcel> {
        self.weight += row.iter().map(|field| field.weight() + 16).sum::<usize>();
        self.rows.push(row);
        (self.weight >= GROUP).then(|| self.rest())
    }

    fn rest(&mut self) -> Parcel {
        self.weight = 0;
        Parcel::Rows(std::mem::take(&mut self.rows))
    }
}

fn torn() -> DbError {
    DbError::internal("the other side of the copy failed")
}

pub(super) async fn is_empty(db: &PgDb) -> Result<bool, DbError> {
    let client = db.client().await?;
    for table in tables(db.schema().await?) {
        if super::KEPT_TABLES.contains(&table) {
            continue;
        }
        let used = client.query_one(&format!("SELECT EXISTS (SELECT 1 FROM {table})"), &[]).await?;
        if used.try_get::<_, bool>(0)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Copies every table, from one snapshot, into a new SQLite file.
pub(super) async fn save(db: &PgDb, path: PathBuf) -> Result<(), BackupError> {
    let mut client = db.client().await?;
    let snapshot = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    let snapshot = snapshot.start().await?;
    let schema: i64 = snapshot.query_one(migrate::CURRENT, &[]).await?.try_get(0)?;
    // A newer program may have upgraded the database since the backup began.
    migrate::check_known(schema)?;
    let (send, inbox) = channel(GROUPS);
    let writing = tokio::task::spawn_blocking(move || write_file(&path, schema, inbox));
    let sending = async {
        for table in tables(schema) {
            let statement = snapshot.prepare(&format!("SELECT * FROM {table}")).await?;
            let columns = statement.columns().iter().map(|column| column.name().to_owned()).collect();
            send.send(Parcel::Table(table, columns)).await.map_err(|_| torn())?;
            let rows = snapshot.query_raw(&statement, std::iter::empty::<Val>()).await?;
            pin_mut!(rows);
            let mut group = Group::default();
            while let Some(row) = rows.try_next().await? {
                if let Some(parcel) = group.add(own_pg(&row)?) {
                    send.send(parcel).await.map_err(|_| torn())?;
                }
            }
            send.send(group.rest()).await.map_err(|_| torn())?;
        }
        Ok::<(), BackupError>(())
    };
    let all_sent = sending.await;
    drop(send);
    // If writing failed, its error is the cause of a failed send, so it is reported first.
    writing.await??;
    all_sent
}

fn write_file(path: &Path, schema: i64, mut inbox: Receiver<Parcel>) -> Result<(), DbError> {
    let mut connection = rows_sqlite::create(path)?;
    migrate::sqlite(&mut connection, schema, 0)?;
    connection.execute_batch("BEGIN; DELETE FROM schema_migrations;")?;
    let mut current = ("", Vec::new());
    while let Some(parcel) = inbox.blocking_recv() {
        match parcel {
            Parcel::Table(table, columns) => current = (table, columns),
            Parcel::Rows(rows) => rows_sqlite::insert(&connection, current.0, &current.1, &rows)?,
        }
    }
    connection.execute_batch("COMMIT")?;
    rows_sqlite::settle(&connection)
}

/// Replaces all rows with those of the backup and runs `corrections` on them, in one transaction.
pub(super) async fn load(
    db: &PgDb,
    file: PathBuf,
    schema: i64,
    report: &Report,
    now: i64,
    corrections: &str,
) -> Result<(), BackupError> {
    let mut client = db.client().await?;
    let transaction = client.transaction().await?;
    let doomed = tables(migrate::latest()).join(", ");
    transaction.batch_execute(&format!("DROP TABLE IF EXISTS {doomed}")).await?;
    PgDb::apply_migrations(&transaction, schema, now).await?;
    transaction.batch_execute("DELETE FROM schema_migrations").await?;

    let (send, mut inbox) = channel(GROUPS);
    let reading = tokio::task::spawn_blocking(move || read_file(&file, schema, &send));
    let mut copy: Option<std::pin::Pin<Box<BinaryCopyInWriter>>> = None;
    let receiving = async {
        while let Some(parcel) = inbox.recv().await {
            match parcel {
                Parcel::Table(table, columns) => {
                    finish(copy.take()).await?;
                    let columns = columns.join(", ");
                    let shape = transaction.prepare(&format!("SELECT {columns} FROM {table}")).await?;
                    let types: Vec<Type> =
                        shape.columns().iter().map(|column| column.type_().clone()).collect();
                    let sink =
                        transaction.copy_in(&format!("COPY {table} ({columns}) FROM STDIN BINARY")).await?;
                    copy = Some(Box::pin(BinaryCopyInWriter::new(sink, &types)));
                }
                Parcel::Rows(rows) => {
                    let Some(copy) = &mut copy else { return Err(BackupError::from(torn())) };
                    for row in &rows {
                        copy.as_mut().write_raw(row).await?;
                    }
                }
            }
        }
        finish(copy.take()).await
    };
    let received = receiving.await;
    drop(inbox);
    let read = reading.await?;
    received?;
    read?;
    for table in tables(schema) {
        let count = transaction.query_one(&format!("SELECT COUNT(*) FROM {table}"), &[]).await?;
        let count: i64 = count.try_get(0)?;
        if report.rows.get(table) != Some(&count.unsigned_abs()) {
            return Err(BackupError::Damaged(format!(
                "not every row of {table} arrived; nothing was changed"
            )));
        }
    }
    PgDb::apply_migrations(&transaction, migrate::latest(), now).await?;
    transaction.batch_execute(corrections).await?;
    transaction.batch_execute("NOTIFY dropleaf_changed, '*'").await?;
    Ok(transaction.commit().await?)
}

async fn finish(copy: Option<std::pin::Pin<Box<BinaryCopyInWriter>>>) -> Result<(), BackupError> {
    if let Some(mut copy) = copy {
        copy.as_mut().finish().await?;
    }
    Ok(())
}

fn read_file(file: &Path, schema: i64, send: &Sender<Parcel>) -> Result<(), DbError> {
    let connection = rows_sqlite::open_readonly(file)?;
    for table in tables(schema) {
        let columns = rows_sqlite::columns(&connection, table)?;
        send.blocking_send(Parcel::Table(table, columns.clone())).map_err(|_| torn())?;
        let mut group = Group::default();
        rows_sqlite::read(&connection, table, &columns, |row| match group.add(row) {
            Some(parcel) => send.blocking_send(parcel).map_err(|_| torn()),
            None => Ok(()),
        })?;
        send.blocking_send(group.rest()).map_err(|_| torn())?;
    }
    Ok(())
}
