//! The e-mail gate: takes an address, mails a code and opens the page with it. Whether an address is allowed is not
//! revealed: the response is the same, and a task sends the email without the response waiting for it.

use super::cookies::Cookie;
use super::gates::{self, Found};
use super::scene::Scene;
use super::{form, wants};
use crate::http::OutBody;
use crate::http::error::{self, Wants};
use crate::pages::Step;
use dropleaf_core::access::Gate;
use dropleaf_core::gate_pass::GatePassKind;
use dropleaf_core::{Code, Error, email};
use http::{Response, StatusCode};
use hyper::body::Incoming;
use serde_json::json;
use std::sync::Arc;

/// The name of the form below `_dropleaf/`.
pub(super) const NAME: &str = "code";

const SENT: &str = "If this address is allowed to open the page, a code was sent to it. Send `email` and `code` here within 10 \
                    minutes.";

/// `POST _dropleaf/code`: an address alone requests a code; an address and a code open the page.
pub(super) async fn submit(scene: &Scene<'_>, body: Incoming) -> Result<Response<OutBody>, Error> {
    if let Some(response) = gates::before_form(scene, scene.page.door.has_email_gate)? {
        return Ok(response);
    }
    let passes = match gates::passes(scene).await? {
        Found::Passes(passes) => passes,
        Found::Answer(response) => return Ok(response),
    };
    // Without the password no email is sent.
    if scene.page.door.has_password && !passes.password {
        return gates::ask(scene, Gate::Password);
    }
    let fields = form::fields(body).await?;
    let to = gates::way_back(scene, form::field(&fields, "to"));
    let address = form::field(&fields, "email").unwrap_or_default();
    if address.is_empty() {
        scene.door.app.require_mail()?;
        return Ok(gates::refuse(scene, Step::Address, &to, &gates::refusal(Gate::Email)));
    }
    match form::field(&fields, "code").filter(|code| !code.trim().is_empty()) {
        Some(code) => enter(scene, address, code, &to).await,
        None => send(scene, address, &to).await,
    }
}

async fn send(scene: &Scene<'_>, address: &str, to: &str) -> Result<Response<OutBody>, Error> {
    let app = &scene.door.app;
    let letter = match app.request_gate_code(&scene.page.site, address, scene.client_ip()).await {
        Ok(letter) => letter,
        Err(error) => return gates::try_again(scene, Step::Address, to, error),
    };
    // A task is spawned in both cases, so that timing reveals nothing.
    let app = Arc::clone(app);
    scene.door.tasks.spawn(async move {
        if let Some(letter) = letter {
            app.send_email_logged(letter).await;
        }
    });
    Ok(match wants(&scene.head.headers) {
        Wants::Page => {
            let email = email::address(address)?;
            gates::question(scene, Step::Code { email: &email }, to, StatusCode::OK, None)
        }
        Wants::Json => {
            let body = json!({"ok": true, "message": SENT}).to_string();
            error::bare(StatusCode::OK, "application/json", body)
        }
        Wants::Text => error::bare(StatusCode::OK, "text/plain; charset=utf-8", format!("{SENT}\n")),
    })
}

async fn enter(scene: &Scene<'_>, address: &str, code: &str, to: &str) -> Result<Response<OutBody>, Error> {
    let step = Step::Code { email: address };
    match scene.door.app.verify_gate_code(&scene.page.site, address, code, scene.client_ip()).await {
        Ok(true) => gates::opened(scene, Cookie::Email, GatePassKind::Email, to),
        Ok(false) => Ok(gates::refuse(scene, step, to, &Error::plain(Code::InvalidCode))),
        Err(error) => gates::try_again(scene, step, to, error),
    }
}
