//! Serves `/dashboard/keys`: creates API keys, shows each once, and revokes them.

use crate::http::error;
use crate::http::state::ApiState;
use crate::http::web::{Person, Query, SignedForm, WebError, page, page_with_status, see_other};
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use dropleaf_core::api_key::ApiKey;
use dropleaf_core::{Code, Error};
use dropleaf_pages::Moment;
use dropleaf_pages::dashboard::{CreatedKey, Done, KeyRow, Keys, Section, keys};

const HERE: &str = "/dashboard/keys";

pub(super) fn routes() -> Router<ApiState> {
    Router::new().route(HERE, get(list).post(create)).route("/dashboard/keys/{id}/revoke", post(revoke))
}

async fn list(State(state): State<ApiState>, person: Person, query: Query) -> Result<Response, WebError> {
    let all = state.app.list_keys(&person.account, None).await?;
    Ok(page(shown(&state, &person, &all, query.done(), Made::Nothing)))
}

/// The outcome of the form.
#[derive(Clone, Copy)]
enum Made<'a> {
    Nothing,
    Key(CreatedKey<'a>),
    Problem { name: &'a str, problem: &'a str },
}

async fn create(State(state): State<ApiState>, form: SignedForm) -> Result<Response, WebError> {
    let SignedForm { person, fields } = form;
    person.require_recent(&state, HERE)?;
    let name = fields.text("name");
    let made = state.app.create_key(&person.account, Some(name), None, |_| Vec::new()).await;
    let all = state.app.list_keys(&person.account, None).await?;
    match made {
        Ok(dropleaf_app::IdempotentResult::New(new)) => {
            let made = CreatedKey { name: &new.key.name, secret: &new.secret };
            // The response itself carries the key: it is in no URL and stored nowhere.
            Ok(page(shown(&state, &person, &all, None, Made::Key(made))))
        }
        Ok(dropleaf_app::IdempotentResult::Replayed { .. }) => Err(Error::plain(Code::Internal).into()),
        Err(error) if error.code == Code::InvalidField => {
            let problem = "The name can have at most 100 visible characters.";
            let html = shown(&state, &person, &all, None, Made::Problem { name, problem });
            Ok(page_with_status(error::status(error.code), html, None))
        }
        Err(error) => Err(error.into()),
    }
}

async fn revoke(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: SignedForm,
) -> Result<Response, WebError> {
    match state.app.revoke_key(&form.person.account, None, &id).await {
        Ok(()) => Ok(see_other(&Done::KeyRevoked.address(HERE))),
        Err(error) => Err(error.into()),
    }
}

fn shown(
    state: &ApiState,
    person: &Person,
    all: &[ApiKey],
    done: Option<Done>,
    made: Made<'_>,
) -> dropleaf_pages::Html {
    let (made, name, problem) = match made {
        Made::Nothing => (None, "", None),
        Made::Key(key) => (Some(key), "", None),
        Made::Problem { name, problem } => (None, name, Some(problem)),
    };
    keys(&Keys {
        shell: person.shell(Section::Keys, done),
        base_url: &state.resolved.hosts.base.url(),
        keys: all.iter().map(row).collect(),
        created_key: made,
        is_recent: person.session.is_recent(state.app.now()),
        name,
        problem,
    })
}

fn row(key: &ApiKey) -> KeyRow<'_> {
    KeyRow {
        id: &key.id,
        name: &key.name,
        prefix: &key.prefix,
        created: Moment(key.created_at),
        last_used: key.last_used.map(Moment),
    }
}
