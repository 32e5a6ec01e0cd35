//! Serves `/unsubscribe/{token}`, the address in emails to owners: the page shows a form and changes nothing, because mail
//! scanners open links; a POST ends the emails, with one click in a mail program (RFC 8058) or by the form.

use super::home::designed;
use crate::http::error::{self, Wants};
use crate::http::small_body::{self, FORM_BYTES};
use crate::http::state::ApiState;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_core::notification::NotifyMode;
use dropleaf_core::{Error, Result};
use dropleaf_pages::{self as pages, Subscription};

pub(super) async fn show(State(state): State<ApiState>, Path(token): Path<String>) -> Response {
    let found = state.app.find_subscriber(&token).await;
    respond(&state, &token, found.map(|subscriber| (subscriber.mode, false)))
}

pub(super) async fn change(State(state): State<ApiState>, Path(token): Path<String>, body: Body) -> Response {
    let changed = set(&state, &token, body).await;
    respond(&state, &token, changed.map(|mode| (mode, true)))
}

/// Ends the emails. The form of the page can also choose others, which undoes it.
async fn set(state: &ApiState, token: &str, body: Body) -> Result<NotifyMode> {
    let bytes = small_body::read(body, FORM_BYTES).await?;
    let chosen = form_urlencoded::parse(&bytes).find(|(name, _)| name == "notify");
    // Mail programs send `List-Unsubscribe=One-Click`, some of them as multipart/form-data.
    let mode = chosen.map_or(Ok(NotifyMode::Off), |(_, value)| NotifyMode::read(&value))?;
    state.app.change_subscription(token, mode).await?;
    Ok(mode)
}

fn respond(state: &ApiState, token: &str, outcome: Result<(NotifyMode, bool), Error>) -> Response {
    match outcome {
        Ok((mode, is_changed)) => {
            let action = format!("/unsubscribe/{token}");
            let host = &state.resolved.hosts.base.host;
            designed(pages::subscription(&Subscription { action: &action, host, mode, is_changed }))
        }
        Err(error) => error::respond(&error, Wants::Page).map(Body::new),
    }
}
