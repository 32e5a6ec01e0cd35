//! Recognizes the requests that the fast path may answer: a whole HTTP/1.1 GET without a body or a query, with headers that
//! either do not matter to a view or are listed here. It is a subset of what hyper accepts, parsed by the same parser;
//! whatever is not recognized, or has two readings, is left to hyper.

use httparse::{Header, Request, Status};
use std::mem::MaybeUninit;

/// More headers than any browser sends, and fewer than hyper accepts.
const HEADERS: usize = 48;

/// A recognized request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FastRequest<'a> {
    /// Without a query, and of characters that mean themselves in a URI.
    pub(crate) path: &'a str,
    pub(crate) host: &'a str,
    pub(crate) accept_encoding: Option<&'a str>,
    pub(crate) if_none_match: Option<&'a str>,
    pub(crate) user_agent: Option<&'a str>,
    pub(crate) fetch_mode: Option<&'a str>,
    pub(crate) fetch_site: Option<&'a str>,
    pub(crate) fetch_dest: Option<&'a str>,
    pub(crate) purpose: Option<&'a str>,
}

/// Headers that do not change how a page is sent to a viewer who has no cookie.
const IGNORED: [&str; 33] = [
    "accept",
    "accept-charset",
    "accept-language",
    "cache-control",
    "cf-connecting-ip",
    "cf-ray",
    "cf-visitor",
    "device-memory",
    "dnt",
    "downlink",
    "dpr",
    "ect",
    "forwarded",
    "from",
    "if-modified-since",
    "origin",
    "pragma",
    "priority",
    "referer",
    "rtt",
    "save-data",
    "sec-fetch-user",
    "sec-gpc",
    "sec-prefers-color-scheme",
    "true-client-ip",
    "traceparent",
    "tracestate",
    "upgrade-insecure-requests",
    "via",
    "viewport-width",
    "width",
    "x-real-ip",
    "x-request-id",
];
/// The same for all names that begin like this.
const IGNORED_STARTS: [&str; 3] = ["sec-ch-", "x-forwarded-", "x-amzn-"];

impl<'a> FastRequest<'a> {
    /// The request at the start of these bytes, and its length. None also if it is not complete.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<(Self, usize)> {
        // Also excludes empty lines before the request, other methods and the preface of HTTP/2.
        if !bytes.starts_with(b"GET /") {
            return None;
        }
        let mut space = [MaybeUninit::<Header<'_>>::uninit(); HEADERS];
        let mut parsed = Request::new(&mut []);
        let Ok(Status::Complete(length)) = parsed.parse_with_uninit_headers(bytes, &mut space) else {
            return None;
        };
        if parsed.version != Some(1) || !has_whole_line_ends(&bytes[..length]) {
            return None;
        }
        let path = parsed.path.filter(|path| path.bytes().all(is_plain))?;
        let mut request = Self { path, ..Self::default() };
        let mut host = None;
        for header in parsed.headers.iter() {
            request.read(header, &mut host)?;
        }
        request.host = host.filter(|host| !host.is_empty())?;
        Some((request, length))
    }

    /// None if the header is not one that the fast path knows, is repeated, or has a value that is not visible ASCII.
    fn read(&mut self, header: &Header<'a>, host: &mut Option<&'a str>) -> Option<()> {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        let field = match header.name.len() {
            4 if is("host") => host,
            10 if is("user-agent") => &mut self.user_agent,
            10 if is("connection") => {
                return header.value.eq_ignore_ascii_case(b"keep-alive").then_some(());
            }
            11 if is("sec-purpose") => &mut self.purpose,
            13 if is("if-none-match") => &mut self.if_none_match,
            14 if is("sec-fetch-mode") => &mut self.fetch_mode,
            14 if is("sec-fetch-site") => &mut self.fetch_site,
            14 if is("sec-fetch-dest") => &mut self.fetch_dest,
            15 if is("accept-encoding") => &mut self.accept_encoding,
            _ => return is_ignored(header.name).then_some(()),
        };
        let value = std::str::from_utf8(header.value).ok()?;
        let is_visible = value.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte));
        (is_visible && field.replace(value).is_none()).then_some(())
    }
}

fn is_ignored(name: &str) -> bool {
    let starts = |start: &str| name.get(..start.len()).is_some_and(|part| part.eq_ignore_ascii_case(start));
    IGNORED.iter().any(|ignored| name.eq_ignore_ascii_case(ignored))
        || IGNORED_STARTS.iter().any(|it| starts(it))
}

/// Characters of a path that no parser reads in another way. No `?`, because a query may hold a secret of ours.
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~' | b'%')
}

/// Whether every line ends with CRLF; the parser also accepts LF alone.
fn has_whole_line_ends(head: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', head).all(|at| at > 0 && head[at - 1] == b'\r')
}

#[cfg(test)]
mod tests;
