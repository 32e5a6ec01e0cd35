//! Lists and revokes OAuth grants. A grant's tokens and the keys its client created end with it, at once and on every
//! node.

use crate::accounts::suspension::require_active_account;
use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::oauth::grant::Grant;
use dropleaf_core::oauth::token::OAuthTokenKind;
use dropleaf_core::{Error, Result, secret};
use dropleaf_store::{DbError, Stmt, api_keys, mcp_sessions, oauth_grants, oauth_tokens};

impl App {
    /// The grants of OAuth clients that act for this account.
    pub async fn list_grants(&self, account: &Account) -> Result<Vec<Grant>> {
        Ok(self.store.list_grants(&account.id, self.now()).await?)
    }

    pub async fn revoke_grant(&self, account: &Account, id: &str) -> Result<()> {
        let stmts = revoke_stmts(oauth_grants::revoke_of(&account.id, id, self.now()), id);
        match self.commit_credential_change(id, require_active_account(Some(&account.id), stmts)).await {
            Ok(()) => Ok(()),
            Err(DbError::Guard(oauth_grants::UNKNOWN)) => Err(Error::not_found("app")),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends a grant after token theft, or when its client revokes it.
    pub(crate) async fn end_grant(&self, id: &str) -> Result<()> {
        tracing::info!(grant = id, "OAuth grant ended");
        Ok(self.commit_credential_change(id, revoke_stmts(oauth_grants::revoke(id, self.now()), id)).await?)
    }

    /// Revokes a token (RFC 7009): a refresh token with its whole grant, an access token alone. A token that is unknown
    /// or belongs to another client is ignored.
    pub async fn revoke_token(&self, client_id: &str, token: &str) -> Result<()> {
        if !OAuthTokenKind::Access.fits(token) && !OAuthTokenKind::Refresh.fits(token) {
            return Ok(());
        }
        let hash = secret::hash(token);
        match self.store.find_token(&hash).await? {
            Some((row, grant)) if grant.client_id == client_id => match row.kind {
                OAuthTokenKind::Refresh => self.end_grant(&grant.id).await,
                OAuthTokenKind::Access => {
                    Ok(self.commit_credential_change(&grant.id, vec![oauth_tokens::delete(&hash)]).await?)
                }
            },
            _ => Ok(()),
        }
    }
}

/// Everything that ends with a grant. Its MCP sessions are found through its keys, so they are deleted first.
fn revoke_stmts(revoke: Stmt, id: &str) -> Vec<Stmt> {
    vec![revoke, mcp_sessions::delete_of_grant(id), api_keys::delete_of_grant(id)]
}
