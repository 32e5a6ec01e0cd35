//! Serves `/mcp`: the operations of the API for clients of the Model Context Protocol. Spec §4 MCP.
//!
//! `endpoint` checks credential and session before the library sees the request, and `message` the size of a message;
//! `handler` is called by the library, and `answer_limit` bounds the wait for its answers; `tools` is the table of tools;
//! `streams` and `stream_holder` manage open streams; `kept_answer` and `replayed_answer` let a client fetch an answer again
//! after its connection was cut.

mod answer_id;
mod answer_limit;
mod argument_types;
mod arguments;
mod card;
mod endpoint;
mod event_text;
mod handler;
mod headers;
mod initialize;
mod kept_answer;
mod message;
mod next_step;
mod openapi;
mod page_card;
mod prompts;
mod replayed_answer;
mod resources;
mod rpc;
mod schema;
mod sender;
mod session_cache;
mod sessions;
mod stream_holder;
mod streams;
mod subscription;
mod tool_call;
mod tool_result;
mod tools;

use super::extract::JsonLimit;
use crate::http::state::ApiState;
use axum::Router;
use axum::routing::any;
use handler::Handler;
use rmcp::transport::streamable_http_server::session::SessionStore;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use session_cache::SessionCache;
use sessions::Restoring;
use std::sync::Arc;
use std::time::Duration;
use streams::Streams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) use card::{DESCRIPTION, document};
pub(super) use handler::{NAME, TITLE};

/// How long clients may cache what changes only with the server program, in milliseconds.
const FIXED_MS: u64 = 3_600_000;

/// OpenAPI tag of the endpoint's operations.
pub(super) const TAG: &str = "MCP";
/// A session idle for longer is removed from memory; its row restores it.
const RESTS: Duration = Duration::from_mins(10);
/// Maximum interval between keep-alive comments on a silent stream.
const BEAT: Duration = Duration::from_secs(15);

type Service = StreamableHttpService<Handler, SessionCache>;

/// The maximum message length for this upload limit, however the page in it is escaped.
pub(super) const fn longest_message(upload_bytes: u64) -> JsonLimit {
    JsonLimit::of_text(upload_bytes).plus(1 << 20)
}

/// Shared state of the endpoint.
#[derive(Debug)]
pub(super) struct Mcp {
    state: ApiState,
    /// The sessions in memory.
    sessions: Arc<SessionCache>,
    restoring: Restoring,
    streams: Arc<Streams>,
}

pub(super) fn routes<S: Clone + Send + Sync + 'static>(state: &ApiState) -> Router<S> {
    let mcp = Arc::new(Mcp {
        state: state.clone(),
        sessions: Arc::new(SessionCache::new(RESTS)),
        restoring: Restoring::default(),
        streams: Arc::default(),
    });
    operations().split_for_parts().0.with_state(mcp)
}

/// The endpoint and the documents that describe it, with their OpenAPI documentation.
pub(super) fn operations() -> OpenApiRouter<Arc<Mcp>> {
    // Every method goes through `endpoint`, including those the protocol does not define.
    let (mut schemas, mut paths, _) = routes!(openapi::post, openapi::open_stream, openapi::end_session);
    schemas.extend(tools::components());
    openapi::add_tools(&mut paths);
    OpenApiRouter::new()
        .routes((schemas, paths, any(endpoint::answer)))
        .routes(routes!(card::beside))
        .routes(routes!(card::well_known))
        .routes(routes!(card::catalog))
        .routes(routes!(card::mcp_catalog))
}

impl Mcp {
    /// The library's service for one request: it reaches sessions only through `store` and operations through
    /// `handler`.
    fn service(&self, handler: Handler, store: impl SessionStore) -> Service {
        // The library is not told about a shutdown: running calls may complete, and streams end themselves.
        let mut config = StreamableHttpServerConfig::default()
            .with_sse_keep_alive(Some(self.beat()))
            // Only `kept_answer` offers to resume a stream.
            .with_sse_retry(None)
            .with_max_request_body_bytes(usize::try_from(self.longest().raw).unwrap_or(usize::MAX))
            // The Host header has already been matched, and `endpoint` checks Origin.
            .disable_allowed_hosts()
            .disable_allowed_origins();
        config.session_store = Some(Arc::new(store));
        StreamableHttpService::new(move || Ok(handler.clone()), Arc::clone(&self.sessions), config)
    }

    /// Time limit for the answer to a message, as for every other request.
    fn patience(&self) -> Duration {
        Duration::from_secs(self.state.resolved.config.limits.request_seconds.max(1))
    }

    fn longest(&self) -> JsonLimit {
        longest_message(self.state.resolved.config.limits.upload_bytes)
    }

    /// At most half the idle timeout of a connection.
    fn beat(&self) -> Duration {
        let idle = Duration::from_secs(self.state.resolved.config.limits.idle_seconds.max(1));
        BEAT.min(idle / 2)
    }
}
