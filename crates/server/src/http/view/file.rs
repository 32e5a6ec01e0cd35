//! Sends one file: 304, whole or a range; from memory if small, streamed if large.

use super::cookies::is_owner;
use super::negotiate::{self, RangeRequest};
use super::page_request::PageRequest;
use super::{headers, sending, without_body};
use crate::http::{OutBody, empty};
use axum::body::Body;
use bytes::Bytes;
use dropleaf_app::{ContentCoding, PageView, ServedFile};
use dropleaf_core::site::{State, Visibility};
use dropleaf_core::visitor::Visitor;
use dropleaf_core::{Code, Error};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use std::ops::Range;
use std::sync::Arc;

pub(super) async fn send(
    request: &PageRequest<'_>,
    file: &Arc<ServedFile>,
    status: StatusCode,
) -> Result<Response<OutBody>, Error> {
    let PageRequest { head, address, page, visitor, .. } = *request;
    if page.site.visibility == Visibility::Burn {
        return Box::pin(send_unkept(request, file, status)).await;
    }
    let asked = |name: HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok());
    let range = asked(header::RANGE).filter(|_| status == StatusCode::OK);
    // A range always refers to the uncoded bytes, so that offsets mean the same to every client.
    let coding = if file.is_compressible && range.is_none() {
        negotiate::coding(asked(header::ACCEPT_ENCODING))
    } else {
        ContentCoding::Identity
    };
    let etag = file.etag(coding);
    if range.is_none() {
        count_view(request, file, status);
    }
    let mut response = Response::new(OutBody::empty());
    *response.headers_mut() = HeaderMap::with_capacity(headers::ROOM);
    headers::page(response.headers_mut(), address, page, file, visitor.any_browser);
    response.headers_mut().insert(header::ETAG, ready(etag));
    if status == StatusCode::OK
        && asked(header::IF_NONE_MATCH).is_some_and(|condition| negotiate::matches(condition, etag))
    {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Ok(response);
    }
    response.headers_mut().insert(header::CONTENT_TYPE, ready(&file.mime));
    // If the file has changed since (`If-Range`), the whole is sent.
    let fresh = asked(header::IF_RANGE).is_none_or(|validator| validator.as_bytes() == etag);
    let part = match range.filter(|_| fresh).map(|range| negotiate::range(range, file.size_bytes)) {
        Some(RangeRequest::Part(part)) => Some(part),
        Some(RangeRequest::Outside) => return Ok(outside(response, file.size_bytes)),
        Some(RangeRequest::Whole) | None => None,
    };
    *response.status_mut() = status;
    if let Some(part) = &part {
        mark_part(&mut response, part, file.size_bytes)?;
    }
    if !file.is_small() {
        Box::pin(send_large(request, &mut response, file, coding, part)).await?;
    } else if let Some(whole) = sending::whole(request, file, coding).await? {
        let bytes = match part {
            Some(part) => slice(&whole, &part),
            None => whole,
        };
        mark(response.headers_mut(), coding);
        *response.body_mut() = bytes.into();
    } else {
        let part = part.unwrap_or(0..file.size_bytes);
        response.headers_mut().insert(header::ETAG, ready(file.etag(ContentCoding::Identity)));
        response.headers_mut().insert(header::CONTENT_LENGTH, (part.end - part.start).into());
        *response.body_mut() = sending::in_pieces(request, file, part);
    }
    if head.method == Method::HEAD {
        without_body(&mut response);
    }
    Ok(response)
}

