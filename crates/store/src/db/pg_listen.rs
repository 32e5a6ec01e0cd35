//! Hears on PostgreSQL what other nodes changed, through a connection of its own.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::AsyncMessage;

use super::DbError;
use super::pg::PgDb;

const CHANNEL: &str = "LISTEN dropleaf_changed";
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// A dead connection says nothing by itself: it is asked this often.
const HEARTBEAT: Duration = Duration::from_secs(10);

impl PgDb {
    pub(super) fn listen<F>(self: &Arc<Self>, on_change: F) -> impl Future<Output = ()> + Send + use<F>
    where
        F: Fn(&str) + Send + Sync + 'static,
    {
        let db = Arc::clone(self);
        async move {
            let mut wait = FIRST_WAIT;
            while !db.pool.is_closed() {
                let mut heard = false;
                let ended = db.hear(&on_change, &mut heard).await;
                if heard {
                    wait = FIRST_WAIT;
                }
                if let Err(error) = ended {
                    tracing::warn!(%error, "not hearing changes from other nodes; trying again");
                }
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(LONGEST_WAIT);
            }
        }
    }

    /// One connection's life. `heard` is set once the server listens.
    async fn hear<F: Fn(&str)>(&self, on_change: &F, heard: &mut bool) -> Result<(), DbError> {
        let (client, mut connection) = self.config.connect(self.tls.clone()).await?;
        let messages = async {
            while let Some(message) = poll_fn(|cx| connection.poll_message(cx)).await {
                if let AsyncMessage::Notification(notice) = message? {
                    on_change(notice.payload());
                }
            }
            Err(DbError::unavailable("the connection ended"))
        };
        let alive = async {
            client.batch_execute(CHANNEL).await?;
            // What changed before this moment was not heard.
            on_change("*");
            *heard = true;
            loop {
                tokio::time::sleep(HEARTBEAT).await;
                let answer = tokio::time::timeout(HEARTBEAT, client.batch_execute("SELECT 1")).await;
                answer.map_err(|_| DbError::unavailable("the server does not answer"))??;
            }
        };
        tokio::select! {
            ended = messages => ended,
            ended = alive => ended,
        }
    }
}
