//! Serves `/operator/pages/{id}`: one page with its reports, owner and a safe preview, and the actions an operator can
//! take.

use super::safe_preview::safe_preview;
use super::{OperatorForm, actor};
use crate::http::error;
use crate::http::state::ApiState;
use crate::http::web::{Operator, Person, Query, WebError, framing, see_other};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use dropleaf_app::{CaseFile, TakedownResult};
use dropleaf_core::{Code, Error, number};
use dropleaf_pages::dashboard::{Done, Section};
use dropleaf_pages::operator::case::{CaseEvidence, CasePage, CaseVersion, CaseView, RefusedCaseForm, case};
use dropleaf_pages::operator::safe_preview::SafePreview;
use http::{HeaderValue, StatusCode, header};

/// The version and file to preview.
#[derive(Default)]
struct PreviewChoice<'a> {
    version: Option<i64>,
    file: Option<&'a str>,
}

pub(super) async fn show(
    State(state): State<ApiState>,
    Operator(person): Operator,
    Path(id): Path<String>,
    query: Query,
) -> Result<Response, WebError> {
    let choice =
        PreviewChoice { version: query.find("version").and_then(number::integer), file: query.find("file") };
    shown(&state, &person, &id, choice, query.done(), None).await
}

pub(super) async fn take_down(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    let (who, reason, suspends) =
        (actor(&form.person), form.fields.text("reason"), form.fields.is_checked("suspend"));
    let outcome = state.app.take_down_with_account(who, &id, reason, &[], suspends).await;
    let done = |down: TakedownResult| if down.suspended { Done::TakenDownHeld } else { Done::TakenDown };
    settle(&state, &form, &id, "takedown", outcome.map(done)).await
}

pub(super) async fn dismiss(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    let outcome = state.app.dismiss_reports(actor(&form.person), &id, form.fields.text("reason")).await;
    settle(&state, &form, &id, "dismiss", outcome.map(|_| Done::Dismissed)).await
}

pub(super) async fn suspend(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    let outcome = state.app.suspend_owner(actor(&form.person), &id, form.fields.text("reason")).await;
    settle(&state, &form, &id, "suspend", outcome.map(|_| Done::Suspended)).await
}

pub(super) async fn lift(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    let outcome = state.app.lift_owner_suspension(actor(&form.person), &id, form.fields.text("reason")).await;
    settle(&state, &form, &id, "lift", outcome.map(|_| Done::Lifted)).await
}

/// Downloads the sealed evidence archive; nothing in it is shown here.
pub(super) async fn open_evidence(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    let opened = match state.app.open_evidence(actor(&form.person), &id, form.fields.text("reason")).await {
        Ok(opened) => opened,
        Err(refusal) => return settle(&state, &form, &id, "evidence", Err(refusal)).await,
    };
    let name = format!("attachment; filename=\"evidence-{}.zip\"", opened.site_id);
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
        (header::CONTENT_DISPOSITION, HeaderValue::from_str(&name).map_err(Error::internal)?),
    ];
    Ok((headers, Body::from_stream(opened.stream)).into_response())
}

pub(super) async fn erase_evidence(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    let outcome = state.app.erase_evidence(actor(&form.person), &id, form.fields.text("reason")).await;
    settle(&state, &form, &id, "erase", outcome.map(|_| Done::EvidenceErased)).await
}

/// Allows the content to be published again.
pub(super) async fn forget(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    let outcome = state.app.unblock_content(actor(&form.person), &id, form.fields.text("reason")).await;
    settle(&state, &form, &id, "forget", outcome.map(|_| Done::Forgotten)).await
}

/// Redirects to the page, or shows the form again with the error.
async fn settle(
    state: &ApiState,
    form: &OperatorForm,
    id: &str,
    which: &'static str,
    outcome: Result<Done, Error>,
) -> Result<Response, WebError> {
    let refusal = match outcome {
        Ok(done) => return Ok(see_other(&format!("/operator/pages/{id}?done={}", done.word()))),
        Err(refusal) if refusal.code == Code::InvalidField => refusal,
        Err(error) => return Err(error.into()),
    };
    let problem = "Enter a reason of at most 500 characters.";
    let refused = RefusedCaseForm { form: which, reason: form.fields.text("reason"), problem };
    let mut response = shown(state, &form.person, id, PreviewChoice::default(), None, Some(refused)).await?;
    *response.status_mut() = error::status(refusal.code);
    Ok(response)
}

async fn shown(
    state: &ApiState,
    person: &Person,
    id: &str,
    choice: PreviewChoice<'_>,
    done: Option<Done>,
    refused: Option<RefusedCaseForm<'_>>,
) -> Result<Response, WebError> {
    let file = state.app.open_case(id).await?;
    let preview = state.app.preview_case(&file, choice.version, choice.file).await?;
    let here = match choice.version {
        Some(version) => format!("/operator/pages/{id}?version={version}"),
        None => format!("/operator/pages/{id}"),
    };
    let preview = preview.map(|preview| safe_preview(preview, here));
    let html = case(&CasePage {
        shell: person.shell(Section::Operator, done),
        case: case_view(&file),
        preview: preview.as_ref(),
        version: choice.version.unwrap_or(file.site.version),
        refused,
        is_recent: person.session.is_recent(state.app.now()),
    });
    Ok(framing(StatusCode::OK, html, preview.as_ref().and_then(SafePreview::within)))
}

fn case_view(file: &CaseFile) -> CaseView<'_> {
    let versions = file.versions.iter().map(|known| CaseVersion {
        version: known.version,
        created_at: known.created_at,
        byte_size: known.byte_size,
    });
    let evidence = file.evidence.as_ref().map(|kept| CaseEvidence {
        size_bytes: kept.size_bytes,
        erase_after: kept.erase_after,
        erased_at: kept.erased_at,
    });
    CaseView {
        site: &file.site,
        url: &file.url,
        account: file.account.as_ref(),
        reports: &file.reports,
        more_reports: file.more_reports(),
        open_reports: file.open_reports(),
        open_reasons: &file.open_reasons,
        audit_entries: &file.audit_entries,
        versions: versions.collect(),
        other_sites: &file.other_sites,
        taken_down: file.taken_down,
        similar_sites: &file.similar_sites,
        evidence,
        refused_since: file.blocked_content.as_ref().map(|blocked| blocked.created_at),
    }
}
