//! Stores MCP sessions in the database, restricted to one caller. A session in memory is only a copy, which any node
//! can restore.

use super::session_cache::SessionCache;
use super::streams::Streams;
use dropleaf_app::{App, Identity};
use dropleaf_core::Error;
use rmcp::transport::streamable_http_server::session::{
    SessionManager, SessionState, SessionStore, SessionStoreError,
};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, PoisonError};
use tokio::sync::{Mutex, MutexGuard};

/// The sessions of the caller of this request.
#[derive(Debug)]
pub(super) struct Own {
    pub app: Arc<App>,
    pub who: Identity,
    pub sessions: Arc<SessionCache>,
    pub streams: Arc<Streams>,
    /// Why the session could not be deleted: the library reports success all the same.
    pub deletion_error: Arc<std::sync::Mutex<Option<Error>>>,
}

#[async_trait::async_trait]
impl SessionStore for Own {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        let Some(session) = self.app.find_mcp_session(&self.who, id).await? else { return Ok(None) };
        Ok(Some(SessionState::new(serde_json::from_str(&session.params)?)))
    }

    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        let params = serde_json::to_string(&state.initialize_params)?;
        let ended = self.app.create_mcp_session(&self.who, id, &params).await?;
        // All streams first: closing one session may wait or fail, which must not keep the streams of others open.
        for id in &ended {
            self.streams.end(id);
        }
        for id in ended {
            // A session without a row cannot be reached, so it is removed from memory at once.
            if let Err(error) = self.sessions.close_session(&id.into()).await {
                tracing::debug!(%error, "MCP session not closed cleanly to make room");
            }
        }
        Ok(())
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        if let Err(error) = self.app.end_mcp_session(&self.who, id).await {
            let text = error.to_string();
            *self.deletion_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            return Err(text.into());
        }
        self.streams.end(id);
        Ok(())
    }
}

/// Serializes requests that restore the same session: the library checks for it and restores it in two steps, and fails
/// if another request restored it in between.
#[derive(Debug)]
pub(super) struct Restoring([Mutex<()>; 64]);

impl Default for Restoring {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Restoring {
    /// Hold the guard while the library handles a request with this session. None if the session is in memory.
    pub(super) async fn turn(&self, sessions: &SessionCache, id: &str) -> Option<MutexGuard<'_, ()>> {
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        let lock = self.0.get(usize::try_from(hasher.finish() % 64).unwrap_or_default())?;
        // Checked after locking: another request may have restored it while this one waited.
        let turn = lock.lock().await;
        (!sessions.holds(id).await).then_some(turn)
    }
}
