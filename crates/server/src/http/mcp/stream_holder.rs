//! Decides how long a stream stays open: until the server stops, its session ends, or its credential is no longer
//! valid.

use crate::http::state::ApiState;
use dropleaf_app::{App, CredentialChanges, Identity};
use dropleaf_core::Code;
use futures_util::future::BoxFuture;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Several changes within this time cause one check.
const GATHER: Duration = Duration::from_millis(100);

/// The caller on whose behalf a stream is open.
pub(super) struct StreamHolder {
    pub who: Identity,
    /// The bearer token. It is never logged or stored.
    pub bearer: String,
    pub session: Option<String>,
}

impl fmt::Debug for StreamHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamHolder").field("principal", &self.who.rate_limit_key).finish_non_exhaustive()
    }
}

impl StreamHolder {
    /// Resolves when the stream must end. `ended` is cancelled when the session ends.
    pub(super) fn until_over(self, state: &ApiState, ended: CancellationToken) -> BoxFuture<'static, ()> {
        let (app, stopping) = (Arc::clone(&state.app), state.tasks.stopping.clone());
        let check_every = state.resolved.mcp_check_every;
        // Subscribed now, not when the future is first polled.
        let changes = app.credential_changes(&self.who);
        Box::pin(async move {
            tokio::select! {
                () = stopping.cancelled() => {}
                () = ended.cancelled() => {}
                () = self.refused(&app, changes, check_every) => {}
            }
        })
    }

    async fn refused(&self, app: &App, mut changes: CredentialChanges, check_every: Duration) {
        loop {
            match tokio::time::timeout(check_every, changes.next()).await {
                Ok(true) => tokio::time::sleep(GATHER).await,
                Ok(false) => return,
                Err(_) => {}
            }
            changes.skip();
            if !self.is_valid(app).await {
                return;
            }
        }
    }

    /// Whether a request with this credential would still be accepted. A storage error refuses no one. Like a request,
    /// this records a use of the session: a client that only listens is using it.
    async fn is_valid(&self, app: &App) -> bool {
        match app.authenticate_bearer(&self.bearer).await {
            Ok(who) if who.rate_limit_key != self.who.rate_limit_key => return false,
            Err(error) if error.code == Code::InvalidCredential => return false,
            _ => {}
        }
        match &self.session {
            Some(id) => !matches!(app.has_mcp_session(&self.who, id).await, Ok(false)),
            None => true,
        }
    }
}
