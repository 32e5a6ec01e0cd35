//! `/operator/appeals`: pages that were refused and whose publishers ask for a second look, and one of them with the
//! content, which an operator allows or not.

use super::{OperatorForm, actor};
use crate::http::api::ApiState;
use crate::http::error;
use crate::http::web::{Operator, Person, Query, WebError, framing, page, see_other};
use crate::pages::dashboard::{Done, Section};
use crate::pages::operator::appeals::{Appeals, OneAppeal, Typed, appeal, appeals};
use crate::pages::operator::look::Seen;
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_core::Code;
use dropleaf_core::appeal::Decision;
use http::StatusCode;

/// As many as are shown; the rest move up.
const SHOWN: i64 = 100;
/// Decided ones, for a glance back.
const DECIDED: i64 = 20;

pub(super) async fn list(
    State(state): State<ApiState>,
    Operator(person): Operator,
    query: Query,
) -> Result<Response, WebError> {
    let open = state.app.list_open_appeals(SHOWN).await?;
    let waiting = state.app.count_open_appeals().await?;
    Ok(page(appeals(&Appeals {
        shell: person.shell(Section::Operator, query.done()),
        open: &open,
        decided: &state.app.list_decided_appeals(DECIDED).await?,
        more: waiting.saturating_sub(i64::try_from(open.len()).unwrap_or(i64::MAX)),
        is_recent: person.session.is_recent(state.app.now()),
    })))
}

pub(super) async fn show(
    State(state): State<ApiState>,
    Operator(person): Operator,
    Path(id): Path<String>,
    query: Query,
) -> Result<Response, WebError> {
    shown(&state, &person, &id, query.find("file"), StatusCode::OK, Typed::default()).await
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
                Code::InvalidField => "Say something to the publisher, in at most 500 characters.",
                _ => refused.detail.as_str(),
            };
            let typed = Typed { answer, problem: Some(problem) };
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
    typed: Typed<'_>,
) -> Result<Response, WebError> {
    let found = state.app.get_appeal(id).await?;
    let seen = match &found.bundle_id {
        Some(bundle) => Some(Seen {
            look: state.app.look_at(bundle, file).await?,
            here: format!("/operator/appeals/{}", found.id),
        }),
        None => None,
    };
    let html = appeal(&OneAppeal {
        shell: person.shell(Section::Operator, None),
        appeal: &found,
        seen: seen.as_ref(),
        typed,
        is_recent: person.session.is_recent(state.app.now()),
    });
    Ok(framing(status, html, seen.as_ref().and_then(Seen::within)))
}
