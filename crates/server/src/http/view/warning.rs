//! Warns viewers before a page that a signal put before the operator, and lets them continue. Only navigations of browsers are
//! stopped: what the page loads, and programs, get its files. Which pages are warned about is decided in `dropleaf_app`.

use super::cookies::{Cookie, is_owner};
use super::page_address::RESERVED_PREFIX;
use super::page_request::PageRequest;
use super::{admission, form, gates, headers, redirect, report, without_body};
use crate::http::{OutBody, error};
use dropleaf_core::gate_pass::GatePassKind;
use dropleaf_core::{Code, Error};
use dropleaf_pages::{self as pages, Warning};
use http::{Method, Response, StatusCode};
use hyper::body::Incoming;

/// The name of the form below `_dropleaf/`.
pub(super) const NAME: &str = "continue";

/// Whether this page is shown only after the warning.
pub(super) fn is_on(request: &PageRequest<'_>) -> bool {
    request.dispatcher.app.warns_before(&request.page.site)
}

/// The warning, if this viewer has to see it before the page.
pub(super) fn ask_first(request: &PageRequest<'_>) -> Option<Response<OutBody>> {
    let shown = is_on(request) && request.visitor.navigation && !has_continued(request) && !is_owner(request);
    shown.then(|| {
        let (root, site) = (request.root(), &request.page.site);
        let action = format!("{root}{RESERVED_PREFIX}{NAME}");
        let page = pages::warning(&Warning {
            // The form of an encrypted page must be posted to the page's own address, to keep the fragment.
            action: (!site.e2e).then_some(action.as_str()),
            to: &gates::current_address(request),
            is_anonymous: site.account_id.is_none(),
            report: &report::link(&root),
        });
        let mut response = error::designed(StatusCode::OK, page);
        headers::interstitial(response.headers_mut());
        if request.head.method == Method::HEAD {
            without_body(&mut response);
        }
        response
    })
}

fn has_continued(request: &PageRequest<'_>) -> bool {
    let app = &request.dispatcher.app;
    let is_pass = |pass| app.verify_pass(GatePassKind::Warning, &request.page.site, pass);
    Cookie::Warning.read(request).is_some_and(is_pass)
}

/// Handles the button. The warning also comes before encrypted pages, whose form is posted to their root.
pub(super) async fn submit(request: &PageRequest<'_>, body: Incoming) -> Result<Response<OutBody>, Error> {
    match request.head.method {
        Method::POST if is_on(request) => {}
        Method::POST | Method::GET | Method::HEAD => {
            return redirect(StatusCode::SEE_OTHER, &request.root());
        }
        _ => return Err(Error::plain(Code::MethodNotAllowed)),
    }
    admission::require_inside(request).await?;
    form::require_same_origin(request)?;
    // A script of the page in another tab must not continue for the viewer.
    form::require_persons_click(request)?;
    let fields = form::fields(body).await?;
    let to = gates::return_address(request, form::field(&fields, "to"));
    // At a page's root several forms share an address: a gate's form, sent again, is no answer to the warning.
    if form::field(&fields, "warning") != Some(NAME) {
        return redirect(StatusCode::SEE_OTHER, &to);
    }
    gates::opened(request, Cookie::Warning, GatePassKind::Warning, &to)
}
