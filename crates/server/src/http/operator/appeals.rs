//! Serves `/operator/appeals`: the queue of appeals against refused pages, and each one with its content, to allow or
//! uphold.

use super::safe_preview::safe_preview;
use super::{OperatorForm, actor};
use crate::http::error;
use crate::http::state::ApiState;
use crate::http::web::{Operator, Person, Query, WebError, framing, page, see_other};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_core::Code;
use dropleaf_core::appeal::Decision;
use dropleaf_pages::dashboard::{Done, Section};
use dropleaf_pages::operator::appeals::{AppealDecisionForm, AppealPage, AppealsPage, appeal, appeals};
use dropleaf_pages::operator::safe_preview::SafePreview;
use http::StatusCode;

/// Open appeals shown; later ones follow once these are decided.
const SHOWN: i64 = 100;
/// Recently decided appeals shown.
const DECIDED: i64 = 20;
const NO_WORDS: &str = "Enter a reply of at most 500 characters.";

pub(super) async fn list(
    State(state): State<ApiState>,
    Operator(person): Operator,
    query: Query,
) -> Result<Response, WebError> {
    listed(&state, &person, query.done(), StatusCode::OK, AppealDecisionForm::default()).await
}

async fn listed(
    state: &ApiState,
    person: &Person,
    done: Option<Done>,
    status: StatusCode,
    typed: AppealDecisionForm<'_>,
) -> Result<Response, WebError> {
    let open = state.app.list_open_appeals(SHOWN).await?;
    let waiting = state.app.count_open_appeals().await?;
    let mut response = page(appeals(&AppealsPage {
        shell: person.shell(Section::Operator, done),
        open: &open,
        decided: &state.app.list_decided_appeals(DECIDED).await?,
        more: waiting.saturating_sub(i64::try_from(open.len()).unwrap_or(i64::MAX)),
        form: typed,
        is_recent: person.session.is_recent(state.app.now()),
    }));
    *response.status_mut() = status;
    Ok(response)
}

/// Upholds several appeals with the same answer.
pub(super) async fn uphold_marked(
    State(state): State<ApiState>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    let (ids, answer) = (form.fields.all("appeal"), form.fields.text("answer"));
    let refuse = async |problem: &str| {
        let typed = AppealDecisionForm { answer, problem: Some(problem) };
        listed(&state, &form.person, None, StatusCode::BAD_REQUEST, typed).await
    };
    if ids.is_empty() {
        return refuse("Select at least one appeal.").await;
    }
    match state.app.uphold_appeals(actor(&form.person), &ids, answer).await {
        Ok(_) => Ok(see_other(&format!("/operator/appeals?done={}", Done::UpheldSeveral.word()))),
        Err(error) if error.code == Code::InvalidField => refuse(NO_WORDS).await,
        Err(error) => Err(error.into()),
    }
}

/// Revokes an allow decision.
pub(super) async fn disallow(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    let reason = form.fields.text("reason");
    match state.app.revoke_allowed(actor(&form.person), &id, reason).await {
        Ok(_) => Ok(see_other(&format!("/operator/appeals?done={}", Done::Disallowed.word()))),
        Err(refused) if refused.code == Code::InvalidField => {
            let typed = AppealDecisionForm {
                answer: reason,
                problem: Some("Enter a reason of at most 500 characters."),
            };
            shown(&state, &form.person, &id, None, StatusCode::BAD_REQUEST, typed).await
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn show(
    State(state): State<ApiState>,
    Operator(person): Operator,
    Path(id): Path<String>,
    query: Query,
) -> Result<Response, WebError> {
    shown(&state, &person, &id, query.find("file"), StatusCode::OK, AppealDecisionForm::default()).await
}

pub(super) async fn allow(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    decide(&state, &id, &form, Decision::Allow).await
}

pub(super) async fn uphold(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    decide(&state, &id, &form, Decision::Uphold).await
}

async fn decide(
    state: &ApiState,
    id: &str,
    form: &OperatorForm,
    decision: Decision,
) -> Result<Response, WebError> {
    let answer = form.fields.text("answer");
    let done = match decision {
        Decision::Allow => Done::Allowed,
        Decision::Uphold => Done::Upheld,
    };
    match state.app.decide_appeal(actor(&form.person), id, decision, answer).await {
        Ok(_) => Ok(see_other(&format!("/operator/appeals?done={}", done.word()))),
        Err(refused) if matches!(refused.code, Code::InvalidField | Code::Conflict) => {
            let problem = match refused.code {
                Code::InvalidField => NO_WORDS,
                _ => refused.detail.as_str(),
            };
            let typed = AppealDecisionForm { answer, problem: Some(problem) };
            shown(state, &form.person, id, None, error::status(refused.code), typed).await
        }
        Err(error) => Err(error.into()),
    }
}

async fn shown(
    state: &ApiState,
    person: &Person,
    id: &str,
    file: Option<&str>,
    status: StatusCode,
    typed: AppealDecisionForm<'_>,
) -> Result<Response, WebError> {
    let found = state.app.get_appeal(id).await?;
    let preview = match &found.bundle_id {
        Some(bundle) => {
            let preview = state.app.preview_bundle(bundle, file).await?;
            Some(safe_preview(preview, format!("/operator/appeals/{}", found.id)))
        }
        None => None,
    };
    let context = state.app.appeal_case(&found).await?;
    let html = appeal(&AppealPage {
        shell: person.shell(Section::Operator, None),
        appeal: &found,
        similar_site_id: context.similar_site_id.as_deref(),
        joined: &context.joined,
        earlier: &context.earlier,
        allowed: context.allowed.as_ref(),
        preview: preview.as_ref(),
        form: typed,
        is_recent: person.session.is_recent(state.app.now()),
    });
    Ok(framing(status, html, preview.as_ref().and_then(SafePreview::within)))
}
