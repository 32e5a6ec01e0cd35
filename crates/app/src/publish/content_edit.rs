//! Edits the content of a page in place: `PATCH /sites/{idOrSlug}/content`, `PUT` and `DELETE …/files/{path}`. The result is a replacement: it passes the same
//! checks, limits and counters, and becomes a new version.

use super::content_diff::ContentDiff;
use super::replace::{Replacement, UpdatedSite, WritableSite};
use crate::accounts::caller::Writer;
use crate::app::App;
use crate::publish::idempotency::{FirstOrReplay, IdempotentRequest, IdempotentResult, StoredOutcome};
use crate::publish::staging::executable_refused;
use bytes::Bytes;
use dropleaf_core::options::UploadOptions;
use dropleaf_core::safety::PiiCheck;
use dropleaf_core::site::Site;
use dropleaf_core::text_edit::{MOST_EDITS, TextEdit};
use dropleaf_core::{Code, Error, Result};
use dropleaf_store::{DbError, idempotency};

/// How many files one request adds, replaces or deletes.
pub const MOST_CHANGED_FILES: usize = 100;

/// An edit of one file; `None` is the main file of the page.
#[derive(Debug, Clone)]
pub struct FileEdit {
    pub path: Option<String>,
    pub edit: TextEdit,
}

/// A file of an archive that is added or replaced, or deleted if there is no content.
#[derive(Debug, Clone)]
pub struct FileChange {
    pub path: String,
    pub content: Option<Bytes>,
}

/// What to change.
#[derive(Debug, Clone, Default)]
pub struct ContentEdit {
    pub edits: Vec<FileEdit>,
    pub files: Vec<FileChange>,
    /// Refuse unless the page is unchanged since the caller read it.
    pub expected_updated_at: Option<i64>,
    pub spa: Option<bool>,
    pub pii_check: Option<PiiCheck>,
    /// Checks everything and changes nothing.
    pub dry_run: bool,
    /// Content that is the same is no error, as for a file that is sent again.
    pub may_be_same: bool,
    /// The limit of an edited file.
    pub most_bytes: usize,
    pub warnings: Vec<String>,
}

/// An edited page and what changed in it.
#[derive(Debug)]
pub struct EditedSite {
    pub updated: UpdatedSite,
    pub diff: ContentDiff,
    pub dry_run: bool,
}

impl ContentEdit {
    /// Checks what can be known without the page.
    fn check(&self) -> Result<()> {
        if self.edits.is_empty() && self.files.is_empty() {
            return Err(Error::field("edits", "is empty: send at least one edit or one file"));
        }
        if self.edits.len() > MOST_EDITS {
            return Err(Error::field("edits", format!("has more than {MOST_EDITS} entries")));
        }
        if self.files.len() > MOST_CHANGED_FILES {
            return Err(Error::field("files", format!("has more than {MOST_CHANGED_FILES} entries")));
        }
        self.edits.iter().try_for_each(|edit| edit.edit.check())
    }

    fn options(&self, site: &Site) -> UploadOptions {
        UploadOptions {
            expected_updated_at: self.expected_updated_at,
            // Not detected again: an edit changes no setting.
            spa: self.spa.or(Some(site.spa)),
            pii_check: self.pii_check,
            warnings: self.warnings.clone(),
            ..UploadOptions::default()
        }
    }
}

impl App {
    /// Applies all changes or none. Refused with a conflict if the content is replaced at the same time.
    pub async fn edit_content(
        &self,
        writer: &Writer,
        name: &str,
        seen: WritableSite,
        edit: ContentEdit,
        once: Option<&IdempotentRequest>,
        render: impl Fn(&EditedSite) -> Vec<u8>,
    ) -> Result<IdempotentResult<EditedSite>> {
        edit.check()?;
        let once = once.filter(|_| !edit.dry_run);
        let _guard = match self.begin_idempotent(once).await? {
            FirstOrReplay::Replay(outcome, body) => return Ok(IdempotentResult::Replayed { outcome, body }),
            FirstOrReplay::First(guard) => guard,
        };
        let site = self.current_row(writer, name, seen).await?;
        Self::check_unchanged(&site, edit.expected_updated_at)?;
        if matches!(writer, Writer::Wallet(_)) && site.account_id.is_some() {
            // The answer shows the source, and the wallet that paid may not read the page of an account.
            let detail = "The page belongs to an account now. The wallet that paid for it can only replace its content.";
            return Err(Error::new(Code::NotEditable, detail));
        }
        let options = edit.options(&site);
        let (dry_run, may_be_same) = (edit.dry_run, edit.may_be_same);
        let Some(edited) = self.build_edited(&site, edit).await? else {
            if !may_be_same {
                return Err(Error::field("edits", "changes nothing: the content would be the same"));
            }
            let mut warnings = options.warnings;
            warnings.push("The content is the same, so nothing was changed.".to_owned());
            let updated = UpdatedSite { site, warnings };
            let same = EditedSite { updated, diff: ContentDiff::default(), dry_run };
            let Some(once) = once else { return Ok(IdempotentResult::New(same)) };
            // Kept like any other response, so that a retry does not write over what was changed in between.
            let stmts = vec![self.store_response(once, StoredOutcome::Updated, &render(&same))?];
            return match self.store.commit(stmts).await {
                Ok(_) => Ok(IdempotentResult::New(same)),
                Err(DbError::Guard(idempotency::ANSWERED)) => self.replay_response(once).await,
                Err(error) => Err(error.into()),
            };
        };
        if dry_run {
            let prepare_options = self.replace_options(writer, &site, &options);
            let (prepared, scan) = self.scan_for_dry_run(edited.upload, prepare_options).await?;
            if let Some(file) = prepared.bundle.program().filter(|_| !prepare_options.executables) {
                return Err(executable_refused(&file.path));
            }
            let mut warnings = options.warnings;
            warnings.extend(self.check_content(&scan).await?);
            warnings.extend(prepared.into_warnings());
            let updated = UpdatedSite { site, warnings };
            return Ok(IdempotentResult::New(EditedSite { updated, diff: edited.diff, dry_run }));
        }
        let base = site.bundle_id.clone();
        let replacement = Replacement { writer, name, site, upload: edited.upload, options, base };
        let diff = edited.diff;
        let with_diff = |updated: &UpdatedSite| {
            let UpdatedSite { site, warnings } = updated;
            let updated = UpdatedSite { site: site.clone(), warnings: warnings.clone() };
            render(&EditedSite { updated, diff: diff.clone(), dry_run })
        };
        Ok(match self.write_replacement(replacement, once, with_diff).await? {
            IdempotentResult::New(updated) => IdempotentResult::New(EditedSite { updated, diff, dry_run }),
            IdempotentResult::Replayed { outcome, body } => IdempotentResult::Replayed { outcome, body },
        })
    }
}
