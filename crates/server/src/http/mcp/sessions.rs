//! Where the library keeps sessions: in the database, through the eyes of one caller.

use dropleaf_app::{App, Identity};
use rmcp::transport::streamable_http_server::session::{SessionState, SessionStore, SessionStoreError};
use std::sync::Arc;

/// The sessions of whoever sent the request at hand.
#[derive(Debug)]
pub(super) struct Own {
    pub app: Arc<App>,
    pub who: Identity,
}

#[async_trait::async_trait]
impl SessionStore for Own {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        let Some(session) = self.app.find_mcp_session(&self.who, id).await? else { return Ok(None) };
        Ok(Some(SessionState::new(serde_json::from_str(&session.params)?)))
    }

    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        let params = serde_json::to_string(&state.initialize_params)?;
        Ok(self.app.begin_mcp_session(&self.who, id, &params).await?)
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        Ok(self.app.end_mcp_session(&self.who, id).await?)
    }
}

/// Stands in until it is known who asks.
#[derive(Debug)]
pub(super) struct Nobody;

#[async_trait::async_trait]
impl SessionStore for Nobody {
    async fn load(&self, _: &str) -> Result<Option<SessionState>, SessionStoreError> {
        Ok(None)
    }

    async fn store(&self, _: &str, _: &SessionState) -> Result<(), SessionStoreError> {
        Err("a session needs somebody whose it is".into())
    }

    async fn delete(&self, _: &str) -> Result<(), SessionStoreError> {
        Ok(())
    }
}
