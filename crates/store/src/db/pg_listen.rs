//! Listens for changes of other nodes on PostgreSQL, over a separate connection.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio_postgres::AsyncMessage;

use super::DbError;
use super::error::is_read_only;
use super::pg::PgDb;
use super::pg_pool::within;

/// Passed on whenever listening begins: what has changed before is not known.
pub const LISTENING: &str = "listening";
const CHANNEL: &str = "LISTEN dropleaf_changed";
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// How often the connection is checked, because a dead one gives no sign by itself.
const HEARTBEAT: Duration = Duration::from_secs(3);

impl PgDb {
    pub(super) fn listen<F>(self: &Arc<Self>, on_change: F) -> impl Future<Output = ()> + Send + use<F>
    where
        F: Fn(&str) + Send + Sync + 'static,
    {
        let db = Arc::clone(self);
        async move {
            let mut wait = FIRST_WAIT;
            while !db.pools.is_closed() {
                let mut is_listening = false;
                let ended = db.listen_once(&on_change, &mut is_listening).await;
                if is_listening {
                    wait = FIRST_WAIT;
                }
                if let Err(error) = ended {
                    // What has cut this connection has most likely cut those of the pools too.
                    db.pools.forget_idle();
                    tracing::warn!(%error, "not receiving changes from other nodes; reconnecting");
                }
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(LONGEST_WAIT);
            }
        }
    }

    /// Runs one connection until it fails. `is_listening` is set once the server listens.
    async fn listen_once<F: Fn(&str)>(&self, on_change: &F, is_listening: &mut bool) -> Result<(), DbError> {
        let (client, mut connection) =
            within(self.listen_servers.limit(), self.listen_servers.open()).await??;
        let messages = async {
            while let Some(message) = poll_fn(|cx| connection.poll_message(cx)).await {
                if let AsyncMessage::Notification(notice) = message? {
                    self.replicas.mark_changed(notice.payload());
                    on_change(notice.payload());
                }
            }
            Err(DbError::unavailable("the connection ended"))
        };
        let alive = async {
            let listening = within(HEARTBEAT, client.batch_execute(CHANNEL)).await?;
            // A replica refuses it. Asked again over the pools, because changes may be listened for at another address. Until
            // there is a clear answer, what is known stays in force; a refusal without one counts as a replica.
            if listening.is_ok() {
                self.is_demoted.store(false, Ordering::Relaxed);
            } else if listening.as_ref().is_err_and(is_read_only) {
                let is_demoted = self.is_read_only().await.unwrap_or(true);
                self.is_demoted.store(is_demoted, Ordering::Relaxed);
            }
            listening?;
            // Notifications from before this moment were missed.
            self.replicas.mark_changed("*");
            on_change(LISTENING);
            *is_listening = true;
            loop {
                tokio::time::sleep(HEARTBEAT).await;
                within(HEARTBEAT, client.batch_execute("SELECT 1")).await??;
            }
        };
        tokio::select! {
            ended = messages => ended,
            ended = alive => ended,
        }
    }
}
