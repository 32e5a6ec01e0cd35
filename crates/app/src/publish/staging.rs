//! Stages an upload: validates and packs the content, stores large bodies in the object store, and returns the SQL
//! statements for the rest, for the operation's transaction. Body first, row second.

use crate::app::App;
use crate::infra::permit_queue::run_blocking_with_permit;
use crate::moderation::safety::ContentScan;
use crate::publish::strict_csp::StrictPolicy;
use crate::publish::upload::{Upload, UploadBody};
use dropleaf_content::{self as content, Refusal, RefusalCode};
use dropleaf_core::safety::PiiCheck;
use dropleaf_core::{Code, Error, Result};
use dropleaf_inspect::similarity::Blocklist;
use dropleaf_store::Stmt;
use dropleaf_store::bundles::{self, Bundle, BundleFile};
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// `Retry-After` in seconds of a dry run that was refused.
const BUSY_SECONDS: i64 = 5;

/// Validated and packed content.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) bundle: content::Bundle,
    policy: Option<StrictPolicy>,
    strict: bool,
}

impl Prepared {
    /// Warnings for the publisher.
    pub(crate) fn into_warnings(self) -> Vec<String> {
        let policy = self.policy.map(|policy| policy.warnings);
        self.bundle.warnings.into_iter().chain(policy.into_iter().flatten()).collect()
    }
}

/// Options of an upload beside its content.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PrepareOptions {
    /// The content is ciphertext.
    pub(crate) e2e: bool,
    /// It must be prepared for a strict content security policy.
    pub(crate) strict: bool,
    pub(crate) pii_check: Option<PiiCheck>,
    /// The feedback toolbar is requested.
    pub(crate) agentation: bool,
    /// Whether unknown navigations are answered with `index.html`; None decides it from the content.
    pub(crate) spa: Option<bool>,
    /// The page is public under a slug.
    pub(crate) is_public: bool,
    /// Files that are executable on a viewer's computer are accepted.
    pub(crate) executables: bool,
}

/// Content ready to be committed.
#[derive(Debug)]
pub(crate) struct Staged {
    pub(crate) bundle_id: String,
    pub(crate) title: String,
    pub(crate) byte_size: i64,
    pub(crate) file_count: i64,
    pub(crate) spa: bool,
    pub(crate) warnings: Vec<String>,
    pub(crate) stmts: Vec<Stmt>,
    /// The hash of its main document.
    pub(crate) document: Option<[u8; 32]>,
    /// Whether it is prepared for a strict content security policy.
    pub(crate) strict: bool,
}

impl App {
    pub(crate) async fn stage_upload(&self, upload: Upload, options: PrepareOptions) -> Result<Staged> {
        let prepared = self.prepare_upload(upload, options).await?;
        self.stage_prepared(prepared).await
    }

    /// Stores the large bodies, and returns the statements for the rest.
    pub(crate) async fn stage_prepared(&self, prepared: Prepared) -> Result<Staged> {
        let Prepared { bundle, policy, strict } = prepared;
        let now = self.now();
        let row = Bundle {
            id: self.minter.ordered_id("bun", now),
            kind: bundle.kind.as_str().to_owned(),
            entry: bundle.entry,
            file_name: bundle.file_name,
            root_paths: bundle.addressing.root_paths,
            client_routes: bundle.addressing.client_routes,
            spa: bundle.addressing.spa,
            sandboxed_frames: bundle.addressing.sandboxed_frames,
            files: bundle
                .files
                .iter()
                .map(|file| BundleFile {
                    path: file.path.clone(),
                    mime: file.mime.to_owned(),
                    blob_hash: file.hash,
                    size_bytes: to_i64(file.size_bytes),
                })
                .collect(),
        };
        let document = row.files.iter().find(|file| file.path == row.entry).map(|file| file.blob_hash);
        let mut stmts = self.stage_bodies(bundle.files, now).await?;
        let file_count = row.files.iter().filter(|file| !file.path.starts_with("_dropleaf/")).count();
        stmts.extend(bundles::insert(&row, now));
        let mut warnings = bundle.warnings;
        if let Some(policy) = policy {
            stmts.push(policy.record(&row.id));
            warnings.extend(policy.warnings);
        }
        Ok(Staged {
            bundle_id: row.id,
            title: bundle.title,
            byte_size: to_i64(bundle.size_bytes),
            file_count: to_i64(file_count as u64),
            spa: row.spa,
            warnings,
            stmts,
            document,
            strict,
        })
    }

    /// Validates and packs; nothing is stored yet. Content that may not be published is refused here, for every interface
    /// alike.
    pub(crate) async fn prepare_upload(&self, upload: Upload, options: PrepareOptions) -> Result<Prepared> {
        let (mut prepared, scan) = self.scan_upload(upload, options).await?;
        if let Some(file) = prepared.bundle.program().filter(|_| !options.executables) {
            return Err(executable_refused(&file.path));
        }
        prepared.bundle.warnings.extend(self.check_content(&scan).await?);
        Ok(prepared)
    }

    /// Packs and reads, without a verdict.
    pub(crate) async fn scan_upload(
        &self,
        upload: Upload,
        options: PrepareOptions,
    ) -> Result<(Prepared, ContentScan)> {
        let quick = upload.is_checked_inline();
        let work = self.scan_work(upload, options, self.blocklist().await?);
        if quick {
            return self.run_inline(work).await;
        }
        run_blocking_with_permit(self.acquire_upload_permit().await?, work).await
    }

