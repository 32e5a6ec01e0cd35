//! Issues tokens for an authorization code or a refresh token, each of which works once. A second use means that it was
//! stolen, and ends the whole grant. ADR 0010.

use crate::app::App;
use dropleaf_core::oauth::grant::Grant;
use dropleaf_core::oauth::token::OAuthTokenKind;
use dropleaf_core::oauth::{
    ACCESS_SECONDS, GRANT_SECONDS, LOST_SECONDS, OAuthCode, OAuthFailure, REFRESH_SECONDS, pkce, resource,
};
use dropleaf_core::scope::Scopes;
use dropleaf_core::{Result, secret};
use dropleaf_store::oauth_tokens::{self, TokenRow};
use dropleaf_store::{DbError, Stmt, oauth_clients, oauth_codes, oauth_grants};

/// A client that a person grants access.
#[derive(Debug, Clone, Copy)]
pub struct GrantedClient<'a> {
    pub id: &'a str,
    pub name: &'a str,
}

/// The tokens issued to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    pub access_token: String,
    pub refresh_token: String,
    pub expires_in: i64,
    pub scopes: Scopes,
}

/// An authorization code and the parameters that must accompany it.
#[derive(Debug, Clone, Copy)]
pub struct CodeExchange<'a> {
    pub code: &'a str,
    pub verifier: &'a str,
    /// Where the code was sent, if the client states it.
    pub redirect_uri: Option<&'a str>,
    pub resources: &'a [&'a str],
}

fn invalid_grant(why: &str) -> OAuthFailure {
    OAuthFailure::new(OAuthCode::InvalidGrant, why)
}

impl App {
    /// Grants a client access and issues tokens at once.
    pub async fn grant_access(
        &self,
        client: GrantedClient<'_>,
        account_id: &str,
        scopes: Scopes,
        resource: &str,
    ) -> Result<Tokens> {
        let (tokens, stmts) = self.grant_access_stmts(client, account_id, scopes, resource);
        self.store.commit(stmts).await?;
        Ok(tokens)
    }

    /// The same as statements, for the transaction that justifies the access.
    pub(crate) fn grant_access_stmts(
        &self,
        client: GrantedClient<'_>,
        account_id: &str,
        scopes: Scopes,
        resource: &str,
    ) -> (Tokens, Vec<Stmt>) {
        let (grant, mut stmts) = self.begin_grant(client, account_id, scopes, resource);
        let (tokens, issued) = self.issue_tokens(&grant, scopes, None);
        stmts.extend(issued);
        (tokens, stmts)
    }

    /// A new grant and the statements that create it.
    pub(crate) fn begin_grant(
        &self,
        client: GrantedClient<'_>,
        account_id: &str,
        scopes: Scopes,
        resource: &str,
    ) -> (Grant, Vec<Stmt>) {
        let now = self.now();
        let grant = Grant {
            id: self.minter.id("grant"),
            client_id: client.id.to_owned(),
            client_name: client.name.to_owned(),
            account_id: account_id.to_owned(),
            scopes,
            resource: resource.to_owned(),
            created_at: now,
            last_used_at: None,
            ends_at: now + GRANT_SECONDS,
            revoked_at: None,
        };
        let stmts = vec![oauth_grants::insert(&grant), oauth_clients::touch(client.id, now)];
        (grant, stmts)
    }

    /// Issues new tokens of a grant. The refresh token always has all granted scopes; the access token may have fewer.
    fn issue_tokens(&self, grant: &Grant, scopes: Scopes, parent: Option<&[u8; 32]>) -> (Tokens, Vec<Stmt>) {
        let now = self.now();
        let row = |kind, scopes, seconds: i64| TokenRow {
            kind,
            scopes,
            issued_at: now,
            expires_at: (now + seconds).min(grant.ends_at),
            used_at: None,
        };
        let access = row(OAuthTokenKind::Access, scopes, ACCESS_SECONDS);
        let refresh = row(OAuthTokenKind::Refresh, grant.scopes, REFRESH_SECONDS);
        let tokens = Tokens {
            access_token: OAuthTokenKind::Access.mint(&self.minter),
            refresh_token: OAuthTokenKind::Refresh.mint(&self.minter),
            expires_in: access.expires_at - now,
            scopes,
        };
        let stmts = vec![
            oauth_tokens::insert(&secret::hash(&tokens.access_token), &grant.id, &access, parent),
            oauth_tokens::insert(&secret::hash(&tokens.refresh_token), &grant.id, &refresh, parent),
        ];
        (tokens, stmts)
    }

