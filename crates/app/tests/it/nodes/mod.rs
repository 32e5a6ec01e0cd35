//! Several nodes on one PostgreSQL database, each with a clock of its own: limits hold for all of them together, and an
//! interrupted write of view counts is not repeated.

mod caps;
mod guesses;
#[expect(dead_code, reason = "the tests of the store and of the server use the rest")]
#[path = "../../../../store/tests/it/pg_proxy.rs"]
mod pg_proxy;
mod requests;
mod view_flushes;

use crate::fixture::{NOW, fresh, upload};
use crate::harness::Database;
use crate::harness::settings::settings;
use dropleaf_app::{App, Caller, Dependencies, Settings};
use dropleaf_core::account::Account;
use dropleaf_core::host::{Hosts, Origin};
use dropleaf_core::options::UploadOptions;
use dropleaf_core::secret::Keys;
use dropleaf_core::site::Site;
use dropleaf_core::{ManualClock, Minter};
use dropleaf_store::{Blobs, Db, DbError, Row, Store};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

static NEXT_SEED: AtomicU64 = AtomicU64::new(1000);

/// What the nodes of one service share.
struct Cluster {
    database: Database,
    settings: Settings,
    dir: TempDir,
}

struct Node {
    app: App,
    clock: Arc<ManualClock>,
}

impl Cluster {
    async fn open(change: impl FnOnce(&mut Settings)) -> Self {
        let dir = TempDir::new().unwrap();
        let mut settings = settings(dir.path());
        change(&mut settings);
        Self { database: Database::postgres().await, settings, dir }
    }

    fn url(&self) -> &str {
        let Database::Postgres(url) = &self.database else { panic!("nodes share a PostgreSQL database") };
        url
    }

    /// A node whose clock is this many seconds ahead.
    async fn node(&self, ahead: i64) -> Node {
        self.node_at(self.url(), ahead).await
    }

    /// Two nodes with the same time.
    async fn two(&self) -> [Node; 2] {
        [self.node(0).await, self.node(0).await]
    }

    /// A node that reaches the database at this address.
    async fn node_at(&self, url: &str, ahead: i64) -> Node {
        let db = Db::open(url).await.unwrap();
        db.migrate(NOW).await.unwrap();
        let blobs = format!("file:{}", self.dir.path().join("blobs").display());
        let clock = Arc::new(ManualClock::at(NOW + ahead));
        let origin = Origin::parse("http://localhost:8080").unwrap();
        let site_host = origin.host.clone();
        let app = App::new(Dependencies {
            checker: None,
            dns: None,
            webhooks: None,
            store: Store::new(db, Blobs::open(&blobs, 64 << 10).unwrap()),
            clock: clock.clone(),
            // Nodes have different names, which come from their randomness.
            minter: Minter::seeded(NEXT_SEED.fetch_add(1, Ordering::Relaxed)),
            keys: Keys::new([7; 32]),
            hosts: Hosts::new(origin.clone(), origin, site_host, true),
            settings: self.settings.clone(),
            mailer: None,
            facilitator: None,
            card_processor: None,
        });
        Node { app, clock }
    }

    async fn rows<T: Send + 'static>(
        &self,
        sql: &'static str,
        map: fn(&Row<'_>) -> Result<T, DbError>,
    ) -> Vec<T> {
        let db = Db::open(self.url()).await.unwrap();
        let rows = db.list(sql, Vec::new(), map).await.unwrap();
        db.close().await;
        rows
    }

    async fn count(&self, sql: &'static str) -> i64 {
        self.rows(sql, |row| row.int(0)).await[0]
    }

    fn remove(self, nodes: impl IntoIterator<Item = Node>) -> impl Future<Output = ()> {
        // An app is large, so the future does not hold it itself.
        let nodes: Vec<Node> = nodes.into_iter().collect();
        async move {
            for node in nodes {
                node.app.close().await;
            }
            self.database.remove().await;
        }
    }
}

impl Node {
    async fn account(&self) -> Account {
        self.app.create_account("owner@example.org", None, false).await.unwrap()
    }

    /// Publishes a page of this account.
    async fn publish(&self, account: &Account, options: UploadOptions) -> Site {
        let caller = Caller { account: Some(account.clone()), grant_id: None, ip: None, maker: None };
        let created = self.app.create_site(&caller, upload(1), options, None, |_| Vec::new()).await;
        fresh(created.unwrap()).site
    }
}

/// The address of a viewer.
#[expect(clippy::unnecessary_wraps, reason = "the address of a client may be unknown")]
fn viewer(number: u8) -> Option<IpAddr> {
    Some([203, 0, 113, number].into())
}
