//! Packs the files of an edited page into an upload: one file, or an archive whose unchanged files are copied from storage.

use super::edited_upload::Contents;
use super::source_files::SourceFiles;
use crate::infra::body_source::BodySource;
use crate::publish::staging::content_error;
use crate::publish::upload::{Upload, UploadBody};
use crate::viewing::pages::archive_stream::entry_options;
use bytes::Bytes;
use dropleaf_content::{self as content, BundleKind, Limits, Refusal};
use dropleaf_core::{Code, Error, Result};
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use zip::ZipWriter;

/// Larger results wait in an unlinked file instead of in memory.
const MEMORY_BYTES: usize = 64 * 1024;

/// The page that was uploaded as one file. Its name and type are those of the first upload, so that it is read the same way.
pub(super) fn single_upload(sources: &SourceFiles, contents: Contents, spool: &Path) -> Result<Upload> {
    let bytes = contents.into_values().flatten().next().unwrap_or_default();
    let (usual, content_type) = match sources.kind {
        BundleKind::Html => ("index.html", Some("text/html")),
        BundleKind::Markdown => ("index.md", Some("text/markdown")),
        _ => (sources.files[sources.main].stored.path.as_str(), None),
    };
    let body = if bytes.len() <= MEMORY_BYTES {
        UploadBody::Memory(bytes)
    } else {
        let spooled = tempfile::tempfile_in(spool).and_then(|mut file| file.write_all(&bytes).map(|()| file));
        UploadBody::File(spooled.map_err(storage_error)?)
    };
    let filename = sources.file_name.clone().unwrap_or_else(|| usual.to_owned());
    Ok(Upload { filename: Some(filename), content_type: content_type.map(str::to_owned), body })
}

/// The whole archive, packed again without compression because it is read once, right away. `title` is used if no page has
/// one of its own.
pub(super) fn archive_upload(
    sources: &SourceFiles,
    contents: &Contents,
    bodies: &BodySource,
    limits: &Limits,
    spool: &Path,
    title: &str,
) -> Result<Upload> {
    let kept = sources.files.iter().filter(|file| !contents.contains_key(&file.path));
    let mut files: BTreeMap<&str, Option<&Bytes>> = kept.map(|file| (file.path.as_str(), None)).collect();
    files.extend(contents.iter().filter_map(|(path, new)| Some((path.as_str(), Some(new.as_ref()?)))));
    check_layout(files.keys().copied(), limits)?;
    let packed = || -> io::Result<std::fs::File> {
        let mut zip = ZipWriter::new(BufWriter::with_capacity(256 * 1024, tempfile::tempfile_in(spool)?));
        for (path, new) in files {
            if let Some(new) = new {
                zip.start_file(path, entry_options(new.len() as u64, false))?;
                zip.write_all(new)?;
                continue;
            }
            let stored = sources.files.iter().find(|file| file.path == path).map(|file| &file.stored);
            let stored = stored.ok_or_else(|| io::Error::other("a file of the page is not listed"))?;
            zip.start_file(path, entry_options(stored.size_bytes, false))?;
            let body = bodies.open(&stored.hash)?;
            io::copy(
                &mut body.ok_or_else(|| io::Error::other("a file of the page no longer exists"))?,
                &mut zip,
            )?;
        }
        zip.finish()?.into_inner().map_err(io::IntoInnerError::into_error)
    };
    let body = UploadBody::File(packed().map_err(storage_error)?);
    // The name of an archive is the title of a page without one; it ends at its last dot.
    let filename = Some(format!("{}.zip", title.replace(['/', '\\'], " ")));
    Ok(Upload { filename, content_type: Some("application/zip".to_owned()), body })
}

/// Refuses a result whose files would be served at other paths than before.
fn check_layout<'a>(paths: impl Iterator<Item = &'a str>, limits: &Limits) -> Result<()> {
    let names: Vec<String> = paths.map(str::to_owned).collect();
    let root = content::find_archive_root(&names, limits).map_err(|refusal| content_error(&refusal))?;
    if root.is_empty() {
        return Ok(());
    }
    let detail = format!(
        "All remaining files are in `{root}`, so their addresses would change. Keep a start page outside of it, or upload the \
         files as a new archive."
    );
    Err(Error::new(Code::MissingIndex, detail))
}

fn storage_error(error: io::Error) -> Error {
    content_error(&Refusal::from(error))
}
