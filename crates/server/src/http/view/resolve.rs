//! Resolves a path to a file of a page, like static hosts do.

use super::{OutBody, RESERVED_PREFIX, redirect, with_query};
use dropleaf_app::{ServedBundle, ServedFile};
use dropleaf_core::{Error, path};
use http::request::Parts;
use http::{Response, StatusCode};
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