    /// Exchanges an authorization code for tokens.
    pub async fn exchange_code(
        &self,
        client_id: &str,
        trade: CodeExchange<'_>,
    ) -> Result<Tokens, OAuthFailure> {
        let bad = || {
            invalid_grant("The code is unknown, already used or expired, or was issued to another client.")
        };
        let (hash, now) = (secret::hash(trade.code), self.now());
        let (code, grant) = self.store.find_code(&hash).await?.ok_or_else(bad)?;
        if code.used_at.is_some() {
            self.end_grant(&grant.id).await?;
            return Err(bad());
        }
        if grant.client_id != client_id || code.expires_at <= now || !grant.is_live(now) {
            return Err(bad());
        }
        if trade.redirect_uri.is_some_and(|uri| uri != code.redirect_uri) {
            return Err(invalid_grant("The redirect_uri does not match the authorization request."));
        }
        if !pkce::is_proved(trade.verifier, &code.challenge) {
            return Err(invalid_grant("The code_verifier does not match the code_challenge."));
        }
        resource::require_granted(&grant.resource, trade.resources.iter().copied())?;
        let (tokens, issued) = self.issue_tokens(&grant, grant.scopes, None);
        let mut stmts = vec![oauth_codes::take(&hash, now), oauth_grants::require_live(&grant.id, now)];
        stmts.extend(issued);
        match self.store.commit(stmts).await {
            Ok(_) => Ok(tokens),
            Err(DbError::Guard(oauth_codes::USED)) => {
                self.end_grant(&grant.id).await?;
                Err(bad())
            }
            Err(DbError::Guard(oauth_grants::DEAD)) => Err(bad()),
            Err(error) => Err(error.into()),
        }
    }

    /// Exchanges a refresh token for new tokens; it cannot be used again.
    pub async fn refresh_tokens(
        &self,
        client_id: &str,
        refresh_token: &str,
        scope: Option<&str>,
        resources: &[&str],
    ) -> Result<Tokens, OAuthFailure> {
        let bad = || {
            invalid_grant(
                "The refresh token is unknown, already used, revoked or expired, or belongs to another client.",
            )
        };
        if !OAuthTokenKind::Refresh.fits(refresh_token) {
            return Err(bad());
        }
        let (hash, now) = (secret::hash(refresh_token), self.now());
        let (token, grant) = self.store.find_token(&hash).await?.ok_or_else(bad)?;
        if grant.client_id != client_id || !grant.is_live(now) || token.expires_at <= now {
            return Err(bad());
        }
        let scopes = narrow_scopes(grant.scopes, scope)?;
        resource::require_granted(&grant.resource, resources.iter().copied())?;
        let (tokens, issued) = self.issue_tokens(&grant, scopes, Some(&hash));
        let with = |claim: Stmt| {
            [claim, oauth_grants::require_live(&grant.id, now)].into_iter().chain(issued.clone()).collect()
        };
        let mut outcome = self.store.commit(with(oauth_tokens::take_refresh(&hash, now))).await.map(|_| ());
        if matches!(outcome, Err(DbError::Guard(oauth_tokens::REUSED)))
            && self.settings.tolerates_lost_refresh
        {
            outcome = self
                .commit_credential_change(
                    &grant.id,
                    with(oauth_tokens::replace(&hash, now, now - LOST_SECONDS)),
                )
                .await;
        }
        match outcome {
            Ok(()) => Ok(tokens),
            Err(DbError::Guard(oauth_tokens::REUSED)) => {
                self.end_grant(&grant.id).await?;
                Err(bad())
            }
            Err(DbError::Guard(oauth_grants::DEAD)) => Err(bad()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The scopes of the next access token: all granted ones, or the requested subset.
fn narrow_scopes(granted: Scopes, asked: Option<&str>) -> Result<Scopes, OAuthFailure> {
    let asked = asked.unwrap_or_default();
    match Scopes::parse(asked) {
        Some(scopes) if scopes.is_empty() => Ok(granted),
        Some(scopes) if scopes.is_within(granted) => Ok(scopes),
        _ => Err(OAuthFailure::new(
            OAuthCode::InvalidScope,
            "The scope is unknown or exceeds what was granted.",
        )),
    }
}
