//! `dropleaf facilitator`: runs the sandbox alone, with the HTTP API of x402 facilitators. It verifies every payment and
//! settles it in its own database; no chain, no money. For testing a server in live mode.

use crate::config::{Config, Listen};
use crate::tasks::Tasks;
use crate::{serve, tls};
use anyhow::{Context, Result};
use axum::extract::{DefaultBodyLimit, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use dropleaf_app::{Facilitator, FacilitatorCall, FacilitatorReply, NoResponse, Sandbox};
use dropleaf_core::{Clock, SystemClock};
use dropleaf_pay::facilitator::ReplyStatus;
use dropleaf_store::{Blobs, Db, Store};
use http::{StatusCode, header};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Chosen next to the server's own default port.
const LISTEN: &str = "localhost:8402";
/// The same limit that we apply to a facilitator's responses.
const BODY_BYTES: usize = 256 * 1024;
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) async fn run(config: Config, listen: Option<&str>) -> Result<()> {
    tls::install_provider();
    let listen = Listen::parse(listen.unwrap_or(LISTEN)).context("in `--listen`")?;
    let networks = config.networks()?;
    let listeners = serve::bind(&listen).await?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    let store = open(Path::new(&config.data_dir), clock.now()).await?;
    let port = listeners.first().context("no address to listen on")?.local_addr()?.port();
    let host = if listen.host.contains(':') { format!("[{}]", listen.host) } else { listen.host };
    let names: Vec<_> = networks.iter().map(ToString::to_string).collect();
    let sandbox = Arc::new(Sandbox::new(store.clone(), clock, networks));
    let tasks = Tasks::default();
    for listener in listeners {
        let (router, stopping) = (router(Arc::clone(&sandbox)), tasks.stopping.clone());
        tasks.spawn(async move {
            let served =
                axum::serve(listener, router).with_graceful_shutdown(stopping.cancelled_owned()).await;
            if let Err(error) = served {
                tracing::warn!(%error, "listener failed");
            }
        });
    }
    println!("Sandbox facilitator listening on http://{host}:{port}");
    println!("It simulates {}. No real money is transferred.", names.join(" and "));
    serve::wait_for_signal().await?;
    tasks.finish(PATIENCE).await;
    store.db.close().await;
    Ok(())
}

/// Its own database file, so that it can share the folder of a server.
async fn open(dir: &Path, now: i64) -> Result<Store> {
    std::fs::create_dir_all(dir)
        .with_context(|| format!("cannot create the data folder {}", dir.display()))?;
    let db = Db::open(&format!("sqlite:{}", dir.join("facilitator.db").display())).await;
    let db = db.context("cannot open the database")?;
    db.migrate(now).await.context("cannot migrate the database")?;
    // It stores no pages.
    let blobs = Blobs::open(&format!("file:{}", dir.join("blobs").display()), 0);
    Ok(Store::new(db, blobs.context("cannot open the blob store")?))
}

fn router(sandbox: Arc<Sandbox>) -> Router {
    Router::new()
        .route(
            "/verify",
            post(async |State(at), body: String| answer(send(at, FacilitatorCall::Verify, body).await)),
        )
        .route(
            "/settle",
            post(async |State(at), body: String| answer(send(at, FacilitatorCall::Settle, body).await)),
        )
        .route("/supported", get(async |State(at): State<Arc<Sandbox>>| answer(at.supported().await)))
        .route("/healthz", get(async || Json(json!({ "status": "ok" }))))
        .layer(DefaultBodyLimit::max(BODY_BYTES))
        .with_state(sandbox)
}

async fn send(
    sandbox: Arc<Sandbox>,
    call: FacilitatorCall,
    body: String,
) -> Result<FacilitatorReply, NoResponse> {
    sandbox.send(call, &body).await
}

fn answer(outcome: Result<FacilitatorReply, NoResponse>) -> Response {
    match outcome {
        Ok(FacilitatorReply { status, body }) => {
            let status = match status {
                ReplyStatus::Success => StatusCode::OK,
                ReplyStatus::Rejected => StatusCode::BAD_REQUEST,
                ReplyStatus::Failed => StatusCode::INTERNAL_SERVER_ERROR,
            };
            (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
        }
        Err(NoResponse(why)) => {
            tracing::error!(why, "the ledger does not respond");
            let error = Json(json!({ "error": "internal" }));
            (StatusCode::INTERNAL_SERVER_ERROR, error).into_response()
        }
    }
}
