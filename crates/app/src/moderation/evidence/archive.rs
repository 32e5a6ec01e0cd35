//! Writes the evidence archive of a taken-down page: the newest version as it was served, older versions beside it, each
//! body once, and a manifest. Written straight into a sealed file, never held in memory as a whole. Blocking.

use super::stream_cipher::Sealer;
use super::zip_writer::ZipWriter;
use crate::infra::body_source::BodySource;
use dropleaf_core::secret::Keys;
use dropleaf_core::site::Site;
use dropleaf_core::site_version::SiteVersion;
use dropleaf_store::bundles::Bundle;
use dropleaf_store::evidence::EvidenceReport;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// A reserved folder: uploads cannot contain files in it.
const RESERVED_FOLDER: &str = "_dropleaf";

/// The content of an archive.
#[derive(Debug)]
pub(super) struct ArchiveContents {
    pub(super) site: Site,
    pub(super) reason: String,
    pub(super) taken_down_at: Option<i64>,
    /// Newest first.
    pub(super) versions: Vec<(SiteVersion, Bundle)>,
    pub(super) reports: Vec<EvidenceReport>,
    /// All reports; `reports` is truncated if there are very many.
    pub(super) reports_total: i64,
}

/// A sealed archive that is not stored yet.
#[derive(Debug)]
pub(super) struct SealedArchive {
    pub(super) file: File,
    pub(super) size_bytes: u64,
    pub(super) hash: [u8; 32],
}

/// Writes the archive into an empty file.
pub(super) fn write(
    known: &ArchiveContents,
    bodies: &BodySource,
    file: File,
    keys: &Keys,
    salt: [u8; 16],
) -> io::Result<SealedArchive> {
    let out = HashingWriter { out: BufWriter::new(file), hasher: blake3::Hasher::new(), written: 0 };
    let mut zip = ZipWriter::new(Sealer::new(out, keys, &known.site.id, salt)?);
    let mut archived_names: HashMap<[u8; 32], String> = HashMap::new();
    let mut versions = Vec::new();
    for (at, (version, bundle)) in known.versions.iter().enumerate() {
        let folder =
            if at == 0 { String::new() } else { format!("{RESERVED_FOLDER}/versions/{}/", version.version) };
        let mut files = Vec::new();
        for file in &bundle.files {
            if !archived_names.contains_key(&file.blob_hash)
                && zip.has_room(u64::try_from(file.size_bytes).unwrap_or_default())
                && let Some(body) = bodies.open(&file.blob_hash)?
            {
                let name = format!("{folder}{}", file.path);
                zip.add(&name, body)?;
                archived_names.insert(file.blob_hash, name);
            }
            files.push(json!({
                "path": file.path,
                "mime": file.mime,
                "size_bytes": file.size_bytes,
                "blake3": blake3::Hash::from_bytes(file.blob_hash).to_hex().as_str(),
                // Null if there was no room for it, or it was lost before.
                "archived_as": archived_names.get(&file.blob_hash),
            }));
        }
        versions.push(version_json(version, bundle, &files));
    }
    let manifest = serde_json::to_vec_pretty(&manifest(known, &versions)).map_err(io::Error::other)?;
    zip.add(&format!("{RESERVED_FOLDER}/manifest.json"), &manifest[..])?;
    let HashingWriter { out, hasher, written } = zip.finish()?.finish()?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    Ok(SealedArchive { file, size_bytes: written, hash: *hasher.finalize().as_bytes() })
}

fn version_json(version: &SiteVersion, bundle: &Bundle, files: &[Value]) -> Value {
    json!({
        "version": version.version,
        "title": version.title,
        "created_at": version.created_at,
        "restored_from": version.restored_from,
        "e2e": version.e2e,
        "kind": bundle.kind,
        "entry": bundle.entry,
        "files": files,
    })
}

fn manifest(known: &ArchiveContents, versions: &[Value]) -> Value {
    let ArchiveContents { site, reason, reports, .. } = known;
    let reports: Vec<Value> = reports
        .iter()
        .map(|report| {
            json!({
                "at": report.at,
                "version": report.version,
                "reason": report.reason,
                "comment": report.comment,
                "contact": report.contact,
            })
        })
        .collect();
    json!({
        "format": 1,
        "site_id": site.id,
        "token": site.token,
        "slug": site.slug,
        "title": site.title,
        "visibility": site.visibility.as_str(),
        "account_id": site.account_id,
        "wallet": site.wallet,
        "payment_id": site.payment_id,
        "created_at": site.created_at,
        // Not when the page ended: it may have been deleted or have expired earlier.
        "taken_down_at": known.taken_down_at,
        "reason": reason,
        "view_count": site.view_count,
        "last_viewed_at": site.last_viewed_at,
        "versions": versions,
        "reports": reports,
        "reports_total": known.reports_total,
    })
}

/// Counts and hashes the bytes written through it.
struct HashingWriter<W> {
    out: W,
    hasher: blake3::Hasher,
    written: u64,
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.out.write(bytes)?;
        self.hasher.update(&bytes[..taken]);
        self.written += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
