//! `dropleaf processor`: runs the sandbox card processor alone, with the HTTP API of Stripe. It charges no card; for testing a
//! server in live mode, and clients.

mod api;
mod events;
mod fault;
mod payment_form;
mod reply;
mod step;

use super::options::{SettingsOptions, operate};
use super::sandbox_server::{SandboxServer, open_store};
use crate::outbound::Webhook;
use crate::tasks::Tasks;
use crate::tls;
use anyhow::{Context, Result};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use clap::Args;
use dropleaf_app::SandboxProcessor;
use dropleaf_core::{Clock, Minter, SystemClock};
use events::Events;
use fault::Faults;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Chosen next to the port of the sandbox facilitator.
const LISTEN: &str = "localhost:8403";
/// The sandbox itself refuses forms of more than 64 KiB.
const BODY_BYTES: usize = 256 * 1024;

#[derive(Debug, Args)]
pub(super) struct Processor {
    /// Where to listen (default: localhost:8403)
    #[arg(long, global = true, value_name = "HOST:PORT")]
    listen: Option<String>,
    /// The database file; without it, the data is kept in a temporary folder and deleted at the end
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Send the events of payments to this address, such as <http://localhost:8080/webhooks/stripe>
    #[arg(long, value_name = "URL", requires = "webhook_secret")]
    webhook_url: Option<String>,
    /// The secret that events are signed with: whsec_…
    #[arg(long, value_name = "SECRET", requires = "webhook_url")]
    webhook_secret: Option<String>,
    #[command(flatten)]
    settings: SettingsOptions,
}

/// What the handlers share.
#[derive(Debug)]
struct ProcessorState {
    sandbox: SandboxProcessor,
    events: Events,
    faults: Faults,
    minter: Arc<Minter>,
    stopping: CancellationToken,
}

impl Processor {
    pub(super) fn run(self, env: Vec<(String, String)>) -> Result<()> {
        let settings = self.settings.clone();
        operate(settings, env, async |_| self.serve().await)
    }

    async fn serve(self) -> Result<()> {
        tls::install_provider();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
        let minter = Arc::new(Minter::system());
        let webhook = match (&self.webhook_url, &self.webhook_secret) {
            (Some(url), Some(secret)) => Some(Webhook::new(url, secret, Arc::clone(&clock))?),
            _ => None,
        };
        let server = SandboxServer::bind(self.listen.as_deref(), LISTEN).await?;
        let temporary = TempDir::new().context("cannot create a temporary folder")?;
        let file = self.data.unwrap_or_else(|| temporary.path().join("processor.db"));
        // A bare file name has no parent folder to create.
        let file = if file.components().count() == 1 { Path::new(".").join(file) } else { file };
        let store = open_store(&file, clock.now()).await?;
        let form_url = format!("{}/form", server.url);
        let sandbox = SandboxProcessor::new(store.clone(), clock, Arc::clone(&minter), form_url);
        sandbox.delete_old().await?;
        let tasks = Tasks::default();
        let (events, deliver) = Events::new(webhook);
        tasks.spawn(deliver.run(tasks.stopping.clone()));
        let (faults, stopping) = (Faults::default(), tasks.stopping.clone());
        let state = Arc::new(ProcessorState { sandbox, events, faults, minter, stopping });
        println!("Sandbox card processor listening on {}", server.url);
        println!("It accepts any key that begins with sk_test_. No card is charged.");
        server.run(router(state), tasks).await?;
        store.db.close().await;
        Ok(())
    }
}

fn router(state: Arc<ProcessorState>) -> Router {
    Router::new()
        .route("/form/{session}", get(payment_form::show).post(payment_form::submit))
        .route("/sandbox/faults", post(fault::add).delete(fault::clear))
        .route("/sandbox/redeliver", post(events::redeliver))
        .route("/sandbox/{id}/{step}", post(step::take))
        .route("/healthz", get(async || axum::Json(json!({ "status": "ok" }))))
        // Every other path belongs to the API, which answers unknown ones itself.
        .fallback(api::call)
        .layer(DefaultBodyLimit::max(BODY_BYTES))
        .with_state(state)
}
