//! `_dropleaf/changes`: what changed in the page since an earlier version, if its owner shows that. It is behind everything
//! that the page itself is behind. It shows text that we compare and write; nothing of the page runs here.

use super::admission::{self, Admission};
use super::page_address::RESERVED_PREFIX;
use super::page_request::PageRequest;
use super::redirects::{isolated_target, redirect};
use super::{OutBody, check_requester, nothing_here, report, wants, without_body};
use crate::http::changed_file::changed_file;
use crate::http::error::{self, Wants};
use dropleaf_app::{ComparedPage, EarlierVersion, PageChanges};
use dropleaf_core::access::{self, Access, Passes};
use dropleaf_core::{Code, Error, number};
use dropleaf_pages::{self as pages, Changes, ChangesState, Moment, OtherVersion};
use http::{Method, Response, StatusCode};
use serde_json::json;

pub(super) const NAME: &str = "changes";
/// The query that names the older version.
const FROM: &str = "from";

const ENCRYPTED: &str = "This page is encrypted, so the server cannot compare its versions.";
const ONCE: &str = "This page can be viewed only once, so there are no versions to compare.";
const FIRST: &str = "There is no earlier version to compare with yet.";
const UNKNOWN: &str = "This version cannot be compared. Choose one of the versions in the list.";

pub(super) async fn answer(request: &PageRequest<'_>) -> Result<Response<OutBody>, Error> {
    let site = &request.page.site;
    let now = request.dispatcher.app.now();
    if let Access::Gone(code) = access::decide(&request.page.access_rules, Passes::ALL, now) {
        return Err(Error::plain(code));
    }
    if site.changes_since.is_none() {
        return Err(nothing_here());
    }
    if !matches!(request.head.method, Method::GET | Method::HEAD) {
        return Err(Error::plain(Code::MethodNotAllowed));
    }
    let tail = format!("{RESERVED_PREFIX}{NAME}");
    check_requester(request, Some(&tail))?;
    // Before the gates, whose cookies belong to the page's own host.
    if let Some(target) = isolated_target(request) {
        return redirect(StatusCode::TEMPORARY_REDIRECT, &target);
    }
    match Box::pin(admission::admit(request, &tail)).await? {
        Admission::Serve => {}
        Admission::Reveal => return Ok(nothing(request, StatusCode::OK, ONCE, &[])),
        Admission::Instead(response) => return Ok(response),
    }
    Ok(match request.dispatcher.app.page_changes(request.page, version(request)).await? {
        PageChanges::Encrypted => nothing(request, StatusCode::OK, ENCRYPTED, &[]),
        PageChanges::First => nothing(request, StatusCode::OK, FIRST, &[]),
        PageChanges::Unknown(earlier) => nothing(request, StatusCode::NOT_FOUND, UNKNOWN, &earlier),
        PageChanges::Compared(compared) => show(request, compared),
    })
}

/// The version in the query. What is not a number becomes 0, which no version has.
fn version(request: &PageRequest<'_>) -> Option<i64> {
    let query = request.head.uri.query().unwrap_or_default();
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let (_, value) = pairs.find(|(name, _)| name == FROM)?;
    Some(number::integer(&value).unwrap_or_default())
}

fn show(request: &PageRequest<'_>, compared: ComparedPage) -> Response<OutBody> {
    let ComparedPage { from, to, earlier, content, is_archive } = compared;
    match wants(&request.head.headers) {
        Wants::Page => {
            let files = content.files.iter().map(changed_file).collect();
            let state = ChangesState::Compared { from, files, is_truncated: content.is_truncated };
            page(request, StatusCode::OK, state, &earlier, is_archive)
        }
        Wants::Json => {
            let body =
                json!({"from": from, "to": to, "truncated": content.is_truncated, "diff": content.unified()});
            plain(request, StatusCode::OK, "application/json", body.to_string())
        }
        Wants::Text => plain(request, StatusCode::OK, "text/plain; charset=utf-8", content.unified()),
    }
}

/// There is nothing to compare, which is no failure of the page.
fn nothing(
    request: &PageRequest<'_>,
    status: StatusCode,
    why: &'static str,
    earlier: &[EarlierVersion],
) -> Response<OutBody> {
    match wants(&request.head.headers) {
        Wants::Page => page(request, status, ChangesState::Nothing(why), earlier, false),
        Wants::Json => {
            let mut body = json!({"to": request.page.site.version, "diff": null, "reason": why});
            if status == StatusCode::NOT_FOUND {
                body = json!({"error": Code::NotFound.as_str(), "error_description": why});
            }
            plain(request, status, "application/json", body.to_string())
        }
        Wants::Text => plain(request, status, "text/plain; charset=utf-8", format!("{why}\n")),
    }
}

fn page(
    request: &PageRequest<'_>,
    status: StatusCode,
    state: ChangesState,
    earlier: &[EarlierVersion],
    names_files: bool,
) -> Response<OutBody> {
    let root = request.root();
    let (action, report) = (format!("{root}{RESERVED_PREFIX}{NAME}"), report::link(&root));
    let earlier = earlier.iter();
    let changes = Changes {
        title: &request.page.site.title,
        version: request.page.site.version,
        page: &root,
        action: &action,
        earlier: earlier
            .map(|known| OtherVersion { version: known.version, created: Moment(known.created_at) })
            .collect(),
        state,
        names_files,
        report: Some(&report),
    };
    finished(request, error::designed(status, pages::changes(&changes)))
}

fn plain(
    request: &PageRequest<'_>,
    status: StatusCode,
    kind: &'static str,
    body: String,
) -> Response<OutBody> {
    finished(request, error::bare(status, kind, body))
}

fn finished(request: &PageRequest<'_>, mut response: Response<OutBody>) -> Response<OutBody> {
    if request.head.method == Method::HEAD {
        without_body(&mut response);
    }
    response
}
