//! Serves a sandbox over HTTP until a signal stops it. What the sandbox answers is left to its own command.

use crate::config::Listen;
use crate::serve;
use crate::tasks::Tasks;
use anyhow::{Context, Result};
use axum::Router;
use dropleaf_store::{Blobs, Db, Store};
use std::path::Path;
use std::time::Duration;
use tokio::net::TcpListener;

const PATIENCE: Duration = Duration::from_secs(10);

/// Bound sockets, and the URL under which clients reach them.
#[derive(Debug)]
pub(super) struct SandboxServer {
    listeners: Vec<TcpListener>,
    pub(super) url: String,
}

impl SandboxServer {
    /// Listens at the given address, or at the default one.
    pub(super) async fn bind(listen: Option<&str>, default: &str) -> Result<Self> {
        let listen = Listen::parse(listen.unwrap_or(default)).context("in `--listen`")?;
        let listeners = serve::bind(&listen).await?;
        let port = listeners.first().context("no address to listen on")?.local_addr()?.port();
        let host = if listen.host.contains(':') { format!("[{}]", listen.host) } else { listen.host };
        Ok(Self { listeners, url: format!("http://{host}:{port}") })
    }

    /// Serves until a signal, then ends the tasks.
    pub(super) async fn run(self, router: Router, tasks: Tasks) -> Result<()> {
        for listener in self.listeners {
            let (router, stopping) = (router.clone(), tasks.stopping.clone());
            tasks.spawn(async move {
                let served =
                    axum::serve(listener, router).with_graceful_shutdown(stopping.cancelled_owned()).await;
                if let Err(error) = served {
                    tracing::warn!(%error, "listener failed");
                }
            });
        }
        serve::wait_for_signal().await?;
        tasks.finish(PATIENCE).await;
        Ok(())
    }
}

/// Opens and migrates the sandbox's own database file.
pub(super) async fn open_store(file: &Path, now: i64) -> Result<Store> {
    let dir = file.parent().context("the database file must be in a folder")?;
    std::fs::create_dir_all(dir)
        .with_context(|| format!("cannot create the data folder {}", dir.display()))?;
    let db = Db::open(&format!("sqlite:{}", file.display())).await;
    let db = db.context("cannot open the database")?;
    db.migrate(now).await.context("cannot migrate the database")?;
    // It stores no pages.
    let blobs = Blobs::open(&format!("file:{}", dir.join("blobs").display()), 0);
    Ok(Store::new(db, blobs.context("cannot open the blob store")?))
}
