//! Serves `/look/<word>/…`: the safe preview of content that may be hostile, in a frame on an operator's page.
//! Documents are sanitized (`app/src/moderation/safe_preview`) and sent with a policy that blocks everything; see `headers::safe_preview`.

use super::resolve::{ResolvedPath, redirect_to_nested, resolve_path};
use super::{OutBody, failed, file, headers, without_body};
use crate::http::{Dispatcher, empty};
use axum::body::Body;
use dropleaf_app::{App, PreviewDocument};
use dropleaf_core::{Code, Error};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode, header};

pub(in crate::http) const SAFE_PREVIEW_PATH: &str = "/look/";

pub(in crate::http) async fn answer(
    dispatcher: &Dispatcher,
    head: &Parts,
    label: Option<&str>,
) -> Response<OutBody> {
    match try_answer(dispatcher, head, label).await {
        Ok(response) => response,
        Err(error) => failed(head, &error, None),
    }
}

async fn try_answer(
    dispatcher: &Dispatcher,
    head: &Parts,
    label: Option<&str>,
) -> Result<Response<OutBody>, Error> {
    let missing = || Error::not_found("page");
    if head.headers.contains_key("service-worker") {
        return Err(Error::plain(Code::ServiceWorkerRefused));
    }
    if !matches!(head.method, Method::GET | Method::HEAD) {
        return Err(Error::plain(Code::MethodNotAllowed));
    }
    // In our frame the surrounding page prevents navigation; in a top-level window it is not shown.
    let alone = head.headers.get("sec-fetch-dest").is_some_and(|dest| dest == "document");
    let rest = head.uri.path().strip_prefix(SAFE_PREVIEW_PATH).filter(|_| !alone).ok_or_else(missing)?;
    let (word, tail) = rest.split_once('/').ok_or_else(missing)?;
    let (bundle, root) = dispatcher.app.open_preview(label, word).await?;
    let found = match resolve_path(&bundle, tail) {
        ResolvedPath::File(found) => found,
        ResolvedPath::Nested(found) => return redirect_to_nested(head, found),
        ResolvedPath::Folder | ResolvedPath::Missing => return Err(missing()),
    };
    let mut response = empty(StatusCode::OK);
    headers::safe_preview(response.headers_mut(), &root, &framed_by(dispatcher));
    if found.is_document {
        let PreviewDocument { mime, text } = dispatcher.app.preview_document(found).await?;
        let kind = HeaderValue::from_str(&mime).map_err(Error::internal)?;
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response.headers_mut().insert(header::CONTENT_LENGTH, text.len().into());
        *response.body_mut() = text.into();
    } else {
        let kind = App::preview_mime(found).map(HeaderValue::from_static);
        let kind = kind.unwrap_or_else(|| file::ready(&found.mime));
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        let part = dispatcher.app.stream_file(found, None).await?;
        response.headers_mut().insert(header::CONTENT_LENGTH, part.bytes.into());
        *response.body_mut() = OutBody::Boxed(Body::from_stream(part.stream));
    }
    if head.method == Method::HEAD {
        without_body(&mut response);
    }
    Ok(response)
}

/// The operator's pages, by every name that a browser on this machine may use for them.
fn framed_by(dispatcher: &Dispatcher) -> String {
    let base = &dispatcher.resolved.hosts.base;
    if !base.is_loopback() {
        return base.url();
    }
    let (scheme, port) = (base.scheme, base.port);
    format!("{} {scheme}://localhost:{port} {scheme}://127.0.0.1:{port}", base.url())
}
