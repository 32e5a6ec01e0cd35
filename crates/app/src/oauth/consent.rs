//! Consent: a page waits for an answer in the session it was shown to, and the first answer counts.

use super::GrantedClient;
use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::oauth::request::AccessRequest;
use dropleaf_core::oauth::{CODE_SECONDS, MOST_REQUESTS, REQUEST_SECONDS};
use dropleaf_core::session::Session;
use dropleaf_core::{Result, secret};
use dropleaf_store::oauth_codes::{self, CodeRow};
use dropleaf_store::{DbError, Stmt, oauth_requests};

/// A consent that was given or refused, and where the program hears of it.
#[derive(Debug)]
pub struct Answered {
    pub redirect_uri: String,
    pub state: Option<String>,
    /// None: the person refused.
    pub code: Option<String>,
}

impl App {
    /// Keeps what a program asks for until the person in this session answers; what the page must send back.
    pub async fn ask_consent(&self, session: &Session, request: &AccessRequest) -> Result<String> {
        let id = self.minter.token();
        let stmt =
            oauth_requests::insert(&secret::hash(&id), &session.id, request, self.now() + REQUEST_SECONDS);
        let room = oauth_requests::keep_newest(&session.id, MOST_REQUESTS - 1);
        self.store.commit(vec![room, stmt]).await?;
        Ok(id)
    }

    /// Lets the program in, or not. None when there is nothing to answer in this session: it was answered, it waited too
    /// long, or it was shown to somebody else.
    pub async fn answer_consent(
        &self,
        account: &Account,
        session: &Session,
        id: &str,
        allow: bool,
    ) -> Result<Option<Answered>> {
        let (hash, now) = (secret::hash(id), self.now());
        let Some(request) = self.store.find_request(&hash, &session.id, now).await? else { return Ok(None) };
        let mut stmts = vec![oauth_requests::take(&hash, &session.id, now)];
        let code = allow.then(|| self.minter.token());
        if let Some(code) = &code {
            stmts.extend(self.grant_code(account, &request, code));
        }
        match self.commit_as(&account.id, stmts).await {
            Ok(_) => Ok(Some(Answered { redirect_uri: request.redirect_uri, state: request.state, code })),
            Err(DbError::Guard(oauth_requests::ENDED)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn grant_code(&self, account: &Account, request: &AccessRequest, code: &str) -> Vec<Stmt> {
        let client = GrantedClient { id: &request.client_id, name: &request.client_name };
        let (grant, mut stmts) = self.begin_grant(client, &account.id, request.scopes, &request.resource);
        let row = CodeRow {
            redirect_uri: request.redirect_uri.clone(),
            challenge: request.challenge.clone(),
            expires_at: self.now() + CODE_SECONDS,
            used_at: None,
        };
        stmts.push(oauth_codes::insert(&secret::hash(code), &grant.id, &row));
        stmts
    }
}
