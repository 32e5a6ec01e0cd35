//! Writes the export of an account: a record for each page, each body once, and a manifest with the checksum of every file.
//! Holds one page in memory at a time. The server may run meanwhile.

use super::TransferProgress;
use super::format::{
    AccountRecord, BodyRecord, Digest, DomainRecord, FORMAT, FORMAT_VERSION, FileRecord, MANIFEST,
    MakerRecord, Manifest, PageRecord, ShareLinkRecord, VersionRecord, body_name, page_name,
};
use crate::app::App;
use crate::infra::body_source::BodySource;
use crate::publish::download::content_of;
use crate::publish::{CONFLICT_RETRIES, DownloadContent};
use crate::viewing::pages::archive_stream::entry_options;
use dropleaf_core::account::Account;
use dropleaf_core::audit::AuditAction;
use dropleaf_core::feedback_thread::FeedbackVisible;
use dropleaf_core::share_token::ShareToken;
use dropleaf_core::site::Site;
use dropleaf_core::site_version::SiteVersion;
use dropleaf_core::{Error, Result};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use tokio::runtime::Handle;
use zip::ZipWriter;

const PAGES_AT_ONCE: i64 = 100;
const FEEDBACK_MOST: i64 = 1_000_000;

/// What an export contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    pub pages: u64,
    pub versions: u64,
    pub bodies: u64,
}

/// The archive while it is written. It moves to a blocking thread and back with each page.
struct ExportWriter {
    zip: ZipWriter<BufWriter<File>>,
    bodies: BodySource,
    files: Vec<FileRecord>,
    written: HashSet<[u8; 32]>,
}

/// Why a page was not written.
enum PageFailure {
    /// A body is gone: the page has been replaced or deleted since its row was read.
    BodyGone,
    Io(io::Error),
}

impl From<io::Error> for PageFailure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl App {
    /// Writes the export of an account into an empty file.
    pub async fn export_account(
        &self,
        actor: &str,
        account: &Account,
        file: File,
        progress: impl Fn(TransferProgress),
    ) -> Result<Exported> {
        let total = u64::try_from(self.store.count_transferable(&account.id).await?).unwrap_or_default();
        let mut writer = ExportWriter {
            zip: ZipWriter::new(BufWriter::new(file)),
            bodies: BodySource { store: self.store.clone(), runtime: Handle::current() },
            files: Vec::new(),
            written: HashSet::new(),
        };
        let mut exported = Exported::default();
        let mut page_ids = HashSet::new();
        let mut after = String::new();
        loop {
            let pages = self.store.list_transferable(&account.id, &after, PAGES_AT_ONCE).await?;
            let Some(last) = pages.last() else { break };
            after.clone_from(&last.id);
            for site in pages {
                progress(TransferProgress { done: exported.pages, total });
                let id = site.id.clone();
                let versions;
                (writer, versions) = Box::pin(self.export_page(writer, site)).await?;
                if versions > 0 {
                    exported.pages += 1;
                    exported.versions += versions;
                    page_ids.insert(id);
                }
            }
        }
        let domains = self.store.list_domains(&account.id).await?.into_iter();
        let domains =
            domains.filter(|domain| page_ids.contains(&domain.site_id)).map(|domain| DomainRecord {
                hostname: domain.hostname.as_str().to_owned(),
                page: domain.site_id,
                primary: domain.is_primary,
            });
        exported.bodies = writer.written.len() as u64;
        let notify = self.store.find_chosen_notify_mode(&account.id).await?;
        let manifest = Manifest {
            format: FORMAT.to_owned(),
            version: FORMAT_VERSION,
            created_at: self.now(),
            server: self.hosts.base.url(),
            account: AccountRecord {
                email: account.email.clone(),
                plan: account.plan.clone(),
                created_at: account.created_at,
                notify: notify.map(|mode| mode.as_str().to_owned()),
            },
            domains: domains.collect(),
            files: Vec::new(),
        };
        // Before the export is complete: what was opened is recorded even if writing fails.
        let entry = self.audit_stmt(actor, AuditAction::ExportAccount, &account.id, None);
        self.store.commit(vec![entry]).await?;
        blocking(move || writer.finish(manifest)).await?.map_err(Error::internal)?;
        Self::log_operation(actor, AuditAction::ExportAccount, &account.id);
        progress(TransferProgress { done: exported.pages, total });
        Ok(exported)
    }

