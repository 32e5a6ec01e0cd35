//! Operations on sites: publish, read, replace, change, end, claim, and roll back to an older version.

mod claim;
mod content_diff;
mod content_edit;
mod create;
pub(crate) mod download;
mod edit;
mod edited_files;
mod edited_upload;
mod guard_errors;
pub(crate) mod idempotency;
mod lifecycle;
mod read;
mod replace;
mod site_commit;
mod site_reference;
mod site_search;
mod source_files;
mod source_read;
mod staged_bodies;
pub(crate) mod staging;
pub(crate) mod strict_csp;
mod text_diff;
pub(crate) mod upload;
pub(crate) mod upload_tickets;
mod version_diff;
mod versions;

pub(crate) use content_diff::DiffBudget;
pub use content_diff::{ContentDiff, DiffLine, FileDiff, FileStatus, Hunk, LineKind};
pub use content_edit::{ContentEdit, EditedSite, FileChange, FileEdit, MOST_CHANGED_FILES};
pub use create::CreatedSite;
pub(crate) use create::first_version;
pub use download::{Download, DownloadContent};
pub use edit::PatchRequest;
pub use lifecycle::DeletedSite;
pub use read::{ListQuery, SiteContent, SiteDocument, SiteList};
pub use replace::{UpdatedSite, WritableSite};
pub use site_search::SiteSearch;
pub use source_read::FoundSource;

pub use version_diff::VersionDiff;

pub(crate) use guard_errors::{daily_key, daily_rate};
pub(crate) use site_commit::CONFLICT_RETRIES;

use guard_errors::daily_quota_stmt;
