//! Serves the form to report a page to the operator; it needs no script and no pass.
//! It shows nothing of the page, so it is not behind the gates.

use super::page_request::PageRequest;
use super::{OutBody, form, redirect, wants, without_body};
use crate::http::error::{self, Wants};
use dropleaf_core::access::{self, Access, Passes};
use dropleaf_core::report::{self, ReportContent};
use dropleaf_core::{Code, Error};
use dropleaf_pages::{self as pages, Rendered, ReportForm};
use http::{Method, Response, StatusCode};
use hyper::body::Incoming;

/// The query after a report was stored.
const SENT: &str = "sent";

/// The report form of the page with this root.
pub(super) fn link(root: &str) -> String {
    format!("{root}_dropleaf/report")
}

pub(super) async fn answer(request: &PageRequest<'_>, body: Incoming) -> Result<Response<OutBody>, Error> {
    if let Access::Gone(code) =
        access::decide(&request.page.access_rules, Passes::ALL, request.dispatcher.app.now())
    {
        return Err(Error::plain(code));
    }
    match request.head.method {
        Method::GET | Method::HEAD if request.head.uri.query() == Some(SENT) => {
            Ok(designed(request, StatusCode::OK, pages::report_thanks()))
        }
        Method::GET | Method::HEAD => {
            let action = link(&request.root());
            let form = ReportForm { action: &action, ..ReportForm::default() };
            Ok(designed(request, StatusCode::OK, pages::report(&form)))
        }
        Method::POST => submit(request, body).await,
        _ => Err(Error::plain(Code::MethodNotAllowed)),
    }
}

async fn submit(request: &PageRequest<'_>, body: Incoming) -> Result<Response<OutBody>, Error> {
    form::require_same_origin(request)?;
    form::require_persons_click(request)?;
    let fields = form::fields(body).await?;
    let text = |name| form::field(&fields, name);
    let own = |name| text(name).map(str::to_owned);
    let action = link(&request.root());
    let said: ReportContent = match report::checked(text("reason"), own("comment"), own("contact")) {
        Ok(said) => said,
        Err(error) if wants(&request.head.headers) == Wants::Page => {
            // Keeps the typed values in the form.
            let again = ReportForm {
                action: &action,
                reason: text("reason").unwrap_or_default(),
                comment: text("comment").unwrap_or_default(),
                contact: text("contact").unwrap_or_default(),
                problem: Some(problem(&error)),
            };
            return Ok(designed(request, StatusCode::BAD_REQUEST, pages::report(&again)));
        }
        Err(error) => return Err(error),
    };
    request.dispatcher.app.report_page(&request.page.site, request.client_ip(), said).await?;
    if wants(&request.head.headers) == Wants::Page {
        return redirect(StatusCode::SEE_OTHER, &format!("{action}?{SENT}"));
    }
    let thanks = "Thank you. The operator of this server will see your report.\n";
    Ok(error::bare(StatusCode::OK, "text/plain; charset=utf-8", thanks.into()))
}

/// The message for people; the error's own description names an API field.
fn problem(error: &Error) -> &'static str {
    match error.detail.split('`').nth(1) {
        Some("reason") => "Choose a reason.",
        Some("contact") => "Your email address is too long.",
        _ => "Your message is too long. The limit is 2000 characters.",
    }
}

fn designed(request: &PageRequest<'_>, status: StatusCode, page: Rendered) -> Response<OutBody> {
    let mut response = error::designed(status, page);
    if request.head.method == Method::HEAD {
        without_body(&mut response);
    }
    response
}
