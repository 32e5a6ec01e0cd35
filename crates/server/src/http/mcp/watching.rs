//! How long something that stays open may go on: until the server stops, its session ends, or the credential it was opened
//! with would not be let in any more.

use crate::http::api::ApiState;
use dropleaf_app::{App, CredentialChanges, Identity};
use dropleaf_core::Code;
use futures_util::future::BoxFuture;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Several changes in a row are one reason to look.
const GATHER: Duration = Duration::from_millis(100);

/// In whose name something is open.
pub(super) struct Holder {
    pub who: Identity,
    /// The credential itself. It is not written anywhere.
    pub bearer: String,
    pub session: Option<String>,
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Holder").field("principal", &self.who.counted_as).finish_non_exhaustive()
    }
}

impl Holder {
    /// Ends when it is over. `ended` is somebody's word that the session is.
    pub(super) fn until_over(self, state: &ApiState, ended: CancellationToken) -> BoxFuture<'static, ()> {
        let (app, stopping) = (Arc::clone(&state.app), state.tasks.stopping.clone());
        let check_every = state.resolved.mcp_check_every;
        // Heard from now on, not only once somebody waits.
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
            if !self.is_welcome(app).await {
                return;
            }
        }
    }

    /// Whether a request with this credential would be let in. A storage that does not answer refuses nobody.
    async fn is_welcome(&self, app: &App) -> bool {
        match app.identify(&self.bearer).await {
            Ok(who) if who.counted_as != self.who.counted_as => return false,
            Err(error) if error.code == Code::InvalidCredential => return false,
            _ => {}
        }
        match &self.session {
            Some(id) => !matches!(app.has_mcp_session(&self.who, id).await, Ok(false)),
            None => true,
        }
    }
}
