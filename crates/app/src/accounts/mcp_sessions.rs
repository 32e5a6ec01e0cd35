//! Sessions of older MCP revisions: stored, so that they survive a restart, and bound to the credential they were started
//! with.

use crate::accounts::oauth::Identity;
use crate::app::App;
use crate::publish::CONFLICT_RETRIES;
use dropleaf_core::{Code, Error, Result};
use dropleaf_store::mcp_sessions::{self as rows, McpSession};
use dropleaf_store::{DbError, counters, mcp_answers};

/// A session is deleted after this long without use.
pub(crate) const UNUSED_SECONDS: i64 = 30 * 86_400;
/// Sessions per account; the least recently used are ended first.
const SESSIONS_MOST: i64 = 100;
/// A use is recorded at most this often, so the last use is known to the minute.
const TOUCH_INTERVAL: i64 = 60;
/// The longest `initialize` message that is read; what is stored of it is far shorter.
pub const PARAMS_BYTES: usize = 64 * 1024;
/// The longest parameters that are stored with a session.
const KEPT_BYTES: usize = 4 * 1024;
/// Resources one session may watch.
pub const WATCHED_MOST: usize = 500;

impl App {
    /// Stores a new session. Returns the ids of the sessions that were ended to make room.
    pub async fn create_mcp_session(&self, who: &Identity, id: &str, params: &str) -> Result<Vec<String>> {
        if params.len() > KEPT_BYTES {
            return Err(Error::new(Code::TooLarge, "The initialize parameters are too long."));
        }
        let now = self.now();
        let session = McpSession {
            id: id.to_owned(),
            account_id: who.account.id.clone(),
            principal: who.rate_limit_key.clone(),
            params: params.to_owned(),
            watched: None,
            created_at: now,
            last_seen_at: now,
        };
        let stmts = vec![
            counters::lock_account(&session.account_id, now),
            rows::insert(&session),
            rows::delete_beyond(&session.account_id, id, SESSIONS_MOST - 1),
        ];
        let outcomes = self.store.commit(stmts).await?;
        Ok(outcomes.last().map(rows::deleted).transpose()?.unwrap_or_default())
    }

    /// Whether this session exists and belongs to the caller; checked for every request of a session. Always read from
    /// the database, so that a session ended on another node ends here too.
    pub async fn has_mcp_session(&self, who: &Identity, id: &str) -> Result<bool> {
        let Some(seen_at) = self.store.mcp_session_seen_at(id, &who.rate_limit_key).await? else {
            return Ok(false);
        };
        self.touch_session(id, seen_at).await?;
        Ok(true)
    }

    /// The session with all its data, if it belongs to this caller.
    pub async fn find_mcp_session(&self, who: &Identity, id: &str) -> Result<Option<McpSession>> {
        let found = self.store.find_mcp_session(id).await?;
        let Some(session) = found.filter(|session| session.principal == who.rate_limit_key) else {
            return Ok(None);
        };
        self.touch_session(id, session.last_seen_at).await?;
        Ok(Some(session))
    }

    async fn touch_session(&self, id: &str, seen_at: i64) -> Result<()> {
        let now = self.now();
        if seen_at <= now - TOUCH_INTERVAL {
            self.store.commit(vec![rows::touch(id, now, now - TOUCH_INTERVAL)]).await?;
        }
        Ok(())
    }

    /// Adds a resource to those a session watches.
    pub async fn watch_in_mcp_session(&self, who: &Identity, id: &str, entry: &str) -> Result<()> {
        self.change_watched(who, id, |watched| {
            if watched.len() >= WATCHED_MOST && !watched.iter().any(|known| known == entry) {
                let detail = format!(
                    "A session can subscribe to at most {WATCHED_MOST} resources. Unsubscribe from some."
                );
                return Err(Error::new(Code::TooMany, detail));
            }
            watched.retain(|known| known != entry);
            watched.push(entry.to_owned());
            Ok(())
        })
        .await
    }

    /// Removes a watched resource. It is not an error if it was not watched.
    pub async fn unwatch_in_mcp_session(&self, who: &Identity, id: &str, entry: &str) -> Result<()> {
        self.change_watched(who, id, |watched| {
            watched.retain(|known| known != entry);
            Ok(())
        })
        .await
    }

    async fn change_watched(
        &self,
        who: &Identity,
        id: &str,
        change: impl Fn(&mut Vec<String>) -> Result<()>,
    ) -> Result<()> {
        for _ in 0..CONFLICT_RETRIES {
            let session =
                self.find_mcp_session(who, id).await?.ok_or_else(|| Error::not_found("MCP session"))?;
            let mut after = session.watched.clone().unwrap_or_default();
            change(&mut after)?;
            if session.watched.as_ref() == Some(&after) {
                return Ok(());
            }
            match self.store.commit(vec![rows::watch(id, session.watched.as_deref(), &after)]).await {
                Ok(_) => return Ok(()),
                Err(DbError::Guard(rows::CHANGED)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::new(Code::Conflict, "Another request is changing the session. Try again."))
    }

    pub async fn end_mcp_session(&self, who: &Identity, id: &str) -> Result<()> {
        let answers = mcp_answers::delete_of_session(&who.account.id, id);
        self.store.commit(vec![rows::delete(id, &who.rate_limit_key), answers]).await?;
        Ok(())
    }
}
