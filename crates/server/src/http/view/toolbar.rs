//! Inserts the tags of our scripts into documents: the feedback toolbar and live updates, of pages that have them, on the
//! page's own host only. Other pages are not affected.

use super::file::{count_view, mark, ready};
use super::page_address::PageAddress;
use super::page_request::PageRequest;
use super::{OutBody, headers, negotiate, own_script, sending, without_body};
use axum::body::Body;
use bytes::{Bytes, BytesMut};
use dropleaf_app::{AnnotatedDocument, ContentCoding, INSERTION_WINDOW, Insertion, PageView, ServedFile};
use dropleaf_core::Error;
use futures_util::{StreamExt, stream};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use std::io;

/// `_dropleaf/toolbar.js`. It is the same for every page and holds nothing of any, so it is not behind the gates.
pub(super) fn script(request: &PageRequest<'_>) -> Result<Response<OutBody>, Error> {
    own_script::TOOLBAR.answer(request, request.page.site.takes_feedback())
}

/// Whether one of our scripts is added to this document. Not at the shared address, where the page has no origin to post
/// from or to listen at.
pub(super) fn belongs(page: &PageView, address: PageAddress<'_>, file: &ServedFile) -> bool {
    let is_page = file.mime.starts_with(b"text/html") || file.mime.starts_with(b"application/xhtml+xml");
    (page.site.takes_feedback() || page.site.updates_live()) && !address.is_shared() && is_page
}

/// Sends a document with our scripts in its head; ranges are not supported.
pub(super) async fn send(
    request: &PageRequest<'_>,
    file: &ServedFile,
    status: StatusCode,
) -> Result<Response<OutBody>, Error> {
    let PageRequest { dispatcher, head, address, page, visitor, .. } = *request;
    let annotated = AnnotatedDocument::new(file, own_script::tags(request, file));
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
