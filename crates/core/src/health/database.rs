//! Judges the database: version, schema, settings that decide whether committed data survives, and integrity.

use super::{Check, Finding};

/// The oldest PostgreSQL that the tests run with.
pub const POSTGRES_TESTED: i64 = 15;
/// Connections that PostgreSQL keeps for its administrators.
const RESERVED: i64 = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresFacts {
    /// `server_version_num`, such as 150004.
    pub version_number: i64,
    pub fsync: bool,
    /// `synchronous_commit`.
    pub synchronous_commit: String,
    pub full_page_writes: bool,
    pub encoding: String,
    pub max_connections: i64,
    /// Connections of others.
    pub others: i64,
    /// Connections that each node opens at most.
    pub pool: i64,
    /// Epoch seconds of the server's clock.
    pub now: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteFacts {
    pub version: String,
    pub journal_mode: String,
    /// The name of the file system, if it is on a network.
    pub network_filesystem: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseFacts {
    /// The SQLite file is created at the first start.
    NotCreated,
    /// Why it cannot be opened, without secrets.
    Failed(String),
    Sqlite(SqliteFacts),
    Postgres(PostgresFacts),
}

pub fn database(facts: &DatabaseFacts, is_postgres: bool) -> Finding {
    const CHECK: Check = Check::Database;
    match facts {
        DatabaseFacts::NotCreated => {
            Finding::ok(CHECK, "There is no database yet; the first start creates it.")
        }
        DatabaseFacts::Failed(why) if is_postgres => Finding::problem(
            CHECK,
            format!("The database cannot be used: {why}."),
            "Check that PostgreSQL runs, and host, user, password and database name in `database_url`.",
        ),
        DatabaseFacts::Failed(why) => Finding::problem(
            CHECK,
            format!("The database cannot be used: {why}."),
            "Check that the user of the server may write to the file in `database_url` and to its folder.",
        ),
        DatabaseFacts::Sqlite(facts) => match facts.network_filesystem {
            Some(name) => Finding::problem(
                CHECK,
                format!(
                    "The SQLite database is on a network file system ({name}), where its locks do not work and data can be lost."
                ),
                "Move `data_dir` (or the file in `database_url`) to a local disk, or use PostgreSQL.",
            ),
            None => Finding::ok(CHECK, format!("SQLite {}, on a local disk.", facts.version)),
        },
        DatabaseFacts::Postgres(facts) => {
            let major = facts.version_number / 10_000;
            if major < POSTGRES_TESTED {
                return Finding::warning(
                    CHECK,
                    format!("PostgreSQL {major} is older than the versions that dropleaf is tested with."),
                    format!("Upgrade to PostgreSQL {POSTGRES_TESTED} or newer."),
                );
            }
            Finding::ok(CHECK, format!("PostgreSQL {major}.{}.", facts.version_number % 10_000))
        }
    }
}

pub fn database_settings(facts: &DatabaseFacts) -> Finding {
    const CHECK: Check = Check::DatabaseSettings;
    match facts {
        DatabaseFacts::NotCreated => Finding::not_checked(CHECK, "There is no database yet."),
        DatabaseFacts::Failed(_) => Finding::not_checked(CHECK, "The database cannot be used."),
        DatabaseFacts::Sqlite(facts) if facts.journal_mode.eq_ignore_ascii_case("wal") => {
            Finding::ok(CHECK, "The write-ahead log is on.")
        }
        DatabaseFacts::Sqlite(facts) => Finding::warning(
            CHECK,
            format!("The journal mode is {}, so readers and writers block each other.", facts.journal_mode),
            "Restart the server, which turns the write-ahead log on; no other program may hold the file open.",
        ),
        DatabaseFacts::Postgres(facts) => postgres_settings(facts),
    }
}

fn postgres_settings(facts: &PostgresFacts) -> Finding {
    const CHECK: Check = Check::DatabaseSettings;
    let mut parts = Vec::new();
    let mut lost = |setting: &str, consequence: &str| {
        parts.push(Finding::problem(
            CHECK,
            format!("`{setting}` is off: {consequence}."),
            format!(
                "Set `{setting} = on` in postgresql.conf and reload PostgreSQL (`SELECT pg_reload_conf()`)."
            ),
        ));
    };
    if !facts.fsync {
        lost("fsync", "a power cut can destroy the database");
    }
    if !facts.full_page_writes {
        lost("full_page_writes", "a power cut can corrupt pages of the database");
    }
    if facts.synchronous_commit == "off" {
        lost("synchronous_commit", "a crash loses uploads that were already confirmed");
    }
    if facts.encoding != "UTF8" {
        parts.push(Finding::problem(
            CHECK,
            format!("The database has the encoding {}, which cannot store every text.", facts.encoding),
            "Create it again with `CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`.",
        ));
    }
    let free = facts.max_connections - RESERVED - facts.others;
    if facts.max_connections - RESERVED < facts.pool {
        parts.push(Finding::problem(
            CHECK,
            format!(
                "`max_connections` is {}, but a node opens up to {} connections.",
                facts.max_connections, facts.pool
            ),
            "Set `max_connections = 100` in postgresql.conf and restart PostgreSQL.",
        ));
    } else if free < facts.pool {
        parts.push(Finding::warning(
            CHECK,
            format!(
                "Only {} of {} connections are left for this node, which opens up to {}.",
                free.max(0),
                facts.max_connections,
                facts.pool
            ),
            "Raise `max_connections` in postgresql.conf and restart PostgreSQL.",
        ));
    }
    Finding::join(CHECK, parts).unwrap_or_else(|| {
        Finding::ok(CHECK, "Commits are durable, the encoding is UTF8, and there are enough connections.")
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaFacts {
    /// 0 in an empty database.
    pub found: i64,
    /// What this program needs.
    pub latest: i64,
    pub is_running: bool,
}

pub fn schema(facts: Option<SchemaFacts>) -> Finding {
    const CHECK: Check = Check::Schema;
    let Some(SchemaFacts { found, latest, is_running }) = facts else {
        return Finding::not_checked(CHECK, "There is no database to read it from.");
    };
    if found > latest {
        return Finding::problem(
            CHECK,
            format!(
                "The database has schema version {found}, but this program supports only up to {latest}: it is outdated."
            ),
            "Install the version of dropleaf that last ran with this database, or a newer one.",
        );
    }
    if found == latest {
        return Finding::ok(CHECK, format!("Schema version {found}, as this program needs."));
    }
    if is_running && found > 0 {
        return Finding::warning(
            CHECK,
            format!("The running server uses schema version {found}, this program needs {latest}."),
            "Restart the server, so that it runs the installed version: `systemctl restart dropleaf`.",
        );
    }
    Finding::ok(CHECK, format!("Schema version {found}; the next start migrates it to {latest}."))
}

/// The result of SQLite's `PRAGMA quick_check`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Integrity {
    /// PostgreSQL, or no database.
    NotApplicable,
    Sound,
    /// The first message.
    Damaged(String),
    /// The database is too large for the time that a check may take.
    TooLarge,
    Unknown(String),
}

pub fn integrity(result: &Integrity) -> Finding {
    const CHECK: Check = Check::Integrity;
    match result {
        Integrity::NotApplicable => Finding::ok(CHECK, "Only SQLite databases are checked."),
        Integrity::Sound => Finding::ok(CHECK, "`PRAGMA quick_check` found no damage."),
        Integrity::Damaged(message) => Finding::problem(
            CHECK,
            format!("The database is damaged: {message}."),
            "Stop the server, keep a copy of the files, and restore the last backup with `dropleaf backup restore`.",
        ),
        Integrity::TooLarge => {
            Finding::not_checked(CHECK, "The database is too large to be checked in a few seconds.")
                .with_fix("Check a backup instead: `sqlite3 BACKUP/dropleaf.db 'PRAGMA quick_check'`.")
        }
        Integrity::Unknown(why) => Finding::not_checked(CHECK, format!("The check could not run: {why}.")),
    }
}
