//! Extractors for the person behind a dashboard request.

use super::{Cookie, WebError};
use crate::http::state::ApiState;
use axum::extract::FromRequestParts;
use dropleaf_core::account::Account;
use dropleaf_core::session::Session;
use dropleaf_core::{Code, Error};
use dropleaf_pages::dashboard::{Done, Section, Shell};
use http::Method;
use http::request::Parts;

/// A signed-in person. Everyone else is redirected to sign in, and then back.
#[derive(Debug, Clone)]
pub(in crate::http) struct Person {
    pub account: Account,
    pub session: Session,
    /// The token that every form of this session must carry.
    pub form_token: String,
}

/// A person who operates this server; for everyone else the address is 404.
#[derive(Debug, Clone)]
pub(in crate::http) struct Operator(pub Person);

/// A person who may or may not be signed in.
#[derive(Debug, Clone)]
pub(in crate::http) struct MaybePerson(pub Option<Person>);

/// A browser that is not signed in, named by a cookie. A new one must be sent its cookie: see [`Visit::cookie`].
#[derive(Debug, Clone)]
pub(in crate::http) struct Visit {
    pub name: String,
    pub form_token: String,
    /// Whether the browser did not send the cookie.
    pub(super) is_new: bool,
}

/// Lifetime of the cookie.
const VISIT_SECONDS: i64 = 86_400;

impl Visit {
    /// The `Set-Cookie` value, if the browser does not have the cookie yet.
    pub(in crate::http) fn cookie(&self, state: &ApiState) -> Option<http::HeaderValue> {
        self.is_new.then(|| Cookie::Visit.set(state, &self.name, VISIT_SECONDS))
    }
}

impl Person {
    /// The page shell for this person.
    pub(in crate::http) fn shell(&self, section: Section, done: Option<Done>) -> Shell<'_> {
        Shell {
            section,
            // Accounts created by a payment have no address.
            email: Some(self.account.email.as_deref().unwrap_or("no email address")),
            is_operator: self.account.is_operator,
            is_suspended: self.account.suspended.is_some(),
            form_token: &self.form_token,
            done,
        }
    }

    /// Requires a recent sign-in, for actions that grant lasting access or affect others. Otherwise the person has to
    /// sign in again and comes back to this path.
    pub(in crate::http) fn require_recent(&self, state: &ApiState, back: &str) -> Result<(), WebError> {
        if self.session.is_recent(state.app.now()) {
            Ok(())
        } else {
            Err(WebError::ProveAgain(back.to_owned()))
        }
    }
}

impl FromRequestParts<ApiState> for MaybePerson {
    type Rejection = WebError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, WebError> {
        let Some(secret) = Cookie::Session.read(parts, state) else { return Ok(Self(None)) };
        let found = state.app.find_session(&secret).await?;
        Ok(Self(found.map(|(account, session)| {
            let form_token = state.app.form_token(&session.id);
            Person { account, session, form_token }
        })))
    }
}

impl FromRequestParts<ApiState> for Person {
    type Rejection = WebError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, WebError> {
        let MaybePerson(person) = MaybePerson::from_request_parts(parts, state).await?;
        person.ok_or_else(|| {
            // A form cannot be sent again after signing in, so the person returns to the dashboard.
            let back = if parts.method == Method::GET {
                parts.uri.path_and_query().map_or("/dashboard", http::uri::PathAndQuery::as_str)
            } else {
                "/dashboard"
            };
            WebError::sign_in_first(back)
        })
    }
}

impl FromRequestParts<ApiState> for Operator {
    type Rejection = WebError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, WebError> {
        let person = Person::from_request_parts(parts, state).await?;
        if person.account.is_operator { Ok(Self(person)) } else { Err(Error::plain(Code::NotFound).into()) }
    }
}

impl FromRequestParts<ApiState> for Visit {
    type Rejection = WebError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, WebError> {
        let sent = Cookie::Visit.read(parts, state);
        let is_new = sent.is_none();
        let name = sent.unwrap_or_else(|| state.app.new_visit_id());
        let form_token = state.app.visit_token(&name);
        Ok(Self { name, form_token, is_new })
    }
}
