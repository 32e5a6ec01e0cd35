//! The forms of `/dashboard/pages/{id}/feedback`: reply, resolve, reopen, delete, resolve many and undo. Without a script a
//! form leads back to the list; the page's script asks for the changed threads instead (`fragment`).

use super::feedback::{Shown, fragment, list_filter, show};
use super::problem::{refused_at, words};
use crate::http::error::status;
use crate::http::state::ApiState;
use crate::http::web::{Fields, Person, Query, SignedForm, WebError, see_other};
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use dropleaf_app::{BulkSelection, OwnerReply, ReplyEffect};
use dropleaf_core::feedback_thread::Author;
use dropleaf_core::{Error, number};
use dropleaf_pages::dashboard::{Done, FeedbackOutcome};
use http::StatusCode;

type Answer = Result<Response, WebError>;

/// One submitted form.
struct Form<'a> {
    state: &'a ApiState,
    person: &'a Person,
    id: &'a str,
    query: &'a Query,
    fields: &'a Fields,
    /// Shows again what was typed.
    name: &'static str,
}

impl Form<'_> {
    fn wants_fragment(&self) -> bool {
        self.fields.is_checked("fragment")
    }

    /// Ends a form that changed these comments.
    async fn done(&self, changed: &[String], done: Done, deleted: Option<&str>) -> Answer {
        let Self { state, person, id, query, .. } = *self;
        if self.wants_fragment() {
            let message = done.message().to_owned();
            let outcome = FeedbackOutcome { message, undo: None, deleted: deleted.map(str::to_owned) };
            return fragment(state, person, id, query, changed, outcome).await;
        }
        let list = list_filter(query).1;
        Ok(see_other(&format!("/dashboard/pages/{id}/feedback?{list}&done={}#outcome", done.word())))
    }

    /// Ends a form that was refused. Server errors are returned unchanged.
    async fn refuse(&self, error: Error) -> Answer {
        let Self { state, person, id, query, fields, .. } = *self;
        let code = status(error.code);
        if code.is_server_error() {
            return Err(error.into());
        }
        if self.wants_fragment() {
            return Ok((code, words(&error)).into_response());
        }
        // The message is at the top of the list; a reply keeps its text.
        let mut attempt = refused_at("feedback", "", &error, fields);
        if let Some(refused) = attempt.0.as_mut().filter(|_| self.name == "reply") {
            refused.form = "reply";
        }
        show(state, person, id, query, Shown { attempt, status: code, ..Shown::default() }).await
    }
}

fn ids_of(fields: &Fields) -> Vec<String> {
    fields.all("ids").into_iter().map(str::to_owned).collect()
}

pub(super) async fn reply(
    State(state): State<ApiState>,
    Path((id, item)): Path<(String, String)>,
    query: Query,
    SignedForm { person, fields }: SignedForm,
) -> Answer {
    let form =
        Form { state: &state, person: &person, id: &id, query: &query, fields: &fields, name: "reply" };
    let (effect, done) = match fields.text("then") {
        "resolve" => (ReplyEffect::Resolve, Done::RepliedResolved),
        _ => (ReplyEffect::Nothing, Done::Replied),
    };
    let text = fields.text("text").to_owned();
    let sent = OwnerReply { feedback_id: &item, author: Author::Owner, text, effect };
    match state.app.reply_to_feedback(&person.account, &id, sent, None, |_| Vec::new()).await {
        Ok(_) => form.done(&[item], done, None).await,
        Err(error) => form.refuse(error).await,
    }
}

pub(super) async fn resolve(
    State(state): State<ApiState>,
    Path((id, item)): Path<(String, String)>,
    query: Query,
    SignedForm { person, fields }: SignedForm,
) -> Answer {
    state.app.get_own_site(&person.account, &id).await?;
    let form =
        Form { state: &state, person: &person, id: &id, query: &query, fields: &fields, name: "feedback" };
    let note = fields.find("note").filter(|note| !note.trim().is_empty()).map(str::to_owned);
    match state.app.resolve_feedback(&person.account, &item, note, Author::Owner).await {
        Ok(_) => form.done(&[item], Done::Resolved, None).await,
        Err(error) => form.refuse(error).await,
    }
}

pub(super) async fn reopen(
    State(state): State<ApiState>,
    Path((id, item)): Path<(String, String)>,
    query: Query,
    SignedForm { person, fields }: SignedForm,
) -> Answer {
    let form =
        Form { state: &state, person: &person, id: &id, query: &query, fields: &fields, name: "feedback" };
    match state.app.reopen_feedback(&person.account, &id, &item, Author::Owner).await {
        Ok(_) => form.done(&[item], Done::Reopened, None).await,
        Err(error) => form.refuse(error).await,
    }
}

pub(super) async fn delete(
    State(state): State<ApiState>,
    Path((id, item)): Path<(String, String)>,
    query: Query,
    SignedForm { person, fields }: SignedForm,
) -> Answer {
    state.app.get_own_site(&person.account, &id).await?;
    let form =
        Form { state: &state, person: &person, id: &id, query: &query, fields: &fields, name: "feedback" };
    match state.app.delete_feedback(&person.account, &item).await {
        Ok(()) => form.done(&[], Done::CommentDeleted, Some(&item)).await,
        Err(error) => form.refuse(error).await,
    }
}

pub(super) async fn resolve_many(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    query: Query,
    SignedForm { person, fields }: SignedForm,
) -> Answer {
    let form =
        Form { state: &state, person: &person, id: &id, query: &query, fields: &fields, name: "feedback" };
    let note = fields.find("note").filter(|note| !note.trim().is_empty()).map(str::to_owned);
    let selection = BulkSelection::Ids(ids_of(&fields));
    let done =
        match state.app.resolve_feedback_all(&person.account, &id, selection, note, Author::Owner).await {
            Ok(done) => done,
            Err(error) => return form.refuse(error).await,
        };
    let message = match done.ids.len() {
        1 => "1 comment resolved.".to_owned(),
        many => format!("{many} comments resolved."),
    };
    let ids = done.ids.clone();
    let outcome = FeedbackOutcome { message, undo: Some((done.ids, done.resolved_at)), deleted: None };
    if form.wants_fragment() {
        return fragment(&state, &person, &id, &query, &ids, outcome).await;
    }
    // Not a redirect: the list of what can be undone is too long for an address.
    let shown = Shown { outcome: Some(outcome), status: StatusCode::OK, ..Shown::default() };
    show(&state, &person, &id, &query, shown).await
}

pub(super) async fn undo(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    query: Query,
    SignedForm { person, fields }: SignedForm,
) -> Answer {
    let form =
        Form { state: &state, person: &person, id: &id, query: &query, fields: &fields, name: "feedback" };
    let Some(resolved_at) = number::integer(fields.text("resolved_at")) else {
        return form.refuse(Error::field("resolved_at", "must be a time")).await;
    };
    let ids = ids_of(&fields);
    match state.app.undo_resolve_feedback(&person.account, &id, ids.clone(), resolved_at).await {
        Ok(0) => {
            let why = state.app.explain_not_undone(&person.account, &id, ids.len()).await?;
            form.refuse(why).await
        }
        Ok(_) => form.done(&ids, Done::ResolveUndone, None).await,
        Err(error) => form.refuse(error).await,
    }
}
