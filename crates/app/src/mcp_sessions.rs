//! Sessions of MCP's older revisions: kept, so that a restart strands nobody, and bound to the credential they were
//! begun with.

use crate::app::App;
use crate::oauth::Identity;
use dropleaf_core::{Code, Error, Result};
use dropleaf_store::mcp_sessions::{self as rows, McpSession};
use quick_cache::sync::Cache;

/// A session that nobody has used for so long is forgotten.
pub(crate) const KEPT_SECONDS: i64 = 30 * 86_400;
/// A credential has at most so many; the ones used longest ago make room.
const MOST: i64 = 200;
/// A use is noted at most this often.
const NOTED_SECONDS: i64 = 3600;
/// Longest parameters: a client's name and its abilities need a small part of this.
const PARAMS_BYTES: usize = 64 * 1024;

/// Who may use which session, by its id. That never changes while a session lives.
pub(crate) type McpOwners = Cache<String, String>;

impl App {
    /// Keeps a session that has just begun.
    pub async fn begin_mcp_session(&self, who: &Identity, id: &str, params: &str) -> Result<()> {
        if params.len() > PARAMS_BYTES {
            return Err(Error::new(Code::TooLarge, "The parameters of initialize are too long."));
        }
        let now = self.now();
        let session = McpSession {
            id: id.to_owned(),
            account_id: who.account.id.clone(),
            principal: who.counted_as.clone(),
            params: params.to_owned(),
            watched: Vec::new(),
            created_at: now,
            last_seen_at: now,
        };
        let stmts = vec![rows::insert(&session), rows::delete_beyond(&session.principal, MOST)];
        self.store.commit(stmts).await?;
        self.mcp_owners.insert(session.id, session.principal);
        Ok(())
    }

    /// The session, if it is this caller's.
    pub async fn find_mcp_session(&self, who: &Identity, id: &str) -> Result<Option<McpSession>> {
        let found = self.store.find_mcp_session(id).await?;
        let Some(session) = found.filter(|session| session.principal == who.counted_as) else {
            return Ok(None);
        };
        let now = self.now();
        if session.last_seen_at <= now - NOTED_SECONDS {
            self.store.commit(vec![rows::touch(id, now, now - NOTED_SECONDS)]).await?;
        }
        self.mcp_owners.insert(session.id.clone(), session.principal.clone());
        Ok(Some(session))
    }

    /// Whether this caller may use the session: what every request with one is asked first.
    pub async fn may_use_mcp_session(&self, who: &Identity, id: &str) -> Result<bool> {
        if let Some(owner) = self.mcp_owners.get(id) {
            return Ok(owner == who.counted_as);
        }
        Ok(self.find_mcp_session(who, id).await?.is_some())
    }

    /// Keeps what a session watches.
    pub async fn watch_in_mcp_session(&self, who: &Identity, id: &str, watched: &[String]) -> Result<()> {
        self.store.commit(vec![rows::watch(id, &who.counted_as, watched)]).await?;
        Ok(())
    }

    pub async fn end_mcp_session(&self, who: &Identity, id: &str) -> Result<()> {
        self.store.commit(vec![rows::delete(id, &who.counted_as)]).await?;
        self.mcp_owners.remove(id);
        Ok(())
    }
}
