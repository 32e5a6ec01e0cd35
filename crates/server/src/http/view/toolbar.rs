//! The feedback toolbar: serves its script, and inserts a script tag into the documents of pages with feedback enabled,
//! on the page's own host only. Other pages are not affected.

use super::file::{count_view, mark, ready};
use super::page_request::PageRequest;
use super::{OutBody, headers, negotiate, sending, without_body};
use axum::body::Body;
use bytes::{Bytes, BytesMut};
use dropleaf_app::{AnnotatedDocument, ContentCoding, INSERTION_WINDOW, Insertion, ServedFile};
use dropleaf_core::access::{self, Access, Passes};
use dropleaf_core::{Code, Error};
use futures_util::{StreamExt, stream};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use sha2::{Digest, Sha256};
use std::io;
use std::sync::LazyLock;

/// The script without its comments and indentation, which are for us.
static SCRIPT: LazyLock<String> = LazyLock::new(|| {
    let lines = include_str!("../../../assets/toolbar.js").lines().map(str::trim_start);
    let is_comment =
        |line: &&str| line.starts_with("//") || (line.starts_with("/**") && line.ends_with("*/"));
    lines.filter(|line| !is_comment(line)).fold(String::new(), |text, line| text + line + "\n")
});

/// Hash of the script, so that browsers can cache it permanently.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    Sha256::digest(SCRIPT.as_bytes())[..8]
        .iter()
        .fold(String::with_capacity(16), |text, b| format!("{text}{b:02x}"))
});

/// The script in every coding, created on first request.
static CODED: LazyLock<[Option<Bytes>; 4]> =
    LazyLock::new(|| ContentCoding::ALL.map(|coding| dropleaf_app::encode(SCRIPT.as_bytes(), coding).ok()));

/// `_dropleaf/toolbar.js`. It is the same for every page and holds nothing of any, so it is not behind the gates.
pub(super) fn script(request: &PageRequest<'_>) -> Result<Response<OutBody>, Error> {
    if let Access::Gone(code) =
        access::decide(&request.page.access_rules, Passes::ALL, request.dispatcher.app.now())
    {
        return Err(Error::plain(code));
    }
    if !request.page.site.takes_feedback() {
        return Err(super::nothing_here());
    }
    if !matches!(request.head.method, Method::GET | Method::HEAD) {
        return Err(Error::plain(Code::MethodNotAllowed));
    }
    let coding = negotiate::coding(request.header("accept-encoding"));
    let etag = format!("\"{}-{}\"", *VERSION, coding as u8);
    let named = request.head.uri.query().and_then(|query| query.strip_prefix("v=")) == Some(VERSION.as_str());
    let mut response = crate::http::empty(StatusCode::OK);
    let headers = response.headers_mut();
    headers::script(headers, named);
    headers.insert(header::ETAG, HeaderValue::from_str(&etag).map_err(Error::internal)?);
    if request.header("if-none-match").is_some_and(|found| negotiate::matches(found, etag.as_bytes())) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Ok(response);
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/javascript; charset=utf-8"));
    let coded = CODED[coding as usize]
        .clone()
        .ok_or_else(|| Error::internal("toolbar script cannot be compressed"))?;
    mark(headers, coding);
    *response.body_mut() = coded.into();
    if request.head.method == Method::HEAD {
        without_body(&mut response);
    }
    Ok(response)
}

/// Whether the toolbar is added to this document. Not at the shared address, where the page has no origin to post from.
pub(super) fn belongs(request: &PageRequest<'_>, file: &ServedFile) -> bool {
    let is_page = file.mime.starts_with(b"text/html") || file.mime.starts_with(b"application/xhtml+xml");
    request.page.site.takes_feedback()
        && !request.address.is_shared()
        && !request.in_sandboxed_frame
        && is_page
}

/// Sends a document with the toolbar in its head; ranges are not supported.
pub(super) async fn send(
    request: &PageRequest<'_>,
    file: &ServedFile,
    status: StatusCode,
) -> Result<Response<OutBody>, Error> {
    let PageRequest { dispatcher, head, address, page, visitor, .. } = *request;
    let script = format!("{}_dropleaf/toolbar.js?v={}", request.root(), *VERSION);
    // Only XML needs quotes. Without them the tag cannot end an attribute value of the page, wherever it is inserted.
    let tag = if file.mime.starts_with(b"text/html") {
        format!("<script src={script} defer></script>")
    } else {
        format!("<script src=\"{script}\" defer=\"\"></script>")
    };
    let annotated = AnnotatedDocument::new(file, tag);
    let coding = if file.is_compressible && file.is_small() {
        negotiate::coding(request.header("accept-encoding"))
    } else {
        ContentCoding::Identity
    };
    let etag = annotated.etag(coding);
    count_view(request, file, status);
    let mut response = Response::new(OutBody::empty());
    *response.headers_mut() = HeaderMap::with_capacity(headers::ROOM);
    headers::page(response.headers_mut(), address, page, file, visitor.any_browser);
    response.headers_mut().insert(header::ACCEPT_RANGES, HeaderValue::from_static("none"));
    response.headers_mut().insert(header::ETAG, ready(&etag));
    let known = request.header("if-none-match").is_some_and(|found| negotiate::matches(found, &etag));
    if status == StatusCode::OK && known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Ok(response);
    }
    response.headers_mut().insert(header::CONTENT_TYPE, ready(&file.mime));
    *response.status_mut() = status;
    if !file.is_small() {
        send_large(request, &mut response, file, &annotated).await?;
        return Ok(response);
    }
    mark(response.headers_mut(), coding);
    let mut charge = request.connection.charge(file.size_bytes).await;
    let bytes = dispatcher.app.annotated_body(&annotated, coding).await?.bytes.clone();
    charge.shrink_to(bytes.len() as u64);
    *response.body_mut() = charge.attach(bytes).into();
    if head.method == Method::HEAD {
        without_body(&mut response);
    }
    Ok(response)
}

/// Sends a document too large for memory: reads its beginning to find the insertion point and streams the rest from
/// storage.
async fn send_large(
    request: &PageRequest<'_>,
    response: &mut Response<OutBody>,
    file: &ServedFile,
    annotated: &AnnotatedDocument<'_>,
) -> Result<(), Error> {
    let mut part = sending::stream(request, file, None).await?;
    let mut start = BytesMut::new();
    while start.len() < INSERTION_WINDOW {
        match part.stream.next().await {
            Some(piece) => start.extend_from_slice(&piece.map_err(Error::internal)?),
            None => break,
        }
    }
    let mut start = start.freeze();
    let (before, tag) = match annotated.insertion(&start) {
        Some(Insertion { at, bytes }) => (start.split_to(at), bytes),
        None => (Bytes::new(), Bytes::new()),
    };
    response.headers_mut().insert(header::CONTENT_LENGTH, (part.bytes + tag.len() as u64).into());
    if request.head.method != Method::HEAD {
        let first = stream::iter([before, tag, start].map(Ok::<_, io::Error>));
        *response.body_mut() = OutBody::Boxed(Body::from_stream(first.chain(part.stream)));
    }
    Ok(())
}
