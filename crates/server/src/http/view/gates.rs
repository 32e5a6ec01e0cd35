//! The gates of a page: finds out which ones a viewer has passed, and shows the form of the next one. Handles the
//! password gate, by form or `Authorization: Basic`; the e-mail gate is in `email_gate`. Password first, then e-mail.

use super::cookies::{Cookie, is_owner};
use super::page_address::RESERVED_PREFIX;
use super::page_request::PageRequest;
use super::share::{self, ShareLink};
use super::{changes, form, redirect, report, wants, without_body};
use crate::http::OutBody;
use crate::http::error::{self, Wants};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dropleaf_core::access::{self, Access, Gate, Passes};
use dropleaf_core::gate_pass::GatePassKind;
use dropleaf_core::{Code, Error, path};
use dropleaf_pages::{self as pages, Step};
use http::{Method, Response, StatusCode, header};
use hyper::body::Incoming;

/// The name of the e-mail gate's form below `_dropleaf/`.
const EMAIL_FORM: &str = "code";

/// The gates that the request has passed.
pub(super) enum GateResult {
    Passes(Passes),
    /// A response that takes precedence, such as the redirect that removes a share token from the address.
    Answer(Response<OutBody>),
}

pub(super) async fn passes(request: &PageRequest<'_>) -> Result<GateResult, Error> {
    let shared = match share::check(request).await? {
        ShareLink::No => Passes::default(),
        ShareLink::Opens { email_gate } => Passes { password: true, email: email_gate },
        ShareLink::Redirect(response) => return Ok(GateResult::Answer(response)),
    };
    if is_owner(request) {
        return Ok(GateResult::Passes(Passes::ALL));
    }
    let (app, site) = (&request.dispatcher.app, &request.page.site);
    let holds =
        |cookie: Cookie, kind| cookie.read(request).is_some_and(|value| app.verify_pass(kind, site, value));
    let mut passes = Passes {
        password: shared.password || holds(Cookie::Gate, GatePassKind::Password),
        email: shared.email || holds(Cookie::Email, GatePassKind::Email),
    };
    if request.page.access_rules.has_password
        && !passes.password
        && let Some(password) = basic_password(request)
    {
        passes.password = app.check_password(site, &password, request.client_ip()).await?;
        if !passes.password {
            let wrong = Error::plain(Code::WrongPassword);
            return Ok(GateResult::Answer(refuse(
                request,
                Step::Password,
                &current_address(request),
                &wrong,
            )));
        }
    }
    Ok(GateResult::Passes(passes))
}

pub(super) fn ask(request: &PageRequest<'_>, gate: Gate) -> Result<Response<OutBody>, Error> {
    let step = match gate {
        Gate::Password => Step::Password,
        Gate::Email => {
            request.dispatcher.app.require_mail()?;
            Step::Address
        }
    };
    Ok(refuse(request, step, &current_address(request), &refusal(gate)))
}

pub(super) fn refusal(gate: Gate) -> Error {
    Error::plain(match gate {
        Gate::Password => Code::PasswordRequired,
        Gate::Email => Code::EmailRequired,
    })
}

/// `POST _dropleaf/gate`: takes the password and the address to return to.
pub(super) async fn submit(request: &PageRequest<'_>, body: Incoming) -> Result<Response<OutBody>, Error> {
    if let Some(response) = before_form(request, request.page.access_rules.has_password)? {
        return Ok(response);
    }
    let fields = form::fields(body).await?;
    let to = return_address(request, form::field(&fields, "to"));
    let password = form::field(&fields, "password").unwrap_or_default();
    if password.is_empty() {
        return Ok(refuse(request, Step::Password, &to, &refusal(Gate::Password)));
    }
    match request.dispatcher.app.check_password(&request.page.site, password, request.client_ip()).await {
        Ok(true) => opened(request, Cookie::Gate, GatePassKind::Password, &to),
        Ok(false) => Ok(refuse(request, Step::Password, &to, &Error::plain(Code::WrongPassword))),
        Err(error) => try_again(request, Step::Password, &to, error),
    }
}

/// Common checks of gate forms: the page exists and has this gate, and the form was sent from the page's origin.
/// Redirects to the page for GET, or if the page has no such gate.
pub(super) fn before_form(
    request: &PageRequest<'_>,
    gated: bool,
) -> Result<Option<Response<OutBody>>, Error> {
    if let Access::Gone(code) =
        access::decide(&request.page.access_rules, Passes::ALL, request.dispatcher.app.now())
    {
        return Err(Error::plain(code));
    }
    match request.head.method {
        Method::POST if gated => form::require_same_origin(request).map(|()| None),
        Method::POST | Method::GET | Method::HEAD => {
            redirect(StatusCode::SEE_OTHER, &request.root()).map(Some)
        }
        _ => Err(Error::plain(Code::MethodNotAllowed)),
    }
}

