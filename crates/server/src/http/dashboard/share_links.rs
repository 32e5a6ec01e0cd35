//! Creates share links of a page, with a note and limits, and revokes them.

use super::page::{Sent, done, refuse};
use crate::http::state::ApiState;
use crate::http::web::{Fields, SignedForm, WebError};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_core::expiry::Lifetime;
use dropleaf_core::share_token::ShareTokenRequest;
use dropleaf_core::{Error, Result, number};
use dropleaf_pages::dashboard::Done;

fn request(fields: &Fields) -> Result<ShareTokenRequest> {
    let expires_in = match Lifetime::from_hours_text(fields.text("expires_in_hours"))? {
        Lifetime::Seconds(seconds) => Some(seconds),
        Lifetime::Unstated | Lifetime::Never | Lifetime::Until(_) => None,
    };
    let max_uses = match fields.text("max_uses").trim() {
        "" => None,
        text => {
            Some(number::integer(text).ok_or_else(|| Error::field("max_uses", "must be a whole number"))?)
        }
    };
    Ok(ShareTokenRequest {
        note: fields.find("note").map(str::to_owned),
        expires_in,
        max_uses,
        bypass_email_gate: fields.is_checked("bypass_email_gate"),
    })
}

pub(super) async fn create(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    SignedForm { person, fields }: SignedForm,
) -> Result<Response, WebError> {
    let outcome = match request(&fields) {
        Ok(request) => {
            state.app.create_share_token(&person.account, &id, request, None, |_| Vec::new()).await
        }
        Err(error) => Err(error),
    };
    match outcome {
        Ok(_) => Ok(done(&id, Done::LinkMade)),
        Err(error) => {
            refuse(&state, &person, &id, Sent { form: "share", field: None, fields: &fields }, error).await
        }
    }
}

pub(super) async fn revoke(
    State(state): State<ApiState>,
    Path((id, link)): Path<(String, String)>,
    SignedForm { person, fields }: SignedForm,
) -> Result<Response, WebError> {
    state.app.get_own_site(&person.account, &id).await?;
    match state.app.revoke_share_token(&person.account, &link).await {
        Ok(()) => Ok(done(&id, Done::LinkRevoked)),
        Err(error) => {
            refuse(&state, &person, &id, Sent { form: "share", field: Some(""), fields: &fields }, error)
                .await
        }
    }
}
