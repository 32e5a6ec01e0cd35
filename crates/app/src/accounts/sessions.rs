//! Dashboard sessions: started after a sign-in, authenticated on every page, listed and ended by their owner.

use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::session::{NOTED_EVERY, Session, SignInMethod, ends_at};
use dropleaf_core::{Error, Result, secret};
use dropleaf_store::{DbError, Stmt, sessions};

/// A newly started session; its secret is available only here.
#[derive(Debug)]
pub struct NewSession {
    pub session: Session,
    pub secret: String,
}

impl App {
    /// A new session and the statement that inserts it, for the transaction of the sign-in.
    pub(crate) fn session_stmts(
        &self,
        account_id: &str,
        method: SignInMethod,
        device: &str,
    ) -> (NewSession, Stmt) {
        let new = self.new_session(account_id, method, device);
        let stmt = sessions::insert(&new.session, &secret::hash(&new.secret));
        (new, stmt)
    }

    pub(crate) fn new_session(&self, account_id: &str, method: SignInMethod, device: &str) -> NewSession {
        let now = self.now();
        let secret = self.minter.token();
        let session = Session {
            id: self.minter.id("sess"),
            account_id: account_id.to_owned(),
            device: device.to_owned(),
            method,
            proved_at: now,
            created_at: now,
            last_seen_at: now,
            expires_at: ends_at(now, now),
        };
        NewSession { session, secret }
    }

    /// Starts a session for an authenticated person.
    pub async fn start_session(
        &self,
        account: &Account,
        method: SignInMethod,
        device: &str,
    ) -> Result<NewSession> {
        let (new, stmt) = self.session_stmts(&account.id, method, device);
        self.store.commit(vec![stmt]).await?;
        Ok(new)
    }

    /// The account and session of this session secret, if it is still valid.
    pub async fn find_session(&self, secret: &str) -> Result<Option<(Account, Session)>> {
        let now = self.now();
        let found = self.store.find_session(&secret::hash(secret), now).await?;
        if let Some((_, session)) = &found
            && session.last_seen_at <= now - NOTED_EVERY
        {
            let ends_at = ends_at(session.proved_at, now);
            let stmt = sessions::touch(&session.id, now, ends_at, now - NOTED_EVERY);
            if let Err(error) = self.store.commit(vec![stmt]).await {
                tracing::warn!(%error, session = session.id, "session last use not recorded");
            }
        }
        Ok(found)
    }

    pub async fn list_sessions(&self, account: &Account) -> Result<Vec<Session>> {
        Ok(self.store.list_sessions(&account.id, self.now()).await?)
    }

    pub async fn end_session(&self, account: &Account, id: &str) -> Result<()> {
        match self.store.commit(vec![sessions::delete(&account.id, id)]).await {
            Ok(_) => Ok(()),
            Err(DbError::Guard(sessions::UNKNOWN)) => Err(Error::not_found("session")),
            Err(error) => Err(error.into()),
        }
    }

    pub async fn end_other_sessions(&self, account: &Account, id: &str) -> Result<()> {
        self.store.commit(vec![sessions::delete_others(&account.id, id)]).await?;
        Ok(())
    }

    /// The CSRF token for forms of this session.
    pub fn form_token(&self, session_id: &str) -> String {
        secret::text(&self.keys.mac("form", session_subject(session_id).as_bytes()))
    }

    /// Verifies a form token in constant time.
    pub fn is_form_token(&self, session_id: &str, token: &str) -> bool {
        let is = |mac: Vec<u8>| self.keys.verify("form", session_subject(session_id).as_bytes(), &mac);
        secret::bytes(token).is_some_and(is)
    }

    /// The form token for a browser without a session, derived from its visit cookie. The browser chooses the cookie
    /// value, so it never counts as a session.
    pub fn visit_token(&self, visit: &str) -> String {
        secret::text(&self.keys.mac("form", visit_subject(visit).as_bytes()))
    }

    pub fn is_visit_token(&self, visit: &str, token: &str) -> bool {
        let is = |mac: Vec<u8>| self.keys.verify("form", visit_subject(visit).as_bytes(), &mac);
        secret::bytes(token).is_some_and(is)
    }

    /// A new visit id for a browser without a session.
    pub fn new_visit_id(&self) -> String {
        self.minter.token()
    }
}

fn session_subject(id: &str) -> String {
    format!("session\0{id}")
}

fn visit_subject(name: &str) -> String {
    format!("visit\0{name}")
}