    /// Writes a page and returns the number of its versions; none if it was deleted meanwhile.
    async fn export_page(&self, mut writer: ExportWriter, site: Site) -> Result<(ExportWriter, u64)> {
        let id = site.id.clone();
        let mut current = Some(site);
        for _ in 0..CONFLICT_RETRIES {
            let Some(site) = current.filter(|site| site.is_editable() && site.bundle_id.is_some()) else {
                return Ok((writer, 0));
            };
            let page = self.page_record(site).await?;
            let versions = page.versions.len() as u64;
            let outcome;
            (writer, outcome) = blocking(move || {
                let outcome = writer.add_page(&page);
                (writer, outcome)
            })
            .await?;
            match outcome {
                Ok(()) => return Ok((writer, versions)),
                Err(PageFailure::BodyGone) => current = self.store.find_site(&id).await?,
                Err(PageFailure::Io(error)) => return Err(Error::internal(error)),
            }
        }
        Err(Error::internal(format!("a file of the page {id} is missing from storage")))
    }

    async fn page_record(&self, site: Site) -> Result<PageRecord> {
        let mut versions = Vec::new();
        for version in self.store.list_versions(&site.id).await? {
            // Older ones may be kept for the operator alone.
            if self.is_version_available(&site, version.version) {
                versions.push(self.version_record(version).await?);
            }
        }
        let feedback = self.store.list_feedback(&site.id, None, FEEDBACK_MOST).await?;
        let links = self.store.list_share_tokens(&site.id).await?;
        Ok(PageRecord {
            has_password: site.password_hash.is_some(),
            visibility: site.visibility.as_str().to_owned(),
            versions,
            feedback: self.feedback_records(&site.id, feedback).await?,
            feedback_visible: (site.feedback_visible != FeedbackVisible::default())
                .then(|| site.feedback_visible.as_str().to_owned()),
            share_links: links.into_iter().map(|(link, _)| share_link_record(link)).collect(),
            id: site.id,
            token: site.token,
            slug: site.slug,
            title: site.title,
            title_set: site.title_set,
            version: site.version,
            created_at: site.created_at,
            updated_at: site.updated_at,
            expires_at: site.expires_at,
            agentation: site.agentation,
            live: site.live,
            changes_since: site.changes_since,
            csp_strict: site.csp_strict,
            email_gate_domain: site.email_gate_domain,
            view_count: site.view_count,
            last_viewed_at: site.last_viewed_at,
        })
    }

    async fn version_record(&self, version: SiteVersion) -> Result<VersionRecord> {
        let bundle = self.get_bundle(&version.bundle_id).await?;
        let files = match content_of(&bundle)? {
            DownloadContent::File(file) => vec![file],
            DownloadContent::Archive(files) => files,
        };
        let body = |file: &std::sync::Arc<crate::ServedFile>| BodyRecord {
            path: file.path.clone(),
            size: file.size_bytes,
            blake3: Digest(file.hash),
        };
        Ok(VersionRecord {
            version: version.version,
            title: version.title,
            kind: bundle.kind.clone(),
            file_name: bundle.file_name.clone(),
            spa: bundle.addressing.spa,
            restored_from: version.restored_from,
            made_by: version
                .maker
                .map(|maker| MakerRecord { kind: maker.kind.as_str().to_owned(), name: maker.name }),
            created_at: version.created_at,
            files: files.iter().map(body).collect(),
        })
    }
}

impl ExportWriter {
    fn add_page(&mut self, page: &PageRecord) -> Result<(), PageFailure> {
        for body in page.versions.iter().flat_map(|version| &version.files) {
            if !self.written.contains(&body.blake3.0) {
                let reader = self.bodies.open(&body.blake3.0)?.ok_or(PageFailure::BodyGone)?;
                self.add(body_name(&body.blake3), body.size, reader)?;
                self.written.insert(body.blake3.0);
            }
        }
        let json = serde_json::to_vec(page).map_err(io::Error::other)?;
        self.add(page_name(&page.id), json.len() as u64, &json[..])?;
        Ok(())
    }

    fn add(&mut self, name: String, size: u64, mut from: impl Read) -> io::Result<()> {
        self.zip.start_file(name.as_str(), entry_options(size, true))?;
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; 64 * 1024];
        let mut written = 0;
        loop {
            let read = from.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            hasher.update(&buffer[..read]);
            self.zip.write_all(&buffer[..read])?;
            written += read as u64;
        }
        self.files.push(FileRecord { name, size: written, blake3: Digest(hasher.finalize().into()) });
        Ok(())
    }

    fn finish(mut self, mut manifest: Manifest) -> io::Result<()> {
        manifest.files = std::mem::take(&mut self.files);
        let json = serde_json::to_vec(&manifest).map_err(io::Error::other)?;
        self.zip.start_file(MANIFEST, entry_options(json.len() as u64, true))?;
        self.zip.write_all(&json)?;
        let file = self.zip.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()
    }
}

fn share_link_record(link: ShareToken) -> ShareLinkRecord {
    ShareLinkRecord {
        note: link.note,
        bypass_email_gate: link.bypass_email_gate,
        max_uses: link.max_uses,
        uses: link.uses,
        created_at: link.created_at,
        expires_at: link.expires_at,
        last_used_at: link.last_used_at,
    }
}

/// Runs work that blocks.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)
}
