//! `…/look/<word>/…`: content that may be hostile, for the frame on an operator's page. Documents are sent in a form that
//! reaches for nothing, under a policy that lets them do nothing; see `headers::look`.

use super::{OutBody, failed, file, find, headers, without_body};
use crate::http::{Door, empty};
use axum::body::Body;
use dropleaf_app::{Coding, LiveFile};
use dropleaf_content::look;
use dropleaf_core::{Code, Error};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode, header};

pub(in crate::http) const LOOK: &str = "/look/";
/// Larger documents are read as a source.
const DOCUMENT_BYTES: u64 = 8 << 20;

pub(in crate::http) async fn answer(door: &Door, head: &Parts, label: Option<&str>) -> Response<OutBody> {
    match try_answer(door, head, label).await {
        Ok(response) => response,
        Err(error) => failed(head, &error, None),
    }
}

async fn try_answer(door: &Door, head: &Parts, label: Option<&str>) -> Result<Response<OutBody>, Error> {
    let missing = || Error::not_found("page");
    if head.headers.contains_key("service-worker") {
        return Err(Error::plain(Code::ServiceWorkerRefused));
    }
    if !matches!(head.method, Method::GET | Method::HEAD) {
        return Err(Error::plain(Code::MethodNotAllowed));
    }
    // In a frame of ours, the page around it keeps it from leading elsewhere; by itself it is not shown.
    let alone = head.headers.get("sec-fetch-dest").is_some_and(|dest| dest == "document");
    let rest = head.uri.path().strip_prefix(LOOK).filter(|_| !alone).ok_or_else(missing)?;
    let (word, tail) = rest.split_once('/').ok_or_else(missing)?;
    let (bundle, root) = door.app.open_look(label, word).await?;
    let super::Found::File(found) = find(&bundle, tail) else { return Err(missing()) };
    let mut response = empty(StatusCode::OK);
    headers::look(response.headers_mut(), &root, &framed_by(door));
    let mime = String::from_utf8_lossy(&found.mime).into_owned();
    if found.is_document {
        send_document(door, &mut response, found, &mime).await?;
    } else {
        // Scripts are for reading.
        let kind = if mime.contains("javascript") {
            HeaderValue::from_static("text/plain; charset=utf-8")
        } else {
            file::ready(&found.mime)
        };
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        let part = door.app.stream(found, None).await?;
        response.headers_mut().insert(header::CONTENT_LENGTH, part.bytes.into());
        *response.body_mut() = OutBody::Boxed(Body::from_stream(part.stream));
    }
    if head.method == Method::HEAD {
        without_body(&mut response);
    }
    Ok(response)
}

/// A document is decoded here, so that a browser reads the very text that was gone through.
async fn send_document(
    door: &Door,
    response: &mut Response<OutBody>,
    found: &LiveFile,
    mime: &str,
) -> Result<(), Error> {
    if found.size_bytes > DOCUMENT_BYTES {
        return Err(Error::new(Code::TooLarge, "The document is too large to be looked at."));
    }
    let bytes = if found.is_small() {
        door.app.body(found, Coding::Identity).await?.bytes.clone()
    } else {
        let part = door.app.stream(found, None).await?;
        axum::body::to_bytes(Body::from_stream(part.stream), usize::MAX).await.map_err(Error::internal)?
    };
    let is_html = mime.starts_with("text/html");
    let sent_as = mime.to_owned();
    let work = move || {
        let text = look::text(bytes.to_vec(), &sent_as);
        if is_html { Some(look::still_html(&text)) } else { look::still_xml(&text) }.ok_or(text)
    };
    let still = tokio::task::spawn_blocking(work).await.map_err(Error::internal)?;
    let kind = mime.split(';').next().unwrap_or_default().trim();
    let (kind, text) = match still {
        Ok(text) => (format!("{kind}; charset=utf-8"), text),
        Err(text) => ("text/plain; charset=utf-8".to_owned(), text),
    };
    let kind = HeaderValue::from_str(&kind).map_err(Error::internal)?;
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response.headers_mut().insert(header::CONTENT_LENGTH, text.len().into());
    *response.body_mut() = text.into();
    Ok(())
}

/// The operator's pages: by every name that a browser on this machine may have for them.
fn framed_by(door: &Door) -> String {
    let base = &door.resolved.hosts.base;
    if !base.is_loopback() {
        return base.url();
    }
    let (scheme, port) = (base.scheme, base.port);
    format!("{} {scheme}://localhost:{port} {scheme}://127.0.0.1:{port}", base.url())
}
