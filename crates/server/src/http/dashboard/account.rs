//! `/dashboard/account`: who one is, what the plan allows, sessions and passkeys.

use crate::http::api::ApiState;
use crate::http::sign_in::passkeys;
use crate::http::web::{Person, SignedForm, SignedJson, WebError, page, see_other};
use crate::pages::dashboard::{
    AccountPage, Done, PasskeyRow, Passkeys, Section, SessionRow, Usage, account as render,
};
use axum::Json;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use dropleaf_app::{Asked, Me};
use dropleaf_core::passkey::name as passkey_name;
use dropleaf_core::session::{Method, Session};
use dropleaf_core::{Code, Error, iso};
use serde::Deserialize;
use serde_json::json;

const HERE: &str = "/dashboard/account";

pub(super) fn routes() -> Router<ApiState> {
    Router::new()
        .route("/dashboard/account", get(show))
        .route("/dashboard/account/sessions/end-others", post(end_others))
        .route("/dashboard/account/sessions/{id}/end", post(end_session))
        .route("/dashboard/account/passkeys/begin", post(begin_passkey))
        .route("/dashboard/account/passkeys/finish", post(finish_passkey))
        .route("/dashboard/account/passkeys/{id}/remove", post(remove_passkey))
}

#[derive(Debug, Deserialize)]
struct Shown {
    done: Option<String>,
}

async fn show(
    State(state): State<ApiState>,
    person: Person,
    Query(shown): Query<Shown>,
) -> Result<Response, WebError> {
    let me = state.app.me(&person.account).await?;
    let sessions = state.app.list_sessions(&person.account).await?;
    let passkeys = match passkeys(&state) {
        Ok(_) => Some(Passkeys {
            host: state.resolved.hosts.base.host.clone(),
            list: state.app.list_passkeys(&person.account).await?.into_iter().map(passkey_row).collect(),
            may_add: person.session.is_recent(state.app.now()),
        }),
        Err(_) => None,
    };
    let shell = person.shell(Section::Account, shown.done.as_deref().and_then(Done::parse));
    Ok(page(render(
        shell,
        &AccountPage {
            email: person.account.email.as_deref(),
            plan: &me.plan.name,
            since: iso::format(person.account.created_at),
            usage: usage(&me, state.resolved.config.limits.upload_bytes),
            sessions: sessions.into_iter().map(|session| session_row(session, &person.session)).collect(),
            passkeys,
        },
    )))
}

async fn end_session(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: SignedForm,
) -> Result<Response, WebError> {
    state.app.end_session(&form.person.account, &id).await?;
    Ok(done(Done::SessionEnded))
}

async fn end_others(State(state): State<ApiState>, form: SignedForm) -> Result<Response, WebError> {
    state.app.end_other_sessions(&form.person.account, &form.person.session.id).await?;
    Ok(done(Done::SessionsEnded))
}

async fn remove_passkey(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: SignedForm,
) -> Result<Response, WebError> {
    state.app.remove_passkey(&form.person.account, &id).await?;
    Ok(done(Done::PasskeyRemoved))
}

/// A question for the browser, which makes a passkey.
async fn begin_passkey(State(state): State<ApiState>, sent: SignedJson) -> Result<Response, WebError> {
    // A passkey opens the account for good.
    sent.person.require_recent(&state, HERE)?;
    let Person { account, session, .. } = &sent.person;
    let known = state.app.list_passkeys(account).await?;
    let user = state.app.passkey_user(&known);
    let known = known.into_iter().map(|passkey| passkey.credential_id);
    let name = account.email.as_deref().unwrap_or(&account.id);
    let question = passkeys(&state)?.ask_new(user, name, known.collect()).map_err(Error::internal)?;
    state.app.keep_ceremony(Asked::Session(session), question.state).await?;
    Ok(Json(question.options).into_response())
}

/// The browser's answer.
async fn finish_passkey(State(state): State<ApiState>, sent: SignedJson) -> Result<Response, WebError> {
    sent.person.require_recent(&state, HERE)?;
    let SignedJson { person: Person { account, session, .. }, body } = &sent;
    let asked = state.app.take_ceremony(Asked::Session(session)).await?;
    let checked = passkeys(&state)?.check_new(&asked, &body["credential"]).map_err(|error| {
        tracing::info!(%error, account = account.id, "a new passkey was refused");
        Error::plain(Code::InvalidPasskey)
    })?;
    let name = passkey_name(body["name"].as_str().unwrap_or_default(), &session.device);
    state.app.add_passkey(account, checked, name).await?;
    Ok(Json(json!({"to": address(Done::PasskeyAdded)})).into_response())
}

fn done(what: Done) -> Response {
    see_other(&address(what))
}

/// The page, which says what was done.
fn address(what: Done) -> String {
    format!("{HERE}?done={}", what.word())
}

fn session_row(session: Session, this: &Session) -> SessionRow {
    SessionRow {
        is_this: session.id == this.id,
        method: match session.method {
            Method::Code => "with a code",
            Method::Link => "with a link",
            Method::Passkey => "with a passkey",
        },
        created_at: iso::format(session.created_at),
        last_seen_at: iso::format(session.last_seen_at),
        id: session.id,
        device: session.device,
    }
}

fn passkey_row(passkey: dropleaf_core::passkey::Passkey) -> PasskeyRow {
    PasskeyRow {
        id: passkey.id,
        name: passkey.name,
        created_at: iso::format(passkey.created_at),
        last_used_at: passkey.last_used_at.map(iso::format),
    }
}

fn usage(me: &Me, upload_bytes: u64) -> Vec<Usage> {
    let counted = |name, used: i64, cap: Option<i64>| Usage {
        name,
        said: cap.map_or_else(|| format!("{used}, no limit"), |cap| format!("{used} of {cap}")),
        of: cap.map(|cap| (used, cap)),
    };
    let plain = |name, said| Usage { name, said, of: None };
    let life = me.plan.longest_life_seconds.map_or_else(
        || "no limit".to_owned(),
        |seconds| match seconds / 86_400 {
            1 => "1 day".to_owned(),
            days => format!("{days} days"),
        },
    );
    vec![
        counted("Pages online", me.account.active_pages, me.plan.active_pages),
        match me.plan.publishes_a_day {
            Some(cap) => counted("Published today", me.publishes_today, Some(cap)),
            None => plain("Published today", "no limit".to_owned()),
        },
        plain("Longest life of a page", life),
        plain("Largest upload", format!("{} MiB", upload_bytes >> 20)),
    ]
}
