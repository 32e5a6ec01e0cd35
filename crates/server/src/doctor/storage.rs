//! The database, the object store, certificate orders and backups.

use super::{Doctor, EACH, in_time, machine};
use crate::config::Resolved;
use crate::serve_lock;
use dropleaf_app::{BackupSettings, TlsMode};
use dropleaf_core::health::{
    self, BackupFacts, BodiesFacts, Check, DatabaseFacts, Finding, Integrity, ManagedCertificates,
    OtherServer, ScheduledBackups, SchemaFacts,
};
use dropleaf_store::Store;
use dropleaf_store::backup_state::{BackupState, destination_id};
use dropleaf_store::health::{latest_schema, read_sqlite};
use futures_util::future::join_all;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long SQLite may check itself.
const INTEGRITY: Duration = Duration::from_secs(5);
/// How long a replica may need to show what the primary holds.
const CATCH_UP: Duration = Duration::from_secs(3);

/// The storage, as far as it could be opened.
#[derive(Debug)]
pub(crate) enum Storage {
    Open(Store),
    /// The SQLite file does not exist yet.
    NotCreated,
    /// The reason contains no secret.
    Failed {
        database: Option<String>,
        bodies: Option<String>,
    },
}

impl Storage {
    const fn store(&self) -> Option<&Store> {
        if let Self::Open(store) = self { Some(store) } else { None }
    }
}

/// What was read from the database.
struct Read {
    facts: DatabaseFacts,
    schema: Option<i64>,
    integrity: Integrity,
}

impl Read {
    fn failed(why: impl Into<String>) -> Self {
        let integrity = Integrity::Unknown("the database cannot be read".to_owned());
        Self { facts: DatabaseFacts::Failed(why.into()), schema: None, integrity }
    }
}

impl Doctor {
    pub(super) async fn check_storage(&self, is_running: bool) -> Vec<Finding> {
        let (mut database, servers, files, bodies, acme, backup) = tokio::join!(
            self.check_database(is_running),
            in_time(Check::DatabaseServers, self.check_servers()),
            self.check_files(),
            in_time(Check::Bodies, self.check_bodies()),
            in_time(Check::Acme, self.check_orders()),
            in_time(Check::Backup, self.check_backups()),
        );
        database.extend(files);
        database.extend([servers, bodies, acme, backup]);
        database
    }

    async fn check_database(&self, is_running: bool) -> Vec<Finding> {
        let Ok(read) = tokio::time::timeout(EACH, self.read_database()).await else {
            return vec![Finding::late(Check::Database, EACH.as_secs())];
        };
        let latest = latest_schema();
        let schema = read.schema.map(|found| SchemaFacts { found, latest, is_running });
        vec![
            health::database(&read.facts, sqlite_path(&self.resolved).is_none()),
            health::database_settings(&read.facts),
            health::schema(schema),
            health::integrity(&read.integrity),
        ]
    }

    async fn read_database(&self) -> Read {
        match (&self.storage, sqlite_path(&self.resolved)) {
            (Storage::NotCreated, _) => {
                let integrity = Integrity::Unknown("there is no database yet".to_owned());
                Read { facts: DatabaseFacts::NotCreated, schema: None, integrity }
            }
            (Storage::Failed { database: Some(why), .. }, _) => Read::failed(why.clone()),
            (_, Some(path)) => {
                let work = tokio::task::spawn_blocking(move || {
                    read_sqlite(&path, INTEGRITY).map(|state| (state, machine::network_filesystem(&path)))
                });
                match work.await {
                    Ok(Ok((mut state, network))) => {
                        if let DatabaseFacts::Sqlite(facts) = &mut state.facts {
                            facts.network_filesystem = network;
                        }
                        Read { facts: state.facts, schema: Some(state.schema), integrity: state.integrity }
                    }
                    Ok(Err(error)) => Read::failed(error.to_string()),
                    Err(_) => Read::failed("the check was cut short"),
                }
            }
            (storage, None) => {
                let Some(store) = storage.store() else { return Read::failed("it could not be opened") };
                let facts = match store.db.read_postgres().await {
                    Ok(Some(facts)) => DatabaseFacts::Postgres(facts),
                    Ok(None) => return Read::failed("it is no PostgreSQL database"),
                    Err(error) => return Read::failed(error.to_string()),
                };
                Read {
                    facts,
                    schema: store.db.postgres_schema().await.ok(),
                    integrity: Integrity::NotApplicable,
                }
            }
        }
    }

