//! `dropleaf facilitator`: runs the sandbox alone, with the HTTP API of x402 facilitators. It verifies every payment and
//! settles it in its own database; no chain, no money. For testing a server in live mode.

use super::options::{StorageOptions, operate};
use super::sandbox_server::{SandboxServer, open_store};
use crate::config::Config;
use crate::tasks::Tasks;
use crate::tls;
use anyhow::Result;
use axum::extract::{DefaultBodyLimit, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use clap::Args;
use dropleaf_app::{Facilitator, FacilitatorCall, FacilitatorReply, NoResponse, Sandbox};
use dropleaf_core::{Clock, SystemClock};
use dropleaf_pay::facilitator::ReplyStatus;
use http::{StatusCode, header};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// Chosen next to the server's own default port.
const LISTEN: &str = "localhost:8402";
/// The same limit that we apply to a facilitator's responses.
const BODY_BYTES: usize = 256 * 1024;
/// Its own database file, so that it can share the folder of a server.
const DATABASE: &str = "facilitator.db";

#[derive(Debug, Args)]
pub(super) struct RunFacilitator {
    /// Where to listen (default: localhost:8402)
    #[arg(long, global = true, value_name = "HOST:PORT")]
    listen: Option<String>,
    #[command(flatten)]
    storage: StorageOptions,
}

impl RunFacilitator {
    pub(super) fn run(self, env: Vec<(String, String)>) -> Result<()> {
        let listen = self.listen;
        operate(self.storage, env, async |config| serve(config, listen.as_deref()).await)
    }
}

async fn serve(config: Config, listen: Option<&str>) -> Result<()> {
    tls::install_provider();
    let networks = config.networks()?;
    let server = SandboxServer::bind(listen, LISTEN).await?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    let store = open_store(&Path::new(&config.data_dir).join(DATABASE), clock.now()).await?;
    let names: Vec<_> = networks.iter().map(ToString::to_string).collect();
    let sandbox = Arc::new(Sandbox::new(store.clone(), clock, networks));
    println!("Sandbox facilitator listening on {}", server.url);
    println!("It simulates {}. No real money is transferred.", names.join(" and "));
    server.run(router(sandbox), Tasks::default()).await?;
    store.db.close().await;
    Ok(())
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
