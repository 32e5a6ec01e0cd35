//! Operations on sites: publish, read, replace, change, end, claim, and roll back to an older version.

mod claim;
mod create;
pub(crate) mod download;
mod edit;
mod guard_errors;
pub(crate) mod idempotency;
mod lifecycle;
mod read;
mod replace;
mod site_commit;
mod site_search;
mod staged_bodies;
pub(crate) mod staging;
pub(crate) mod strict_csp;
pub(crate) mod upload;
pub(crate) mod upload_tickets;
mod versions;

pub use create::CreatedSite;
pub(crate) use create::first_version;
pub use download::{Download, DownloadContent};
pub use edit::PatchRequest;
pub use lifecycle::DeletedSite;
pub use read::{ListQuery, SiteContent, SiteDocument, SiteList};
pub use replace::{UpdatedSite, WritableSite};
pub use site_search::SiteSearch;

pub(crate) use guard_errors::{daily_key, daily_rate};
pub(crate) use site_commit::CONFLICT_RETRIES;

use guard_errors::daily_quota_stmt;