/// Sends a file of a burn page: streamed from storage, without caching it and without a validator. Ranges are served
/// only to the viewer who has burnt it and may view it again for a short time: audio and video players request them.
async fn send_unkept(
    request: &PageRequest<'_>,
    file: &ServedFile,
    status: StatusCode,
) -> Result<Response<OutBody>, Error> {
    let mut response = empty(status);
    headers::page(response.headers_mut(), request.address, request.page, file, request.visitor.any_browser);
    response.headers_mut().insert(header::CONTENT_TYPE, ready(&file.mime));
    let may_ask = status == StatusCode::OK && request.page.site.state == State::Burnt;
    // There is no validator to compare `If-Range` with, so the whole is sent.
    let range = request.header("range").filter(|_| may_ask && request.header("if-range").is_none());
    let range = match range.map(|range| negotiate::range(range, file.size_bytes)) {
        Some(RangeRequest::Part(range)) => Some(range),
        Some(RangeRequest::Outside) => return Ok(outside(response, file.size_bytes)),
        Some(RangeRequest::Whole) | None => None,
    };
    if let Some(range) = &range {
        mark_part(&mut response, range, file.size_bytes)?;
    }
    let part = sending::stream(request, file, range).await?;
    response.headers_mut().insert(header::CONTENT_LENGTH, part.bytes.into());
    if request.head.method != Method::HEAD {
        *response.body_mut() = OutBody::Boxed(Body::from_stream(part.stream));
    }
    Ok(response)
}

/// Sends a file too large for memory: as stored if the client accepts zstd, otherwise decompressed while streaming.
async fn send_large(
    request: &PageRequest<'_>,
    response: &mut Response<OutBody>,
    file: &ServedFile,
    coding: ContentCoding,
    part: Option<Range<u64>>,
) -> Result<(), Error> {
    let stored =
        if coding == ContentCoding::Zstd { sending::stream_zstd(request, file).await? } else { None };
    let part = if let Some(part) = stored {
        mark(response.headers_mut(), ContentCoding::Zstd);
        part
    } else {
        response.headers_mut().insert(header::ETAG, ready(file.etag(ContentCoding::Identity)));
        sending::stream(request, file, part).await?
    };
    response.headers_mut().insert(header::CONTENT_LENGTH, part.bytes.into());
    *response.body_mut() = OutBody::Boxed(Body::from_stream(part.stream));
    Ok(())
}

/// Counts the request if it is a view.
pub(super) fn count_view(request: &PageRequest<'_>, file: &ServedFile, status: StatusCode) {
    let is_get = request.head.method == Method::GET && status == StatusCode::OK;
    if is_get && is_view(request.page, file, request.visitor) && !is_owner(request) {
        request.dispatcher.app.count_view(&request.page.site);
    }
}

/// Whether a GET of this file is a view of the page, unless it is its owner's.
pub(super) fn is_view(page: &PageView, file: &ServedFile, visitor: Visitor) -> bool {
    counts(page, file) && !visitor.prefetch
}

/// Whether this file counts as a view of the page: its main document, and every other page of an archive.
fn counts(page: &PageView, file: &ServedFile) -> bool {
    let entry = || page.bundle.as_ref().and_then(|bundle| bundle.entry());
    file.is_document || entry().is_some_and(|entry| entry.path == file.path)
}

/// Bytes that were validated when they were created; validating them again is cheap.
pub(super) fn ready(bytes: &Bytes) -> HeaderValue {
    HeaderValue::from_maybe_shared(bytes.clone())
        .unwrap_or_else(|_| HeaderValue::from_static("application/octet-stream"))
}

fn slice(whole: &Bytes, part: &Range<u64>) -> Bytes {
    let at = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).min(whole.len());
    whole.slice(at(part.start)..at(part.end))
}

pub(super) fn mark(headers: &mut HeaderMap, coding: ContentCoding) {
    if let Some(name) = coding.name() {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(name));
    }
}

fn mark_part(response: &mut Response<OutBody>, part: &Range<u64>, size: u64) -> Result<(), Error> {
    *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    let text = format!("bytes {}-{}/{size}", part.start, part.end.saturating_sub(1));
    let value = HeaderValue::from_str(&text).map_err(Error::internal)?;
    response.headers_mut().insert(header::CONTENT_RANGE, value);
    Ok(())
}

fn outside(mut response: Response<OutBody>, size: u64) -> Response<OutBody> {
    let error = Error::plain(Code::RangeNotSatisfiable);
    *response.status_mut() = crate::http::error::status(error.code);
    *response.body_mut() = crate::http::error::json_body(&error).into();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Ok(value) = HeaderValue::from_str(&format!("bytes */{size}")) {
        headers.insert(header::CONTENT_RANGE, value);
    }
    response
}
