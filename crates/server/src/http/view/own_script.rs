//! Our own scripts that documents of pages load: the feedback toolbar and live updates. Each is the same for every page and
//! holds nothing of any, so it is not behind the gates.

use super::file::mark;
use super::page_address::RESERVED_PREFIX;
use super::page_request::PageRequest;
use super::{OutBody, headers, negotiate, nothing_here, without_body};
use bytes::Bytes;
use dropleaf_app::{ContentCoding, ServedFile};
use dropleaf_core::access::{self, Access, Passes};
use dropleaf_core::{Code, Error};
use http::{HeaderValue, Method, Response, StatusCode, header};
use sha2::{Digest, Sha256};
use std::sync::{LazyLock, OnceLock};

pub(super) static TOOLBAR: LazyLock<OwnScript> =
    LazyLock::new(|| OwnScript::new("toolbar.js", include_str!("../../../assets/toolbar.js")));
pub(super) static LIVE: LazyLock<OwnScript> =
    LazyLock::new(|| OwnScript::new("live.js", include_str!("../../../assets/live.js")));

#[derive(Debug)]
pub(super) struct OwnScript {
    name: &'static str,
    text: String,
    /// Hash of the script, so that browsers can cache it permanently.
    version: String,
    /// The script in every coding, created on first request.
    coded: OnceLock<[Option<Bytes>; 4]>,
}

impl OwnScript {
    fn new(name: &'static str, text: &'static str) -> Self {
        let text = without_comments(text);
        let hash = Sha256::digest(&text);
        let version =
            hash[..8].iter().fold(String::with_capacity(16), |text, byte| format!("{text}{byte:02x}"));
        Self { name, text, version, coded: OnceLock::new() }
    }

    /// Its address at the host of this request.
    pub(super) fn address(&self, request: &PageRequest<'_>) -> String {
        format!("{}{RESERVED_PREFIX}{}?v={}", request.root(), self.name, self.version)
    }

    /// `_dropleaf/<name>`, if the page uses it.
    pub(super) fn answer(
        &self,
        request: &PageRequest<'_>,
        is_used: bool,
    ) -> Result<Response<OutBody>, Error> {
        if let Access::Gone(code) =
            access::decide(&request.page.access_rules, Passes::ALL, request.dispatcher.app.now())
        {
            return Err(Error::plain(code));
        }
        if !is_used {
            return Err(nothing_here());
        }
        if !matches!(request.head.method, Method::GET | Method::HEAD) {
            return Err(Error::plain(Code::MethodNotAllowed));
        }
        let coding = negotiate::coding(request.header("accept-encoding"));
        let etag = format!("\"{}-{}\"", self.version, coding as u8);
        let query = request.head.uri.query();
        let named = query.and_then(|query| query.strip_prefix("v=")) == Some(self.version.as_str());
        let mut response = crate::http::empty(StatusCode::OK);
        let headers = response.headers_mut();
        headers::script(headers, named);
        headers.insert(header::ETAG, HeaderValue::from_str(&etag).map_err(Error::internal)?);
        if request.header("if-none-match").is_some_and(|found| negotiate::matches(found, etag.as_bytes())) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return Ok(response);
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/javascript; charset=utf-8"));
        let coded = self.coded.get_or_init(|| {
            ContentCoding::ALL.map(|coding| dropleaf_app::encode(self.text.as_bytes(), coding).ok())
        });
        let coded = coded[coding as usize]
            .clone()
            .ok_or_else(|| Error::internal(format!("{} cannot be compressed", self.name)))?;
        mark(headers, coding);
        *response.body_mut() = coded.into();
        if request.head.method == Method::HEAD {
            without_body(&mut response);
        }
        Ok(response)
    }
}

/// The script without its comments and indentation, which are for us.
fn without_comments(text: &str) -> String {
    let is_comment =
        |line: &&str| line.starts_with("//") || (line.starts_with("/**") && line.ends_with("*/"));
    let lines = text.lines().map(str::trim_start).filter(|line| !is_comment(line));
    lines.fold(String::with_capacity(text.len()), |text, line| text + line + "\n")
}

/// The tags for the scripts that this document loads.
pub(super) fn tags(request: &PageRequest<'_>, file: &ServedFile) -> String {
    let site = &request.page.site;
    // Only XML needs quotes. Without them a tag cannot end an attribute value of the page, wherever it is inserted.
    let is_html = file.mime.starts_with(b"text/html");
    let (quote, defer) = if is_html { ("", "defer") } else { ("\"", "defer=\"\"") };
    let toolbar = if site.takes_feedback() {
        format!("<script src={quote}{}{quote} {defer}></script>", TOOLBAR.address(request))
    } else {
        String::new()
    };
    let live = if site.updates_live() {
        // The bar of a new version then links to what changed.
        let changes = match (site.shows_changes(), is_html) {
            (false, _) => "",
            (true, true) => " data-changes",
            (true, false) => " data-changes=\"\"",
        };
        format!(
            "<script src={quote}{}{quote} data-version={quote}{}{quote}{changes} {defer}></script>",
            LIVE.address(request),
            site.version
        )
    } else {
        String::new()
    };
    toolbar + &live
}
