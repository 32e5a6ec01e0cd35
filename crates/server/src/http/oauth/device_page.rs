//! Serves `/device`, where a person types the code that a program shows, sees which program asks, and answers.
//! A link alone allows nothing: the answer is a separate form.

use crate::http::extract::client_ip;
use crate::http::state::ApiState;
use crate::http::web::{
    Person, Query, SignedForm, WebError, page, page_with_status, require_visit, see_other,
};
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::response::Response;
use dropleaf_core::Code;
use dropleaf_pages::dashboard::{DeviceAnswer, Section, Shell, device_ask, device_confirm, device_end};
use http::StatusCode;

pub(super) async fn show(
    State(state): State<ApiState>,
    query: Query,
    request: Request,
) -> Result<Response, WebError> {
    let (mut parts, _) = request.into_parts();
    // Guesses are counted here, so pages of other sites must not trigger a request in the background, such as for an
    // image.
    require_visit(&parts.headers)?;
    let site = parts.headers.get("sec-fetch-site").and_then(|value| value.to_str().ok());
    let is_led_here = site.is_some_and(|site| !matches!(site, "none" | "same-origin"));
    let person = Person::from_request_parts(&mut parts, &state).await?;
    let shell = shell(&person);
    if let Some(answer) = query.find("ended").and_then(DeviceAnswer::parse) {
        return Ok(page(device_end(shell, answer)));
    }
    let code = query.text("user_code").trim();
    if code.is_empty() {
        return Ok(page(device_ask(shell, "", false)));
    }
    // A link on another site only fills in the code: following it does not count as the person's guess.
    if is_led_here {
        return Ok(page(device_ask(shell, &short(code), false)));
    }
    let found = state.app.find_device_login(&person.account, code, client_ip(&parts, &state)).await?;
    match found {
        Some(login) if !state.app.may_approve_device(&person.session, &login) => {
            Err(prove_first(&login.formatted_user_code()))
        }
        Some(login) => Ok(page(device_confirm(shell, &login))),
        None => Ok(unknown(shell, code)),
    }
}

pub(super) async fn answer(State(state): State<ApiState>, request: Request) -> Result<Response, WebError> {
    let (parts, body) = request.into_parts();
    let ip = client_ip(&parts, &state);
    let SignedForm { person, fields } =
        SignedForm::from_request(Request::from_parts(parts, body), &state).await?;
    let code = fields.text("user_code");
    // Anything but `allow` denies access.
    let allow = fields.text("answer") == "allow";
    match state.app.answer_device_login(&person.account, &person.session, code, allow, ip).await {
        Err(error) if error.code == Code::ProofNeeded => Err(prove_first(code)),
        Err(error) => Err(error.into()),
        Ok(Some(_)) => {
            let answer = if allow { DeviceAnswer::Allowed } else { DeviceAnswer::Denied };
            Ok(see_other(&format!("/device?ended={}", answer.word())))
        }
        Ok(None) => Ok(unknown(shell(&person), code)),
    }
}

/// Sends the person to sign in again, and then back here.
fn prove_first(code: &str) -> WebError {
    let code: String = form_urlencoded::byte_serialize(code.as_bytes()).collect();
    WebError::ProveAgain(format!("/device?user_code={code}"))
}

fn shell(person: &Person) -> Shell<'_> {
    person.shell(Section::Standalone, None)
}

fn unknown(shell: Shell<'_>, code: &str) -> Response {
    page_with_status(StatusCode::BAD_REQUEST, device_ask(shell, &short(code), true), None)
}

fn short(code: &str) -> String {
    code.chars().take(20).collect()
}
