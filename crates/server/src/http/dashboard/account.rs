//! Serves `/dashboard/account`: the account's email, plan, usage, balance, email notifications, passkeys and sessions.

use crate::http::sign_in;
use crate::http::state::ApiState;
use crate::http::web::{Person, Query, RemovalForm, SignedForm, WebError, page, see_other};
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use dropleaf_app::{Movement, MovementList, MovementQuery};
use dropleaf_core::account::Account;
use dropleaf_core::ledger::{MovementKind, Unit};
use dropleaf_core::notification::NotifyMode;
use dropleaf_core::passkey::Passkey;
use dropleaf_core::session::{Session, SignInMethod};
use dropleaf_core::unlock::Sku;
use dropleaf_core::{Minter, number};
use dropleaf_pages::Moment;
use dropleaf_pages::dashboard::{
    AccountPage, Done, MovementRow, PasskeyRow, Passkeys, PlanUsage, Section, SessionRow, UnlockRow,
    account as render,
};

pub(super) const HERE: &str = "/dashboard/account";
/// Movements of the balance on one page.
const MOVEMENTS: i64 = 10;

pub(super) fn routes() -> Router<ApiState> {
    Router::new()
        .route(HERE, get(show))
        .route("/dashboard/account/notifications", post(set_notify))
        .route("/dashboard/account/sessions/end-others", post(end_others))
        .route("/dashboard/account/sessions/{id}/end", post(end_session))
}

async fn show(State(state): State<ApiState>, person: Person, query: Query) -> Result<Response, WebError> {
    let me = state.app.me(&person.account).await?;
    let sessions = state.app.list_sessions(&person.account).await?;
    let movements = state.app.list_movements(&person.account, movement_query(&query)).await?;
    let older_movements = older_movements(&movements);
    let shell = person.shell(Section::Account, query.done());
    Ok(page(render(
        shell,
        &AccountPage {
            email: person.account.email.as_deref(),
            since: Moment(person.account.created_at),
            plan: &me.plan,
            used: PlanUsage { active_pages: me.account.active_pages, publishes_today: me.publishes_today },
            balance: balance(&state, state.app.spendable_balance(&me.account)),
            sells: state.app.require_payments().is_ok(),
            movements: movements.movements.into_iter().map(movement_row).collect(),
            older_movements,
            unlocks: unlocks(&state, &me.account),
            max_upload_bytes: state.resolved.config.limits.upload_bytes,
            notify: notify(&state, &person.account).await?,
            sessions: sessions.into_iter().map(|session| row(session, &person.session)).collect(),
            passkeys: passkeys(&state, &person).await?,
        },
    )))
}

/// Which emails the account gets; `None` where none can be sent.
async fn notify(state: &ApiState, account: &Account) -> Result<Option<NotifyMode>, WebError> {
    if account.email.is_none() || !state.app.has_mail() {
        return Ok(None);
    }
    Ok(Some(state.app.notify_mode(account).await?))
}

async fn set_notify(State(state): State<ApiState>, form: SignedForm) -> Result<Response, WebError> {
    let mode = NotifyMode::read(form.fields.text("notify"))?;
    state.app.set_notify_mode(&form.person.account, mode).await?;
    Ok(done(Done::NotifySaved))
}

/// The passkeys shown on the account page; `None` where passkeys cannot work.
async fn passkeys(state: &ApiState, person: &Person) -> Result<Option<Passkeys>, WebError> {
    if sign_in::passkeys(state).is_err() {
        return Ok(None);
    }
    Ok(Some(Passkeys {
        host: state.resolved.hosts.base.host.clone(),
        list: state.app.list_passkeys(&person.account).await?.into_iter().map(passkey_row).collect(),
        may_add: person.session.is_recent(state.app.now()),
    }))
}

fn passkey_row(passkey: Passkey) -> PasskeyRow {
    PasskeyRow {
        id: passkey.id,
        name: passkey.name,
        created: Moment(passkey.created_at),
        last_used: passkey.last_used_at.map(Moment),
    }
}

/// The movements to show. A cursor that is not one of ours is ignored.
fn movement_query(query: &Query) -> MovementQuery {
    let before = query.find("before").and_then(number::integer);
    let before_id = query.find("before_id").filter(|id| before.is_some() && Minter::is_id("txn", id));
    MovementQuery { limit: MOVEMENTS, before, before_id: before_id.map(str::to_owned) }
}

fn older_movements(list: &MovementList) -> Option<String> {
    let oldest = list.movements.last().filter(|_| list.has_more)?;
    Some(format!("{HERE}?before={}&before_id={}#transactions", oldest.created_at, oldest.id))
}

fn movement_row(movement: Movement) -> MovementRow {
    MovementRow {
        at: Moment(movement.created_at),
        kind: MovementKind::of(movement.cause, movement.item).title(),
        detail: movement.item.map(|item| item.title().to_owned()).or(movement.note),
        amount: Unit::Usd2.written(movement.amount_minor),
    }
}

/// Shown if something can be bought with it, or if it is not zero.
fn balance(state: &ApiState, cents: i64) -> Option<String> {
    (cents != 0 || state.app.require_payments().is_ok()).then(|| state.app.balance_unit().written(cents))
}

fn unlocks(state: &ApiState, account: &Account) -> Vec<UnlockRow> {
    let row = |sku: Sku| UnlockRow { title: sku.title(), until: account.unlocks.until(sku).map(Moment) };
    account.unlocks.active(state.app.now()).map(row).collect()
}

async fn end_session(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: RemovalForm,
) -> Result<Response, WebError> {
    state.app.end_session(&form.person.account, &id).await?;
    Ok(done(Done::SessionEnded))
}

async fn end_others(State(state): State<ApiState>, form: RemovalForm) -> Result<Response, WebError> {
    state.app.end_other_sessions(&form.person.account, &form.person.session.id).await?;
    Ok(done(Done::SessionsEnded))
}

pub(super) fn done(what: Done) -> Response {
    see_other(&address(what))
}

/// The address of the account page with a confirmation message.
pub(super) fn address(what: Done) -> String {
    what.address(HERE)
}

fn row(session: Session, this: &Session) -> SessionRow {
    SessionRow {
        is_this: session.id == this.id,
        method: match session.method {
            SignInMethod::Code => "with a code",
            SignInMethod::Link => "with a link",
            SignInMethod::Passkey => "with a passkey",
        },
        created: Moment(session.created_at),
        last_seen: Moment(session.last_seen_at),
        id: session.id,
        device: session.device,
    }
}
