//! Serves executable files: always as a download, and a browser that navigates to one first gets a page that says what
//! it is about to download. Which files are executable is decided at upload.

use super::page_request::PageRequest;
use super::visitor::FETCH_SITE;
use super::{disposition, file, headers, report, without_body};
use crate::http::{OutBody, error};
use dropleaf_app::ServedFile;
use dropleaf_core::Error;
use dropleaf_pages::{self as pages, RiskyFile};
use http::{Method, Response, StatusCode, header};
use std::sync::Arc;

/// The query of the form on that page.
const AGREED: &str = "dropleaf-download=1";

pub(super) async fn send(
    request: &PageRequest<'_>,
    file: &Arc<ServedFile>,
) -> Result<Response<OutBody>, Error> {
    if request.visitor.navigation && !may_skip_question(request) {
        return Ok(ask_first(request, file));
    }
    let mut response = file::send(request, file, StatusCode::OK).await?;
    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
    response.headers_mut().insert(header::CONTENT_DISPOSITION, disposition::attachment(name));
    Ok(response)
}

/// Whether the button was pressed, or the page itself links to the file: a browser may send `<a download>` as a
/// navigation, and would save the warning page under the file's name. A link from another site or an email never skips
/// the warning, and neither does the form of a gate, which redirects to wherever such a link pointed.
fn may_skip_question(request: &PageRequest<'_>) -> bool {
    let site = request.head.headers.get(FETCH_SITE).and_then(|site| site.to_str().ok());
    let is_agreed = request.head.uri.query().is_some_and(|query| query.split('&').any(|pair| pair == AGREED));
    match site {
        Some("same-origin") => is_agreed || !request.page.access_rules.is_gated(),
        Some(_) => false,
        None => is_agreed,
    }
}

fn ask_first(request: &PageRequest<'_>, file: &ServedFile) -> Response<OutBody> {
    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
    let page = pages::risky(&RiskyFile {
        name,
        size_bytes: file.size_bytes,
        report: &report::link(&request.root()),
    });
    let mut response = error::designed(StatusCode::OK, page);
    headers::interstitial(response.headers_mut());
    if request.head.method == Method::HEAD {
        without_body(&mut response);
    }
    response
}