    /// The same for dry runs and appeals, which have a short queue of their own.
    pub(crate) async fn scan_for_dry_run(
        &self,
        upload: Upload,
        options: PrepareOptions,
    ) -> Result<(Prepared, ContentScan)> {
        let quick = upload.is_checked_inline();
        let work = self.scan_work(upload, options, self.blocklist().await?);
        let work = move || {
            let (prepared, mut scan) = work()?;
            scan.is_dry = true;
            Ok((prepared, scan))
        };
        if quick {
            return work();
        }
        let permit = self.moderation.check_queue.acquire().await.ok_or_else(overloaded)?;
        run_blocking_with_permit(permit, work).await
    }

    /// Runs work that takes less time than handing it to another thread.
    async fn run_inline<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let permit = self.limits.inline_permits.acquire().await;
        let _held = permit.map_err(|_| Error::plain(Code::Overloaded))?;
        work()
    }

    /// Waits for a permit; they bound the number of uploads in memory.
    pub(crate) async fn acquire_upload_permit(&self) -> Result<OwnedSemaphorePermit> {
        Arc::clone(&self.limits.upload_permits)
            .acquire_owned()
            .await
            .map_err(|_| Error::plain(Code::Overloaded))
    }

    /// The blocking work for an upload.
    fn scan_work(
        &self,
        upload: Upload,
        options: PrepareOptions,
        blocklist: Option<Arc<Blocklist>>,
    ) -> impl FnOnce() -> Result<(Prepared, ContentScan)> + Send + use<> {
        let PrepareOptions { e2e, strict, pii_check, agentation, spa, is_public, executables: _ } = options;
        let safety = self.settings.safety.clone();
        let limits = self.settings.content.clone();
        let spool = self.settings.spool_dir.clone();
        let is_isolated = self.hosts.isolated;
        let clean = Arc::clone(&self.moderation.clean_content);
        move || {
            let source = match upload.body {
                UploadBody::Memory(bytes) => content::Source::Memory(bytes),
                UploadBody::File(file) => content::Source::File(file),
            };
            let request = content::Upload {
                filename: upload.filename.as_deref(),
                content_type: upload.content_type.as_deref(),
                e2e,
                source,
            };
            let mut bundle =
                content::prepare(request, &limits, &spool).map_err(|refusal| content_error(&refusal))?;
            choose_spa(&mut bundle, spa)?;
            let shown =
                content::ServedAt { own_host: is_isolated, slug: is_public, spa: bundle.addressing.spa };
            let about_address = std::mem::take(&mut bundle.address_warnings).at(shown);
            let about_toolbar = bundle.toolbar_warning.take().filter(|_| agentation);
            bundle.warnings.extend(about_address.chain(about_toolbar));
            if agentation && bundle.kind == content::BundleKind::File && !bundle.has_page() {
                bundle.warnings.push("The feedback toolbar works on HTML pages only.".to_owned());
            }
            // Read once more, only on request: most pages are not even parsed.
            let policy = strict.then(|| {
                let found = content::StrictCsp::of(&bundle).map_err(Error::internal)?;
                StrictPolicy::of(&found, e2e)
            });
            let scan = ContentScan::scan_and_compare(&bundle, &safety, pii_check, blocklist, &clean)?;
            bundle.drop_plain();
            Ok((Prepared { bundle, policy: policy.transpose()?, strict }, scan))
        }
    }
}

/// The publisher's setting for client-side routes overrides what was detected.
fn choose_spa(bundle: &mut content::Bundle, spa: Option<bool>) -> Result<()> {
    let Some(spa) = spa else { return Ok(()) };
    if spa && !bundle.can_answer_routes() {
        return Err(Error::field("spa", "needs an HTML page, or an archive with `index.html` at its root"));
    }
    bundle.addressing.choose_spa(spa);
    Ok(())
}

/// The error for a file that is executable on a viewer's computer.
pub(crate) fn executable_refused(path: &str) -> Error {
    let shown: String = path.chars().filter(|c| !c.is_control()).take(120).collect();
    Error::new(
        Code::ExecutableRefused,
        format!(
            "`{shown}` can run on a viewer's computer. Anonymous uploads and this plan do not allow such files. Remove it."
        ),
    )
}

/// The error if too many dry runs and appeals are in progress.
pub(crate) fn overloaded() -> Error {
    Error::plain(Code::Overloaded).retry_after(BUSY_SECONDS)
}

/// Maps a refusal of the content to an error code of the API.
pub(crate) fn content_error(refusal: &Refusal) -> Error {
    let code = match refusal.code {
        RefusalCode::EmptyFile => Code::EmptyFile,
        RefusalCode::UnsupportedType => Code::UnsupportedType,
        RefusalCode::InvalidArchive => Code::InvalidArchive,
        RefusalCode::MissingIndex => Code::MissingIndex,
        RefusalCode::ForbiddenName => Code::ForbiddenName,
        RefusalCode::TooLarge => Code::TooLarge,
        RefusalCode::TooManyFiles => Code::TooManyFiles,
        RefusalCode::InvalidPdf => Code::InvalidPdf,
        RefusalCode::InvalidCiphertext => Code::InvalidCiphertext,
        RefusalCode::NotText => Code::NotText,
        RefusalCode::Io if refusal.is_storage_full() => Code::StorageFull,
        RefusalCode::Io => return Error::internal(refusal.to_string()),
    };
    Error::new(code, refusal.to_string())
}

pub(crate) fn to_i64(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
