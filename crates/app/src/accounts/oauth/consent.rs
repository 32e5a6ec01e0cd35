//! OAuth consent: a request waits for an answer in the session it was shown in, and the first answer counts.

use super::GrantedClient;
use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::oauth::request::AccessRequest;
use dropleaf_core::oauth::{CODE_SECONDS, MOST_REQUESTS, REQUEST_SECONDS};
use dropleaf_core::session::Session;
use dropleaf_core::{Result, secret};
use dropleaf_store::oauth_codes::{self, CodeRow};
use dropleaf_store::{DbError, Stmt, oauth_requests};

/// An answered consent request, and where to redirect the client.
#[derive(Debug)]
pub struct ConsentAnswer {
    pub redirect_uri: String,
    pub state: Option<String>,
    /// None if the person refused.
    pub code: Option<String>,
}

impl App {
    /// Stores a client's request until the person in this session answers. Returns the id that the consent page sends
    /// back.
    pub async fn store_consent_request(&self, session: &Session, request: &AccessRequest) -> Result<String> {
        let id = self.minter.token();
        let stmt =
            oauth_requests::insert(&secret::hash(&id), &session.id, request, self.now() + REQUEST_SECONDS);
        let room = oauth_requests::keep_newest(&session.id, MOST_REQUESTS - 1);
        self.store.commit(vec![room, stmt]).await?;
        Ok(id)
    }

    /// Records the answer. None if nothing waits in this session: it was answered, has expired, or was shown in another
    /// session.
    pub async fn answer_consent(
        &self,
        account: &Account,
        session: &Session,
        id: &str,
        allow: bool,
    ) -> Result<Option<ConsentAnswer>> {
        let (hash, now) = (secret::hash(id), self.now());
        let Some(request) = self.store.find_request(&hash, &session.id, now).await? else { return Ok(None) };
        let mut stmts = vec![oauth_requests::take(&hash, &session.id, now)];
        let code = allow.then(|| self.minter.token());
        if let Some(code) = &code {
            stmts.extend(self.grant_code(account, &request, code));
        }
        match self.commit_for_account(&account.id, stmts).await {
            Ok(_) => {
                Ok(Some(ConsentAnswer { redirect_uri: request.redirect_uri, state: request.state, code }))
            }
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
