//! The e-mail gate: takes an address, mails a code and opens the page with it. Whether an address is allowed is not
//! revealed: the response is the same, and a task sends the email without the response waiting for it.

use super::cookies::Cookie;
use super::gates::{self, GateResult};
use super::page_request::PageRequest;
use super::{form, wants};
use crate::http::OutBody;
use crate::http::error::{self, Wants};
use dropleaf_core::access::Gate;
use dropleaf_core::gate_pass::GatePassKind;
use dropleaf_core::{Code, Error, email};
use dropleaf_pages::Step;
use http::{Response, StatusCode};
use hyper::body::Incoming;
use serde_json::json;
use std::sync::Arc;

const SENT: &str = "If this address is allowed to open the page, a code was sent to it. Send `email` and `code` here within 10 \
                    minutes.";

/// `POST _dropleaf/code`: an address alone requests a code; an address and a code open the page.
pub(super) async fn submit(request: &PageRequest<'_>, body: Incoming) -> Result<Response<OutBody>, Error> {
    if let Some(response) = gates::before_form(request, request.page.access_rules.has_email_gate)? {
        return Ok(response);
    }
    let passes = match gates::passes(request).await? {
        GateResult::Passes(passes) => passes,
        GateResult::Answer(response) => return Ok(response),
    };
    // Without the password no email is sent.
    if request.page.access_rules.has_password && !passes.password {
        return gates::ask(request, Gate::Password);
    }
    let fields = form::fields(body).await?;
    let to = gates::return_address(request, form::field(&fields, "to"));
    let address = form::field(&fields, "email").unwrap_or_default();
    if address.is_empty() {
        request.dispatcher.app.require_mail()?;
        return Ok(gates::refuse(request, Step::Address, &to, &gates::refusal(Gate::Email)));
    }
    match form::field(&fields, "code").filter(|code| !code.trim().is_empty()) {
        Some(code) => enter(request, address, code, &to).await,
        None => send(request, address, &to).await,
    }
}

async fn send(request: &PageRequest<'_>, address: &str, to: &str) -> Result<Response<OutBody>, Error> {
    let app = &request.dispatcher.app;
    let mail = match app.request_gate_code(&request.page.site, address, request.client_ip()).await {
        Ok(mail) => mail,
        Err(error) => return gates::try_again(request, Step::Address, to, error),
    };
    // A task is spawned in both cases, so that timing reveals nothing.
    let app = Arc::clone(app);
    request.dispatcher.tasks.spawn(async move {
        if let Some(mail) = mail {
            app.send_email_logged(mail).await;
        }
    });
    Ok(match wants(&request.head.headers) {
        Wants::Page => {
            let email = email::address(address)?;
            gates::question(request, Step::Code { email: &email }, to, StatusCode::OK, None)
        }
        Wants::Json => {
            let body = json!({"ok": true, "message": SENT}).to_string();
            error::bare(StatusCode::OK, "application/json", body)
        }
        Wants::Text => error::bare(StatusCode::OK, "text/plain; charset=utf-8", format!("{SENT}\n")),
    })
}

async fn enter(
    request: &PageRequest<'_>,
    address: &str,
    code: &str,
    to: &str,
) -> Result<Response<OutBody>, Error> {
    let step = Step::Code { email: address };
    match request
        .dispatcher
        .app
        .verify_gate_code(&request.page.site, address, code, request.client_ip())
        .await
    {
        Ok(true) => gates::opened(request, Cookie::Email, GatePassKind::Email, to),
        Ok(false) => Ok(gates::refuse(request, step, to, &Error::plain(Code::InvalidCode))),
        Err(error) => gates::try_again(request, step, to, error),
    }
}
