//! Serves `/claim/{id}`, where claim links lead, and claiming by pasting the link into the dashboard.
//! The page works without a session: the tab keeps the token while the person signs in.

use super::list;
use crate::http::error::status;
use crate::http::state::ApiState;
use crate::http::web::{MaybePerson, Person, Query, SignedForm, WebError, login, page_with_status};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_core::{Code, Error, Minter};
use dropleaf_pages::dashboard::{self as pages, Attempt, Claim, Done, RefusedForm, Section, Shell};
use http::StatusCode;

pub(super) async fn read(
    MaybePerson(person): MaybePerson,
    Path(id): Path<String>,
) -> Result<Response, WebError> {
    check_id(&id)?;
    let Some(person) = person else {
        let shell = Shell::standalone("");
        let sign_in = Some(login(&format!("/claim/{id}")));
        let html = pages::claim(&Claim { shell, id: &id, sign_in, attempt: Attempt::default() });
        return Ok(page_with_status(StatusCode::OK, html, None));
    };
    Ok(form(&person, &id, StatusCode::OK, Attempt::default()))
}

fn form(person: &Person, id: &str, status: StatusCode, attempt: Attempt) -> Response {
    let shell = person.shell(Section::Standalone, None);
    page_with_status(status, pages::claim(&Claim { shell, id, sign_in: None, attempt }), None)
}

pub(super) async fn create(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    SignedForm { person, fields }: SignedForm,
) -> Result<Response, WebError> {
    check_id(&id)?;
    let sent = fields.text("claim_token").trim();
    // People paste the whole link as well.
    let token = sent.rsplit_once('#').map_or(sent, |(_, token)| token);
    match state.app.claim_site(&person.account, &id, token).await {
        Ok(site) => Ok(super::page::done(&site.id, Done::Claimed)),
        Err(error) => {
            let attempt = refused("claim_token", sent, error)?;
            Ok(form(&person, &id, attempt.0, attempt.1))
        }
    }
}

/// Claims a page with a link pasted into the dashboard.
pub(super) async fn by_link(
    State(state): State<ApiState>,
    SignedForm { person, fields }: SignedForm,
) -> Result<Response, WebError> {
    let link = fields.text("link").trim();
    let outcome = match parts(link) {
        Some((id, token)) => state.app.claim_site(&person.account, id, token).await,
        None => Err(Error::new(
            Code::InvalidField,
            "This is not a claim link. A claim link contains the page ID and, after a #, the token.",
        )),
    };
    match outcome {
        Ok(site) => Ok(super::page::done(&site.id, Done::Claimed)),
        Err(error) => {
            let (code, attempt) = refused("link", link, error)?;
            list::render(&state, &person, &Query::default(), code, attempt).await
        }
    }
}

/// The id and the token in `…/claim/<id>#<token>`.
fn parts(link: &str) -> Option<(&str, &str)> {
    let (address, token) = link.split_once('#')?;
    let (_, id) = address.trim_end_matches('/').rsplit_once("/claim/")?;
    (Minter::is_id("site", id) && !token.is_empty()).then_some((id, token))
}

fn check_id(id: &str) -> Result<(), Error> {
    if Minter::is_id("site", id) { Ok(()) } else { Err(Error::not_found("page")) }
}

/// Turns a refusal into a message for the form; server errors are returned unchanged.
fn refused(field: &'static str, sent: &str, error: Error) -> Result<(StatusCode, Attempt), Error> {
    let code = status(error.code);
    if code.is_server_error() {
        return Err(error);
    }
    let message = match error.code {
        Code::InvalidClaimToken => {
            "This token does not belong to this page. Check that the link is complete.".into()
        }
        Code::AlreadyClaimed => "Another account has already claimed this page.".into(),
        Code::Expired => "This page has expired and can no longer be claimed.".into(),
        Code::NotFound => "This page does not exist or was deleted.".into(),
        _ => super::problem::words(&error),
    };
    let typed = vec![(field.to_owned(), sent.to_owned())];
    Ok((
        code,
        Attempt(Some(RefusedForm {
            form: "claim",
            field,
            message,
            typed,
            reasons: Vec::new(),
            appeal: None,
        })),
    ))
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_claim_link_is_taken_apart() {
        let id = "site_abcdefghij0123456789";
        assert_eq!(parts(&format!("https://x.example/claim/{id}#clm_a")), Some((id, "clm_a")));
        for bad in [
            "",
            "clm_a",
            "https://x/claim/site_1#clm",
            &format!("https://x/claim/{id}"),
            &format!("/claim/{id}#"),
        ] {
            assert_eq!(parts(bad), None, "{bad}");
        }
    }
}
