//! `/mcp`: the same acts as the API, for clients of the Model Context Protocol. Spec §4 MCP.
//!
//! `door` decides who may come in and with which session, before the library sees the request; `handler` is what the
//! library calls; `tools` is the table of what can be done.

mod answer;
mod card;
mod door;
mod handler;
mod prompts;
mod resources;
mod schema;
mod sessions;
mod tools;

use super::api::ApiState;
use axum::Router;
use axum::routing::{any, get};
use handler::Handler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;
use std::time::Duration;

/// A session that rests longer than this leaves memory; its row brings it back.
const RESTS: Duration = Duration::from_hours(1);
/// How often a silent stream says that it is alive.
const BEAT: Duration = Duration::from_secs(15);

type Service = StreamableHttpService<Handler, LocalSessionManager>;

/// What the door holds.
pub(super) struct Mcp {
    state: ApiState,
    service: Service,
}

pub(super) fn routes<S: Clone + Send + Sync + 'static>(state: &ApiState) -> Router<S> {
    let mcp = Arc::new(Mcp { state: state.clone(), service: service(state) });
    Router::new()
        .route("/mcp", any(door::answer))
        .route(card::BESIDE, get(card::beside))
        .route("/.well-known/mcp/server-card.json", get(card::well_known))
        .route("/.well-known/ai-catalog.json", get(card::catalog))
        .with_state(mcp)
}

fn service(state: &ApiState) -> Service {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(RESTS);
    let mut config = StreamableHttpServerConfig::default()
        .with_sse_keep_alive(Some(BEAT))
        .with_cancellation_token(state.tasks.stopping.child_token())
        .with_max_request_body_bytes(usize::try_from(door::most_bytes(state)).unwrap_or(usize::MAX))
        // The Host header has chosen this face of the service already, and the door looks at Origin.
        .disable_allowed_hosts()
        .disable_allowed_origins();
    // Replaced for each request by the store of its caller.
    config.session_store = Some(Arc::new(sessions::Nobody));
    let handler = Handler::new(state.clone());
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(sessions), config)
}
