//! Answers to MCP messages, stored so that a client whose connection was cut can fetch them: from any node, and after a
//! restart. They are bounded in number, size and time, and encrypted, because they may contain secrets.

use crate::accounts::oauth::Identity;
use crate::app::App;
use crate::infra::sealing;
use bytes::Bytes;
use dropleaf_core::{Result, secret};
use dropleaf_store::mcp_answers::{self as rows, McpAnswer};

/// How long an answer can be fetched.
pub const ANSWER_SECONDS: i64 = 300;
/// The longest answer that is stored: more than any answer of a tool that changes something.
pub const ANSWER_BYTES: usize = 4 << 20;
/// Stored answers per account, and their total size; the oldest are deleted first.
const ANSWERS_MOST: i64 = 200;
const ACCOUNT_BYTES: i64 = 16 << 20;

impl App {
    /// A new secret id for an answer.
    pub fn new_mcp_answer_id(&self) -> String {
        self.minter.page_token()
    }

    /// Stores the answer with this id for the session's owner.
    pub async fn store_mcp_answer(
        &self,
        who: &Identity,
        session: &str,
        id: &str,
        answer: &[u8],
    ) -> Result<()> {
        let id_hash = secret::hash(id);
        let stored = McpAnswer {
            id_hash,
            session_id: session,
            account_id: &who.account.id,
            sealed: sealing::seal(&self.minter, self.mcp_answer_key(session, id), &id_hash, answer)?,
            created_at: self.now(),
        };
        let trim = rows::delete_beyond(&who.account.id, ANSWERS_MOST, ACCOUNT_BYTES);
        self.store.commit(vec![rows::insert(&stored), trim]).await?;
        Ok(())
    }

    /// The answer with this id, if it was given in this session. The caller has checked whose session it is.
    pub async fn find_mcp_answer(&self, session: &str, id: &str) -> Result<Option<Bytes>> {
        let id_hash = secret::hash(id);
        let not_before = self.now() - ANSWER_SECONDS;
        let Some(sealed) = self.store.find_mcp_answer(&id_hash, session, not_before).await? else {
            return Ok(None);
        };
        sealing::open(self.mcp_answer_key(session, id), &id_hash, &sealed).map(Some)
    }

    /// Depends on the id, of which only a hash is stored: the database and the server's secret together cannot decrypt the
    /// answer.
    fn mcp_answer_key(&self, session: &str, id: &str) -> [u8; 32] {
        self.keys.mac("mcp answer", format!("{session}\0{id}").as_bytes())
    }
}
