//! The MCP sessions in this node's memory, at most a fixed number. The least recently used one is evicted first, but
//! none while it answers a request. Its row in the database stays, so the next request that names it restores it.

use futures_util::{Stream, StreamExt};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::WorkerTransport;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, LocalSessionWorker,
};
use rmcp::transport::streamable_http_server::session::{
    RestoreOutcome, ServerSseMessage, SessionId, SessionManager,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Sessions in memory on one node; each takes up to 80 KiB.
const MAX_SESSIONS: usize = 500;

#[derive(Debug)]
pub(super) struct SessionCache {
    local: LocalSessionManager,
    most: usize,
    recency: Arc<Mutex<Recency>>,
}

/// Sessions in the order of their last use.
#[derive(Debug, Default)]
struct Recency {
    uses: u64,
    last_use: HashMap<SessionId, u64>,
    by_use: BTreeMap<u64, SessionId>,
    /// How many requests each session is answering.
    answering: HashMap<SessionId, usize>,
    /// How many evicted instances of each session have not reported their end yet.
    evicted: HashMap<SessionId, usize>,
}

/// A request that a session is answering, until this is dropped.
#[derive(Debug)]
struct Answering {
    id: SessionId,
    recency: Arc<Mutex<Recency>>,
}

impl Drop for Answering {
    fn drop(&mut self) {
        let mut recency = lock(&self.recency);
        if let Some(count) = recency.answering.get_mut(&self.id) {
            *count -= 1;
            if *count == 0 {
                recency.answering.remove(&self.id);
            }
        }
    }
}

fn lock(recency: &Mutex<Recency>) -> MutexGuard<'_, Recency> {
    recency.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recency {
    fn insert(&mut self, id: &SessionId) {
        self.remove(id);
        self.uses += 1;
        self.last_use.insert(id.clone(), self.uses);
        self.by_use.insert(self.uses, id.clone());
    }

    fn remove(&mut self, id: &SessionId) {
        if let Some(use_number) = self.last_use.remove(id) {
            self.by_use.remove(&use_number);
        }
    }

    /// Does nothing for a session that has left memory in the meantime.
    fn touch(&mut self, id: &SessionId) {
        if self.last_use.contains_key(id) {
            self.insert(id);
        }
    }

    /// Never evicts the newest: it is about to be used.
    fn take_least_recent(&mut self, most: usize, newest: &SessionId) -> Vec<SessionId> {
        let excess = self.last_use.len().saturating_sub(most);
        let idle = self.by_use.values().filter(|id| *id != newest && !self.answering.contains_key(*id));
        let ids: Vec<_> = idle.take(excess).cloned().collect();
        for id in &ids {
            self.remove(id);
            *self.evicted.entry(id.clone()).or_default() += 1;
        }
        ids
    }

    /// Whether the session that ends is an evicted instance. A new instance with the same id may have been restored.
    fn take_evicted(&mut self, id: &SessionId) -> bool {
        let Some(count) = self.evicted.get_mut(id) else { return false };
        *count -= 1;
        if *count == 0 {
            self.evicted.remove(id);
        }
        true
    }
}

impl SessionCache {
    /// `keep_alive`: a session without a message for this long is removed from memory in any case.
    pub(super) fn new(keep_alive: Duration) -> Self {
        Self::with_most(keep_alive, MAX_SESSIONS)
    }

    fn with_most(keep_alive: Duration, most: usize) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(keep_alive);
        Self { local, most, recency: Arc::default() }
    }

    fn recency(&self) -> MutexGuard<'_, Recency> {
        lock(&self.recency)
    }

    fn answering(&self, id: &SessionId) -> Answering {
        *self.recency().answering.entry(id.clone()).or_default() += 1;
        Answering { id: id.clone(), recency: Arc::clone(&self.recency) }
    }

    pub(super) async fn holds(&self, id: &str) -> bool {
        self.local.sessions.read().await.contains_key(id)
    }

    async fn admit(&self, id: &SessionId) {
        let evicted = {
            let mut recency = self.recency();
            recency.insert(id);
            recency.take_least_recent(self.most, id)
        };
        for id in evicted {
            if let Err(error) = self.local.close_session(&id).await {
                tracing::debug!(%error, "MCP session not closed cleanly on eviction");
            }
        }
    }
}

