//! Changes the settings of a page, one form each. A form carries the `updated_at` it was rendered from, so that later
//! changes are not overwritten.

use super::page::{Sent, settle};
use crate::http::state::ApiState;
use crate::http::web::{Fields, SignedForm, WebError};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_app::PatchRequest;
use dropleaf_core::expiry::Lifetime;
use dropleaf_core::feedback_thread::FeedbackVisible;
use dropleaf_core::site::Visibility;
use dropleaf_core::site_change::{self, Field};
use dropleaf_core::slug::Slug;
use dropleaf_core::{Error, Result, email, number, options as rules};
use dropleaf_pages::dashboard::Done;

/// The `updated_at` the form was rendered from. A form without one is not ours.
pub(super) fn seen(fields: &Fields) -> Result<Option<i64>> {
    let at =
        number::integer(fields.text("updated_at")).ok_or_else(|| Error::field("updated_at", "is missing"))?;
    Ok(Some(at))
}

async fn change(
    state: &ApiState,
    form: &SignedForm,
    id: &str,
    name: &'static str,
    field: Option<&'static str>,
    read: impl FnOnce(&Fields) -> Result<PatchRequest>,
) -> Result<Response, WebError> {
    let request = seen(&form.fields)
        .and_then(|at| read(&form.fields).map(|request| PatchRequest { expected_updated_at: at, ..request }));
    let outcome = match request {
        Ok(request) => state.app.change_site(&form.person.account, id, request).await,
        Err(error) => Err(error),
    };
    let sent = Sent { form: name, field, fields: &form.fields };
    settle(state, &form.person, id, sent, outcome, confirmation(name, &form.fields)).await
}

/// The confirmation message of a form.
fn confirmation(form: &str, fields: &Fields) -> Done {
    match form {
        "title" => Done::Titled,
        "visibility" => match Visibility::parse(fields.text("visibility")) {
            Some(Visibility::Public) => Done::MadePublic,
            Some(Visibility::Unlisted) => Done::MadeUnlisted,
            Some(Visibility::Burn) => Done::MadeBurn,
            None => Done::Saved,
        },
        "password" if fields.text("act") == "clear" => Done::PasswordRemoved,
        "password" => Done::PasswordSet,
        "email" if fields.text("act") == "clear" => Done::GateRemoved,
        "email" => Done::GateSet,
        "expiry" => Done::ExpirySet,
        _ => Done::Saved,
    }
}

pub(super) async fn title(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: SignedForm,
) -> Result<Response, WebError> {
    let read = |fields: &Fields| {
        let title = site_change::title(fields.text("title"))?;
        Ok(PatchRequest { title: Field::Value(title), ..PatchRequest::default() })
    };
    change(&state, &form, &id, "title", Some("title"), read).await
}

pub(super) async fn visibility(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: SignedForm,
) -> Result<Response, WebError> {
    let read = |fields: &Fields| {
        let visibility = Visibility::parse(fields.text("visibility"))
            .ok_or_else(|| Error::field("visibility", "must be unlisted, public or burn"))?;
        let slug = match (fields.text("slug").trim(), visibility) {
            ("", _) => Field::Null,
            (text, Visibility::Public) => Field::Value(Slug::parse(text)?),
            // The form shows the slug while the page is public; an unchanged value requests nothing.
            (text, Visibility::Unlisted | Visibility::Burn) if text == fields.text("slug_shown") => {
                Field::Absent
            }
            (_, Visibility::Unlisted | Visibility::Burn) => {
                let why = "is for public pages only: choose Public or clear the name";
                return Err(Error::field("slug", why));
            }
        };
        Ok(PatchRequest { visibility: Some(visibility), slug, ..PatchRequest::default() })
    };
    change(&state, &form, &id, "visibility", None, read).await
}

pub(super) async fn password(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: SignedForm,
) -> Result<Response, WebError> {
    let read = |fields: &Fields| {
        let password = match fields.text("act") {
            "clear" if fields.text("password").is_empty() => Field::Null,
            "clear" => {
                let why = "was entered, but you pressed Remove: clear the field to remove the old password";
                return Err(Error::field("password", why));
            }
            _ => Field::Value(rules::password(fields.text("password"))?.to_owned()),
        };
        Ok(PatchRequest { password, ..PatchRequest::default() })
    };
    change(&state, &form, &id, "password", Some("password"), read).await
}

pub(super) async fn email_gate(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: SignedForm,
) -> Result<Response, WebError> {
    let read = |fields: &Fields| {
        let typed = fields.text("domain").trim();
        let email_gate_domain = match fields.text("act") {
            "clear" if typed.is_empty() || typed == fields.text("domain_shown") => Field::Null,
            "clear" => {
                let why = "was entered, but you pressed Remove: clear the field to remove the gate";
                return Err(Error::field("email_gate_domain", why));
            }
            _ if typed.is_empty() => {
                let why = "is empty: enter a domain, or press Remove to allow anyone with the link";
                return Err(Error::field("email_gate_domain", why));
            }
            _ => Field::Value(email::gate_domain(typed)?),
        };
        Ok(PatchRequest { email_gate_domain, ..PatchRequest::default() })
    };
    change(&state, &form, &id, "email", Some("domain"), read).await
}

pub(super) async fn expiry(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: SignedForm,
) -> Result<Response, WebError> {
    let now = state.app.now();
    let read = |fields: &Fields| {
        let (choice, date) = (fields.text("expires"), fields.text("until"));
        let lifetime = Lifetime::from_form(choice, date, fields.text("until_shown"), now)?;
        Ok(PatchRequest { lifetime: Some(lifetime), ..PatchRequest::default() })
    };
    change(&state, &form, &id, "expiry", Some("expires"), read).await
}

pub(super) async fn options(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: SignedForm,
) -> Result<Response, WebError> {
    let read = |fields: &Fields| {
        Ok(PatchRequest {
            agentation: Some(fields.is_checked("agentation")),
            live: Some(fields.is_checked("live")),
            show_changes: Some(fields.is_checked("show_changes")),
            csp_strict: Some(fields.is_checked("csp_strict")),
            feedback_visible: Some(if fields.is_checked("feedback_everyone") {
                FeedbackVisible::Everyone
            } else {
                FeedbackVisible::Author
            }),
            ..PatchRequest::default()
        })
    };
    change(&state, &form, &id, "options", Some(""), read).await
}
