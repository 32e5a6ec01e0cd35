//! Resolves a path to a file of a page, like static hosts do.

use super::{OURS, OutBody, redirect, with_query};
use dropleaf_app::{ServedBundle, ServedFile};
use dropleaf_core::{Error, path};
use http::request::Parts;
use http::{Response, StatusCode};
use std::sync::Arc;

/// The result of resolving a path.
pub(super) enum Found<'a> {
    File(&'a Arc<ServedFile>),
    /// The root of an archive whose only document is in a folder: it must be shown there, so that its relative
    /// references work.
    Inside(&'a Arc<ServedFile>),
    Folder,
    Nothing,
}

/// Resolves a path: the exact name, else the index of a folder, else the name with `.html` appended. A single file is
/// also found under its upload name. Files below `_dropleaf/` are not served.
pub(super) fn find<'a>(bundle: &'a ServedBundle, raw: &str) -> Found<'a> {
    if raw.is_empty() {
        return match bundle.entry() {
            Some(entry) if entry.path.contains('/') => Found::Inside(entry),
            Some(entry) => Found::File(entry),
            None => Found::Nothing,
        };
    }
    let Some(name) = path::decode(raw) else { return Found::Nothing };
    if name.starts_with(OURS) {
        return Found::Nothing;
    }
    if let Some(file) = bundle.find(&name) {
        return Found::File(file);
    }
    if name.ends_with('/') {
        return bundle.find(&format!("{name}index.html")).map_or(Found::Nothing, Found::File);
    }
    if bundle.find(&format!("{name}/index.html")).is_some() {
        return Found::Folder;
    }
    if bundle.file_name.as_deref() == Some(&name) {
        return bundle.entry().map_or(Found::Nothing, Found::File);
    }
    bundle.find(&format!("{name}.html")).map_or(Found::Nothing, Found::File)
}

/// Redirects from a page's root to the document in a folder. Relative, so that it works at every address of the page.
pub(super) fn to_inside(head: &Parts, file: &ServedFile) -> Result<Response<OutBody>, Error> {
    let target = with_query(head, &format!("./{}", path::encode(&file.path)));
    redirect(StatusCode::TEMPORARY_REDIRECT, &target)
}