    /// The replicas, and the server for notifications.
    async fn check_servers(&self) -> Finding {
        let options = &self.resolved.database_options;
        let replicas = options.read_urls.iter().zip(1..).map(|(url, number)| (url, Some(number)));
        let urls: Vec<_> = replicas.chain(options.listen_url.iter().map(|url| (url, None))).collect();
        if urls.is_empty() {
            return health::database_servers(&[], options.max_lag);
        }
        let Some(store) = self.storage.store() else {
            return Finding::not_checked(Check::DatabaseServers, "The database cannot be used.");
        };
        let servers = urls.into_iter().map(|(url, replica)| async move {
            OtherServer { replica, state: store.db.inspect_server(url, CATCH_UP).await }
        });
        health::database_servers(&join_all(servers).await, options.max_lag)
    }

    async fn check_bodies(&self) -> Finding {
        match &self.storage {
            Storage::Open(store) => {
                let steps = store.blobs.probe(&self.minter.nonce()).await;
                health::bodies(&BodiesFacts::Tried { store: store.blobs.kind(), steps })
            }
            Storage::Failed { bodies: Some(why), .. } => health::bodies(&BodiesFacts::NotOpened(why.clone())),
            Storage::NotCreated => {
                Finding::not_checked(Check::Bodies, "There is no storage yet; the first start creates it.")
            }
            Storage::Failed { .. } => Finding::not_checked(Check::Bodies, "The database cannot be used."),
        }
    }

    async fn check_orders(&self) -> Finding {
        let managed = match (self.resolved.settings.tls_mode, self.storage.store()) {
            (TlsMode::Acme, Some(store)) => store
                .list_certificates()
                .await
                .map_or(ManagedCertificates::Unknown, ManagedCertificates::Rows),
            (TlsMode::Acme, None) => ManagedCertificates::Unknown,
            _ => ManagedCertificates::NotManaged,
        };
        health::acme(&managed, self.clock.now())
    }

    /// Whether pages need email.
    pub(super) async fn count_gated_pages(&self) -> i64 {
        match self.storage.store() {
            Some(store) => store.count_gated_pages().await.unwrap_or_default(),
            None => 0,
        }
    }

    async fn check_backups(&self) -> Finding {
        let facts = match &self.resolved.settings.backups {
            None => BackupFacts::NotScheduled { has_destination: !self.resolved.config.backup.to.is_empty() },
            Some(settings) => self.scheduled_backups(settings).await,
        };
        health::backup(&facts, self.clock.now())
    }

    /// Reads the record that the server keeps. A record of another destination says nothing about this one.
    async fn scheduled_backups(&self, settings: &BackupSettings) -> BackupFacts {
        let destination = settings.destination.name().to_owned();
        let state = match &self.storage {
            Storage::Open(store) => store.find_backup_state().await.ok(),
            Storage::NotCreated => Some(BackupState::default()),
            Storage::Failed { .. } => None,
        };
        let Some(state) = state else {
            return BackupFacts::Unknown("The record of backups in the database cannot be read.".to_owned());
        };
        let is_same = state.destination == Some(destination_id(&destination));
        let state = if is_same { state } else { BackupState::default() };
        BackupFacts::Scheduled(ScheduledBackups {
            destination,
            interval: settings.schedule.interval(),
            last: state.succeeded_at,
            since: state.since,
            failures: state.failures,
        })
    }
}

/// The file of the database, if it is SQLite.
pub(crate) fn sqlite_path(resolved: &Resolved) -> Option<PathBuf> {
    serve_lock::sqlite_path(&resolved.database_url).map(Path::to_owned)
}
