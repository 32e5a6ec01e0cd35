//! Reads the forms of our pages, with a size limit, and verifies that one of our pages sent them from this browser.

use super::origin::require_own_origin;
use super::{Person, Visit, WebError};
use crate::http::extract::client_ip;
use crate::http::small_body;
use crate::http::state::ApiState;
use axum::extract::{FromRequest, FromRequestParts, Request};
use dropleaf_core::{Code, Error};
use http::HeaderMap;
use http::request::Parts;
use std::net::IpAddr;

/// The field, and for scripts the header, that carries the form token.
pub(in crate::http) const TOKEN_FIELD: &str = "form_token";
const TOKEN_HEADER: &str = "x-form-token";

/// The submitted fields, in order.
#[derive(Debug, Default)]
pub(in crate::http) struct Fields(Vec<(String, String)>);

impl Fields {
    /// The first value of a field; empty if it is absent.
    pub(in crate::http) fn text(&self, name: &str) -> &str {
        self.find(name).unwrap_or_default()
    }

    pub(in crate::http) fn find(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Every value of a field that may be sent more than once.
    pub(in crate::http) fn all(&self, name: &str) -> Vec<&str> {
        self.0.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str()).collect()
    }

    /// All fields, to show the form again.
    pub(in crate::http) fn typed(&self) -> Vec<(String, String)> {
        self.0.clone()
    }

    /// A checkbox.
    pub(in crate::http) fn is_checked(&self, name: &str) -> bool {
        self.find(name).is_some()
    }
}

/// A form sent by a signed-in person.
#[derive(Debug)]
pub(in crate::http) struct SignedForm {
    pub person: Person,
    pub fields: Fields,
}

/// The same for actions that only remove something of the sender; also allowed while the account is suspended.
#[derive(Debug)]
pub(in crate::http) struct RemovalForm {
    pub person: Person,
    pub fields: Fields,
}

/// A form sent by a browser that need not be signed in.
#[derive(Debug)]
pub(in crate::http) struct VisitForm {
    pub visit: Visit,
    pub fields: Fields,
}

/// A form of a page whose address is the secret: it needs no cookie, only that one of our pages sent it.
#[derive(Debug)]
pub(in crate::http) struct LinkForm {
    pub fields: Fields,
    pub ip: Option<IpAddr>,
}

/// A form of a page that may have been open for longer than the visit cookie lasted.
#[derive(Debug)]
pub(in crate::http) enum LateForm {
    Ours(VisitForm),
    /// Sent from one of our pages by a browser without the cookie. The only permitted response is the form again.
    Forgotten(VisitForm),
}

impl FromRequest<ApiState> for SignedForm {
    type Rejection = WebError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, WebError> {
        let RemovalForm { person, fields } = RemovalForm::from_request(request, state).await?;
        person.account.check_active()?;
        Ok(Self { person, fields })
    }
}

impl FromRequest<ApiState> for RemovalForm {
    type Rejection = WebError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, WebError> {
        let (mut parts, body) = request.into_parts();
        require_own_origin(&parts, state)?;
        let person = Person::from_request_parts(&mut parts, state).await?;
        let fields = read(body).await?;
        require_token(&parts.headers, &fields, |sent| state.app.is_form_token(&person.session.id, sent))?;
        Ok(Self { person, fields })
    }
}

impl FromRequest<ApiState> for VisitForm {
    type Rejection = WebError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, WebError> {
        match LateForm::from_request(request, state).await? {
            LateForm::Ours(form) => Ok(form),
            LateForm::Forgotten(_) => Err(Error::plain(Code::CrossSite).into()),
        }
    }
}

impl FromRequest<ApiState> for LinkForm {
    type Rejection = WebError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, WebError> {
        let (parts, body) = request.into_parts();
        require_own_origin(&parts, state)?;
        Ok(Self { fields: read(body).await?, ip: client_ip(&parts, state) })
    }
}

impl FromRequest<ApiState> for LateForm {
    type Rejection = WebError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, WebError> {
        let (mut parts, body) = request.into_parts();
        require_own_origin(&parts, state)?;
        let visit = Visit::from_request_parts(&mut parts, state).await?;
        let fields = read(body).await?;
        if visit.is_new {
            return Ok(Self::Forgotten(VisitForm { visit, fields }));
        }
        require_token(&parts.headers, &fields, |sent| state.app.is_visit_token(&visit.name, sent))?;
        Ok(Self::Ours(VisitForm { visit, fields }))
    }
}

/// A visitor who uploads a file from one of our pages without an account. Cookies are not read; the operation checks the
/// quota of the address.
#[derive(Debug)]
pub(in crate::http) struct OwnVisitor(pub Option<IpAddr>);

impl FromRequestParts<ApiState> for OwnVisitor {
    type Rejection = WebError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, WebError> {
        require_own_origin(parts, state)?;
        Ok(Self(client_ip(parts, state)))
    }
}

/// A person who uploads a file; authenticated before any of the body is read. Scripts send the form token as a header,
/// which is checked here; a plain form carries it in a field before the file, see [`Self::may_send`].
#[derive(Debug)]
pub(in crate::http) struct Sender {
    pub person: Person,
    is_vouched: bool,
}

impl FromRequestParts<ApiState> for Sender {
    type Rejection = WebError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, WebError> {
        require_own_origin(parts, state)?;
        let person = Person::from_request_parts(parts, state).await?;
        let is_vouched = parts.headers.contains_key(TOKEN_HEADER);
        if is_vouched {
            require_token(&parts.headers, &Fields::default(), |sent| {
                state.app.is_form_token(&person.session.id, sent)
            })?;
        }
        person.account.check_active()?;
        Ok(Self { person, is_vouched })
    }
}

impl Sender {
    /// Checks the form token among the fields before the file.
    pub(in crate::http) fn may_send(
        &self,
        state: &ApiState,
        fields: &[(String, String)],
    ) -> Result<(), Error> {
        let sent = fields.iter().find(|(name, _)| name == TOKEN_FIELD).map(|(_, value)| value.as_str());
        if self.is_vouched || state.app.is_form_token(&self.person.session.id, sent.unwrap_or_default()) {
            return Ok(());
        }
        Err(Error::plain(Code::CrossSite))
    }
}

async fn read(body: axum::body::Body) -> Result<Fields, Error> {
    let bytes = small_body::read(body, small_body::FORM_BYTES).await?;
    Ok(Fields(form_urlencoded::parse(&bytes).into_owned().collect()))
}

pub(super) fn require_token(
    headers: &HeaderMap,
    fields: &Fields,
    is_ours: impl FnOnce(&str) -> bool,
) -> Result<(), Error> {
    let sent = headers.get(TOKEN_HEADER).and_then(|value| value.to_str().ok());
    let sent = sent.or_else(|| fields.find(TOKEN_FIELD)).unwrap_or_default();
    if is_ours(sent) { Ok(()) } else { Err(Error::plain(Code::CrossSite)) }
}
