//! Turns a version of an export into an upload, so that it passes every check of a published page. Blocking.

use super::archive::ExportArchive;
use super::format::VersionRecord;
use crate::publish::upload::{Upload, UploadBody};
use crate::viewing::pages::archive_stream::entry_options;
use dropleaf_content::BundleKind;
use dropleaf_core::{Error, Result};
use std::io::Write;
use std::path::Path;
use zip::ZipWriter;

/// Larger files wait in an unlinked file instead of in memory.
const MEMORY_BYTES: u64 = 64 * 1024;

/// The upload of a version. An archive is packed again, without compression: it is read once, right away.
pub(super) fn upload_of(
    archive: &mut ExportArchive,
    version: &VersionRecord,
    kind: BundleKind,
    spool: &Path,
) -> Result<Upload> {
    let body = match &version.files[..] {
        [file] if kind != BundleKind::Zip && file.size <= MEMORY_BYTES => {
            let mut bytes = Vec::new();
            archive.copy_body(&file.blake3, file.size, &mut bytes)?;
            UploadBody::Memory(bytes.into())
        }
        [file] if kind != BundleKind::Zip => {
            let mut out = tempfile::tempfile_in(spool).map_err(Error::internal)?;
            archive.copy_body(&file.blake3, file.size, &mut out)?;
            UploadBody::File(out)
        }
        files => {
            let out = tempfile::tempfile_in(spool).map_err(Error::internal)?;
            let mut zip = ZipWriter::new(out);
            for file in files {
                zip.start_file(file.path.as_str(), entry_options(file.size, false)).map_err(|error| {
                    super::archive::invalid(&format!("a version has a file that cannot be packed ({error})"))
                })?;
                archive.copy_body(&file.blake3, file.size, &mut zip)?;
            }
            let mut out = zip.finish().map_err(Error::internal)?;
            out.flush().map_err(Error::internal)?;
            UploadBody::File(out)
        }
    };
    let (filename, content_type) = named(version, kind);
    Ok(Upload { filename, content_type, body })
}

/// The name and type by which the format is recognised.
fn named(version: &VersionRecord, kind: BundleKind) -> (Option<String>, Option<String>) {
    let (name, mime) = match kind {
        BundleKind::Html => ("index.html", "text/html"),
        BundleKind::Markdown => ("index.md", "text/markdown"),
        BundleKind::Pdf => ("document.pdf", "application/pdf"),
        BundleKind::Zip => ("site.zip", "application/zip"),
        BundleKind::E2e => return (None, None),
        BundleKind::File => return (version.files.first().map(|file| file.path.clone()), None),
    };
    (Some(name.to_owned()), Some(mime.to_owned()))
}