/// Sets the cookie of a passed gate and redirects to the page.
pub(super) fn opened(
    request: &PageRequest<'_>,
    cookie: Cookie,
    kind: GatePassKind,
    to: &str,
) -> Result<Response<OutBody>, Error> {
    let pass = request.dispatcher.app.issue_pass(kind, &request.page.site);
    let mut response = redirect(StatusCode::SEE_OTHER, to)?;
    if let Some(value) = cookie.set(request, &pass, kind.life()) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    Ok(response)
}

/// Refuses with the gate's form for a browser, as an error for a program.
pub(super) fn refuse(
    request: &PageRequest<'_>,
    step: Step<'_>,
    to: &str,
    error: &Error,
) -> Response<OutBody> {
    let wants = wants(&request.head.headers);
    let mut response = if wants == Wants::Page {
        let problem = problem(error);
        let mut response = question(request, step, to, error::status(error.code), problem.as_deref());
        error::note(response.headers_mut(), error);
        response
    } else {
        error::respond(error, wants)
    };
    if request.head.method == Method::HEAD {
        without_body(&mut response);
    }
    response
}

/// Shows the form again for errors the viewer can correct; returns any other error.
pub(super) fn try_again(
    request: &PageRequest<'_>,
    step: Step<'_>,
    to: &str,
    error: Error,
) -> Result<Response<OutBody>, Error> {
    match error.code {
        Code::RateLimited | Code::Overloaded | Code::InvalidField => Ok(refuse(request, step, to, &error)),
        _ => Err(error),
    }
}

/// The page with the form of this step.
pub(super) fn question(
    request: &PageRequest<'_>,
    step: Step<'_>,
    to: &str,
    status: StatusCode,
    problem: Option<&str>,
) -> Response<OutBody> {
    let root = request.root();
    let name = match step {
        Step::Password => "gate",
        Step::Address | Step::Code { .. } => EMAIL_FORM,
    };
    let action = format!("{root}{RESERVED_PREFIX}{name}");
    let page = pages::gate(&pages::Gate {
        step,
        // The form of an encrypted page must be posted to the page's own address, to keep the fragment; see
        // `reserved::at_root`.
        action: Some(action.as_str()).filter(|_| !request.page.site.e2e),
        to,
        problem,
        report: Some(&report::link(&root)),
    });
    error::designed(status, page)
}

/// The message beside the field.
fn problem(error: &Error) -> Option<String> {
    let wait = error.retry_after.unwrap_or(1);
    Some(match error.code {
        Code::WrongPassword => "Wrong password. Check uppercase letters and spaces, then try again.".into(),
        Code::InvalidCode => "Wrong code. It may be mistyped, already used or expired.".into(),
        Code::InvalidField => "This is not a valid email address.".into(),
        Code::RateLimited => format!("Too many attempts. Wait {}, then try again.", span(wait)),
        Code::Overloaded => "The server is busy. Try again in a moment.".into(),
        _ => return None,
    })
}

fn span(seconds: i64) -> String {
    match seconds {
        1 => "a second".into(),
        2..=90 => format!("{seconds} seconds"),
        _ => format!("{} minutes", seconds.div_euclid(60) + i64::from(seconds % 60 > 0)),
    }
}

/// The requested address, to return to after the gate, without a share token.
pub(super) fn current_address(request: &PageRequest<'_>) -> String {
    let uri = &request.head.uri;
    let kept = uri.query().unwrap_or_default().split('&').filter(|part| {
        let name = part.split('=').next().unwrap_or_default();
        !name.is_empty() && name != "t"
    });
    let query = kept.collect::<Vec<_>>().join("&");
    let address = if query.is_empty() { uri.path().to_owned() } else { format!("{}?{query}", uri.path()) };
    return_address(request, Some(&address))
}

/// `to` if it is an address of this page that is safe to redirect to; otherwise the page's root.
pub(super) fn return_address(request: &PageRequest<'_>, to: Option<&str>) -> String {
    let root = request.root();
    let good = to.filter(|to| {
        path::below(&root, to).is_some_and(|tail| match tail.strip_prefix(RESERVED_PREFIX) {
            // The only page of ours that a viewer comes to see.
            Some(name) => name.split('?').next() == Some(changes::NAME),
            None => true,
        })
    });
    good.map_or(root.clone(), str::to_owned)
}

/// The password of `Authorization: Basic`; any user name is accepted.
fn basic_password(request: &PageRequest<'_>) -> Option<String> {
    let (scheme, value) = request.header(header::AUTHORIZATION.as_str())?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = String::from_utf8(STANDARD.decode(value.trim()).ok()?).ok()?;
    pair.split_once(':').map(|(_, password)| password.to_owned())
}
