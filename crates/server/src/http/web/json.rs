//! Reads JSON sent by scripts of our own pages, under the same rules as forms. The form token is in a header.

use super::form::require_token;
use super::origin::require_own_origin;
use super::{Fields, Person, Visit, WebError};
use crate::http::small_body;
use crate::http::state::ApiState;
use axum::extract::{FromRequest, FromRequestParts, Request};
use dropleaf_core::{Code, Error};
use serde_json::Value;

/// JSON from a page of a signed-in person.
#[derive(Debug)]
pub(in crate::http) struct SignedJson {
    pub person: Person,
    pub body: Value,
}

/// JSON from a page of a browser that need not be signed in.
#[derive(Debug)]
pub(in crate::http) struct VisitJson {
    pub visit: Visit,
    pub body: Value,
}

impl FromRequest<ApiState> for SignedJson {
    type Rejection = WebError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, WebError> {
        let (mut parts, body) = request.into_parts();
        require_own_origin(&parts, state)?;
        let person = Person::from_request_parts(&mut parts, state).await?;
        require_token(&parts.headers, &Fields::default(), |sent| {
            state.app.is_form_token(&person.session.id, sent)
        })?;
        person.account.check_active()?;
        Ok(Self { person, body: parsed(body).await? })
    }
}

impl FromRequest<ApiState> for VisitJson {
    type Rejection = WebError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, WebError> {
        let (mut parts, body) = request.into_parts();
        require_own_origin(&parts, state)?;
        let visit = Visit::from_request_parts(&mut parts, state).await?;
        require_token(&parts.headers, &Fields::default(), |sent| {
            state.app.is_visit_token(&visit.name, sent)
        })?;
        Ok(Self { visit, body: parsed(body).await? })
    }
}

async fn parsed(body: axum::body::Body) -> Result<Value, Error> {
    let bytes = small_body::read(body, small_body::FORM_BYTES).await?;
    serde_json::from_slice(&bytes).map_err(|_| Error::new(Code::InvalidRequest, "The body is not JSON."))
}
