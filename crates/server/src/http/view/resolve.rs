//! Resolves a path to a file of a page, like static hosts do, and serves it. Who may see the page is decided before.

use super::page_address::RESERVED_PREFIX;
use super::page_request::PageRequest;
use super::redirects::{redirect, with_query};
use super::visitor::fills_frame;
use super::{OutBody, encrypted, executable, file, headers, toolbar};
use dropleaf_app::{ServedBundle, ServedFile};
use dropleaf_core::site::Visibility;
use dropleaf_core::{Code, Error, path};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use std::sync::Arc;

/// The result of resolving a path.
pub(super) enum ResolvedPath<'a> {
    File(&'a Arc<ServedFile>),
    /// The root of an archive whose only document is in a folder: it must be shown there, so that its relative
    /// references work.
    Nested(&'a Arc<ServedFile>),
    Folder,
    Missing,
}

/// Resolves a path: the exact name, else the index of a folder, else the name with `.html` appended. A single file is
/// also found under its upload name. Files below `_dropleaf/` are not served.
pub(super) fn resolve_path<'a>(bundle: &'a ServedBundle, raw: &str) -> ResolvedPath<'a> {
    if raw.is_empty() {
        return match bundle.entry() {
            Some(entry) if entry.path.contains('/') => ResolvedPath::Nested(entry),
            Some(entry) => ResolvedPath::File(entry),
            None => ResolvedPath::Missing,
        };
    }
    let Some(name) = path::decode(raw) else { return ResolvedPath::Missing };
    if name.starts_with(RESERVED_PREFIX) {
        return ResolvedPath::Missing;
    }
    if let Some(file) = bundle.find(&name) {
        return ResolvedPath::File(file);
    }
    if name.ends_with('/') {
        return bundle.find(&format!("{name}index.html")).map_or(ResolvedPath::Missing, ResolvedPath::File);
    }
    if bundle.find(&format!("{name}/index.html")).is_some() {
        return ResolvedPath::Folder;
    }
    if bundle.file_name.as_deref() == Some(&name) {
        return bundle.entry().map_or(ResolvedPath::Missing, ResolvedPath::File);
    }
    bundle.find(&format!("{name}.html")).map_or(ResolvedPath::Missing, ResolvedPath::File)
}

/// Redirects from a page's root to the document in a folder. Relative, so that it works at every address of the page.
pub(super) fn redirect_to_nested(head: &Parts, file: &ServedFile) -> Result<Response<OutBody>, Error> {
    let target = with_query(head, &format!("./{}", path::encode(&file.path)));
    redirect(StatusCode::TEMPORARY_REDIRECT, &target)
}

/// Serves the file for a path, or what stands for it.
pub(super) async fn show_file(
    request: &PageRequest<'_>,
    bundle: &ServedBundle,
    tail: &str,
) -> Result<Response<OutBody>, Error> {
    match resolve_path(bundle, tail) {
        ResolvedPath::Nested(file) if may_follow(request) => redirect_to_nested(request.head, file),
        ResolvedPath::File(file) | ResolvedPath::Nested(file) => {
            if request.page.site.e2e && request.visitor.navigation && file.path.starts_with("payload") {
                return encrypted::viewer(request, file).await;
            }
            if file.is_program {
                return Box::pin(executable::send(request, file)).await;
            }
            send(request, file, StatusCode::OK).await
        }
        ResolvedPath::Folder => redirect(
            StatusCode::PERMANENT_REDIRECT,
            &with_query(request.head, &format!("{}/", request.head.uri.path())),
        ),
        ResolvedPath::Missing if is_route(request, bundle) => {
            let index = bundle.find("index.html").ok_or_else(no_file)?;
            let mut response = send(request, index, StatusCode::OK).await?;
            headers::route(response.headers_mut());
            Ok(response)
        }
        ResolvedPath::Missing => match bundle.find("404.html") {
            Some(file) => {
                let mut response = send(request, file, StatusCode::NOT_FOUND).await?;
                if bundle.addressing.spa {
                    headers::route(response.headers_mut());
                }
                Ok(response)
            }
            None => Err(no_file()),
        },
    }
}

/// Sends a file, with the toolbar if it is a document of a page that has one.
async fn send(
    request: &PageRequest<'_>,
    file: &Arc<ServedFile>,
    status: StatusCode,
) -> Result<Response<OutBody>, Error> {
    let takes_scripts = request.page.site.visibility != Visibility::Burn && !request.in_sandboxed_frame;
    if takes_scripts && toolbar::belongs(request.page, request.address, file) {
        return Box::pin(toolbar::send(request, file, status)).await;
    }
    file::send(request, file, status).await
}

/// Whether this client can be redirected. The only response of a burn page must be the page itself.
fn may_follow(request: &PageRequest<'_>) -> bool {
    let is_plain = matches!(request.head.method, Method::GET | Method::HEAD);
    is_plain && (request.page.site.visibility != Visibility::Burn || request.visitor.navigation)
}

fn no_file() -> Error {
    Error::new(Code::NotFound, "This page does not contain this file.")
}

/// Whether a path without a file may be a client-side route: the request is for a document, not a subresource.
fn is_route(request: &PageRequest<'_>, bundle: &ServedBundle) -> bool {
    bundle.addressing.spa && fills_frame(&request.head.headers)
}
