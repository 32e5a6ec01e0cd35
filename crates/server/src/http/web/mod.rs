//! Shared parts of the pages with a session cookie. They exist only on the host of `base_url`, answer no other origin,
//! and change nothing without a form sent from one of our pages.

mod assets;
mod cookies;
mod form;
mod json;
mod layer;
mod origin;
mod person;
mod query;
mod response;

pub(super) use assets::serve as asset;
pub(super) use cookies::Cookie;
pub(super) use form::{
    Fields, LateForm, LinkForm, OwnVisitor, RemovalForm, Sender, SignedForm, TOKEN_FIELD, VisitForm,
};
pub(super) use json::{SignedJson, VisitJson};
pub(super) use layer::exchange;
pub(super) use origin::require_visit;
pub(super) use person::{MaybePerson, Operator, Person, Visit};
pub(super) use query::Query;
pub(super) use response::{
    WebError, framing, login, login_again, method_not_allowed, page, page_with_status, see_other,
};
