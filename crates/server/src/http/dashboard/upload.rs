//! Publishes and replaces a page from an uploaded file. The session and the form token are checked before the file is
//! read: a script sends the token in a header, a plain form in a field before the file. It is never in the URL, because
//! URLs are written to logs.

use super::page::{Sent, done, refuse, settle};
use super::problem::{APPEAL, may_appeal, refused, words};
use super::shell;
use crate::http::error::{self, Wants, status};
use crate::http::extract::{Form, Incoming};
use crate::http::state::ApiState;
use crate::http::web::{Fields, Person, Sender, TOKEN_FIELD, WebError, page_with_status, see_other};
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use dropleaf_app::{Caller, IdempotentResult, UpdatedSite, Writer};
use dropleaf_core::error::Fact;
use dropleaf_core::options::UploadOptions;
use dropleaf_core::site::Site;
use dropleaf_core::version_maker::{MakerKind, VersionMaker};
use dropleaf_core::{Code, Error, Result};
use dropleaf_pages::dashboard::{self as pages, Attempt, Done as Word, UploadView};
use http::{HeaderMap, StatusCode};
use serde_json::json;

pub(super) async fn read(State(state): State<ApiState>, person: Person) -> Response {
    form_page(&state, &person, StatusCode::OK, Attempt::default())
}

fn form_page(state: &ApiState, person: &Person, status: StatusCode, attempt: Attempt) -> Response {
    let html = pages::upload(&UploadView {
        shell: shell(person, None),
        plan: &state.app.plan_of(&person.account),
        max_upload_bytes: state.resolved.config.limits.upload_bytes,
        attempt,
    });
    page_with_status(status, html, None)
}

/// Reads the form and removes the form token from its fields.
pub(super) async fn receive(
    state: &ApiState,
    sender: &Sender,
    headers: &HeaderMap,
    body: Body,
) -> Result<Form> {
    let incoming = Incoming { state, headers, body };
    let mut form = incoming.form_if(|fields| sender.may_send(state, fields)).await?;
    // Browsers send an empty string for a field that was left blank.
    form.fields.retain(|(name, value)| name != TOKEN_FIELD && !value.is_empty());
    Ok(form)
}

fn options(form: &Form) -> Result<UploadOptions> {
    UploadOptions::parse(form.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

pub(super) async fn create(
    State(state): State<ApiState>,
    sender: Sender,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, WebError> {
    let person = &sender.person;
    let mut typed = Vec::new();
    let outcome = async {
        let form = receive(&state, &sender, &headers, body).await?;
        typed.clone_from(&form.fields);
        let caller = Caller { account: Some(person.account.clone()), grant_id: None, ip: None, maker: None };
        let options = options(&form)?;
        state.app.create_site(&caller, form.upload, options, None, |_| Vec::new()).await
    };
    let created = match outcome.await {
        Ok(IdempotentResult::New(created)) => created,
        Ok(IdempotentResult::Replayed { .. }) => return Ok(see_other("/dashboard")),
        Err(error) if wants_json(&headers) => return Ok(error_json(&error)),
        Err(error) => {
            let code = status(error.code);
            if code.is_server_error() || error.code == Code::CrossSite {
                return Err(error.into());
            }
            return Ok(form_page(&state, person, code, refused("upload", &error, typed)));
        }
    };
    if wants_json(&headers) {
        return Ok(sent_json(&state, StatusCode::CREATED, &created.site, &created.warnings, Word::Published));
    }
    if created.warnings.is_empty() {
        return Ok(done(&created.site.id, Word::Published));
    }
    let id = &created.site.id;
    super::page::show(
        &state,
        person,
        id,
        Some(Word::Published),
        StatusCode::OK,
        Attempt::default(),
        created.warnings,
    )
    .await
}

pub(super) async fn replace(
    State(state): State<ApiState>,
    sender: Sender,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, WebError> {
    let person = &sender.person;
    let writer = Writer::Account(person.account.clone(), VersionMaker::unnamed(MakerKind::Dashboard));
    let outcome: Result<UpdatedSite> = async {
        let seen = state.app.check_writer(&writer, &id, None).await?;
        let form = receive(&state, &sender, &headers, body).await?;
        let options = options(&form)?;
        state.app.replace_site(&writer, &id, seen, form.upload, options).await
    }
    .await;
    let fields = Fields::default();
    let sent = Sent { form: "content", field: Some("file"), fields: &fields };
    match outcome {
        Ok(updated) if wants_json(&headers) => {
            Ok(sent_json(&state, StatusCode::OK, &updated.site, &updated.warnings, Word::Replaced))
        }
        Err(error) if wants_json(&headers) => Ok(error_json(&error)),
        Err(error) if error.code == Code::CrossSite => Err(error.into()),
        Err(error) => refuse(&state, person, &id, sent, error).await,
        outcome @ Ok(_) => settle(&state, person, &id, sent, outcome, Word::Replaced).await,
    }
}

fn wants_json(headers: &HeaderMap) -> bool {
    Wants::of(headers) == Wants::Json
}

/// The JSON a script shows after a successful upload.
fn sent_json(state: &ApiState, status: StatusCode, site: &Site, warnings: &[String], word: Word) -> Response {
    let body = json!({
        "id": site.id,
        "title": site.title,
        "url": state.app.canonical_url(site),
        "page": format!("/dashboard/pages/{}", site.id),
        "done": word.word(),
        "warnings": warnings,
    });
    (status, Json(body)).into_response()
}

/// The refusal with the message the dashboard shows.
fn error_json(error: &Error) -> Response {
    if status(error.code).is_server_error() {
        return error::respond(error, Wants::Json).map(Body::new);
    }
    let mut worded = Error { detail: words(error), facts: error.facts.clone(), ..Error::plain(error.code) };
    if may_appeal(error) {
        worded.facts.push(("appeal", Fact::Text(APPEAL.to_owned())));
        worded.facts.push(("appeal_page", Fact::Text("/dashboard/appeal".to_owned())));
    }
    error::respond(&worded, Wants::Json).map(Body::new)
}