impl SessionManager for SessionCache {
    type Error = LocalSessionManagerError;
    type Transport = WorkerTransport<LocalSessionWorker>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let (id, transport) = self.local.create_session().await?;
        self.admit(&id).await;
        Ok((id, transport))
    }

    async fn restore_session(&self, id: SessionId) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        let outcome = self.local.restore_session(id.clone()).await?;
        self.admit(&id).await;
        Ok(outcome)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.recency().touch(id);
        self.local.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        {
            let mut recency = self.recency();
            // The library calls this for each instance whose service has ended, evicted ones included.
            if recency.take_evicted(id) {
                return Ok(());
            }
            recency.remove(id);
        }
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let answering = self.answering(id);
        let stream = self.local.create_stream(id, message).await?;
        Ok(stream.inspect(move |_| {
            // Dropped with the stream.
            let _ = &answering;
        }))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.resume(id, last_event_id).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn least_recently_used_session_leaves_memory_first() {
        let sessions = SessionCache::with_most(Duration::from_mins(1), 2);
        let (first, _one) = sessions.create_session().await.unwrap();
        let (second, _two) = sessions.create_session().await.unwrap();
        assert!(sessions.has_session(&first).await.unwrap());
        let (third, _three) = sessions.create_session().await.unwrap();
        assert!(!sessions.holds(&second).await, "the first one was used since");
        assert!(sessions.holds(&first).await && sessions.holds(&third).await);
        let restored = sessions.restore_session(second.clone()).await.unwrap();
        assert!(matches!(restored, RestoreOutcome::Restored(_)));
        assert!(sessions.holds(&second).await && !sessions.holds(&first).await);
        assert!(!sessions.has_session(&first).await.unwrap(), "asking for it does not bring it back");
        // Both evicted instances report their end.
        for id in [&first, &second] {
            sessions.close_session(id).await.unwrap();
        }
        for id in [&second, &third] {
            sessions.close_session(id).await.unwrap();
        }
        let recency = sessions.recency();
        assert!(recency.last_use.is_empty() && recency.by_use.is_empty(), "nothing is left behind");
        assert!(recency.evicted.is_empty());
    }

    #[tokio::test]
    async fn late_end_of_an_evicted_instance_leaves_the_restored_one() {
        let sessions = SessionCache::with_most(Duration::from_mins(1), 1);
        let (first, _one) = sessions.create_session().await.unwrap();
        let (second, _two) = sessions.create_session().await.unwrap();
        assert!(!sessions.holds(&first).await);
        let restored = sessions.restore_session(first.clone()).await.unwrap();
        assert!(matches!(restored, RestoreOutcome::Restored(_)));
        sessions.close_session(&first).await.unwrap();
        assert!(sessions.holds(&first).await, "only the evicted instance has ended");
        sessions.close_session(&first).await.unwrap();
        assert!(!sessions.holds(&first).await && !sessions.holds(&second).await);
        assert!(sessions.recency().last_use.is_empty());
    }

    #[tokio::test]
    async fn session_stays_in_memory_while_it_answers() {
        let sessions = SessionCache::with_most(Duration::from_mins(1), 1);
        let (first, _one) = sessions.create_session().await.unwrap();
        let answering = sessions.answering(&first);
        let (second, _two) = sessions.create_session().await.unwrap();
        assert!(sessions.holds(&first).await && sessions.holds(&second).await);
        drop(answering);
        let (third, _three) = sessions.create_session().await.unwrap();
        assert!(!sessions.holds(&first).await && !sessions.holds(&second).await);
        assert!(sessions.holds(&third).await);
        assert!(sessions.recency().answering.is_empty());
    }
}
