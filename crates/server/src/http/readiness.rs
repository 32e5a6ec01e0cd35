//! Whether this node should get requests: its database answers, and it is not about to stop. Concurrent checks share one
//! query, and its result is kept for a moment, so that checks cannot load the database.

use crate::drain::Drain;
use dropleaf_app::App;
use dropleaf_core::{Code, Error, Result};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

/// How long a check may take, including the time it waits for another one.
const CHECK_LIMIT: Duration = Duration::from_secs(2);
/// How long the database may take: less, so that a result that comes too late is still kept.
const QUERY_LIMIT: Duration = Duration::from_millis(1800);
/// How long a result is kept.
const KEPT: Duration = Duration::from_secs(1);
/// `Retry-After` of a node that is not ready.
const RETRY_SECONDS: i64 = 5;

/// The requests that a node may be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadyFor {
    Everything,
    /// Views of pages, which may go on for a while without the database.
    Views,
}

#[derive(Debug)]
pub(crate) struct Readiness {
    app: Arc<App>,
    drain: Arc<Drain>,
    /// Locked during a query, so that the others wait for its result.
    last: Mutex<Option<DatabaseCheck>>,
}

#[derive(Debug, Clone, Copy)]
struct DatabaseCheck {
    at: Instant,
    is_available: bool,
}

impl Readiness {
    pub(crate) fn new(app: Arc<App>, drain: Arc<Drain>) -> Self {
        Self { app, drain, last: Mutex::default() }
    }

    /// Fails with the reason if the node is not ready.
    pub(super) async fn check(&self, requests: ReadyFor) -> Result<()> {
        if self.drain.has_begun() {
            let detail = "This server is stopping. Send requests to another node.";
            return Err(Error::new(Code::NotReady, detail).retry_after(RETRY_SECONDS));
        }
        match timeout(CHECK_LIMIT, self.is_database_available()).await {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) if requests == ReadyFor::Views && self.app.can_show_stale_pages() => Ok(()),
            Ok(false) | Err(_) => Err(Error::plain(Code::StorageUnavailable).retry_after(RETRY_SECONDS)),
        }
    }

    async fn is_database_available(&self) -> bool {
        let mut last = self.last.lock().await;
        if let Some(check) = *last
            && check.at.elapsed() < KEPT
        {
            return check.is_available;
        }
        let is_available = match timeout(QUERY_LIMIT, self.app.ping()).await {
            Ok(Ok(())) => true,
            Ok(Err(error)) => {
                tracing::warn!(%error, source = ?error.source, "not ready: the database is not available");
                false
            }
            Err(_) => {
                tracing::warn!("not ready: the database did not answer in time");
                false
            }
        };
        *last = Some(DatabaseCheck { at: Instant::now(), is_available });
        is_available
    }
}
