//! Which file of a page a path names, as static hosts find it.

use super::{OURS, OutBody, redirect, with_query};
use dropleaf_app::{LiveBundle, LiveFile};
use dropleaf_core::{Error, path};
use http::request::Parts;
use http::{Response, StatusCode};
use std::sync::Arc;

/// What a path of a page comes to.
pub(super) enum Found<'a> {
    File(&'a Arc<LiveFile>),
    /// The root of an archive whose one document lies in a folder: it has to be shown there, for its own references.
    Inside(&'a Arc<LiveFile>),
    Folder,
    Nothing,
}

/// The file a path names, as static hosts find it: exactly, else as the index of a folder, else without `.html`. A single
/// file is also found under the name it was uploaded with. What lies below `_dropleaf/` is not for viewers.
pub(super) fn find<'a>(bundle: &'a LiveBundle, raw: &str) -> Found<'a> {
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

/// Leads from a page's root to the document in a folder. Relative, so that it holds for every address of the page.
pub(super) fn to_inside(head: &Parts, file: &LiveFile) -> Result<Response<OutBody>, Error> {
    let target = with_query(head, &format!("./{}", path::encode(&file.path)));
    redirect(StatusCode::TEMPORARY_REDIRECT, &target)
}
