//! The acts: one method for each thing a caller can do, each with its own transaction.
//! REST, and every later door, calls these and holds no rule of its own.

mod accounts;
mod api_keys;
mod app;
mod bucket;
mod burn;
mod caller;
mod email_gate;
mod feedback;
mod fresh;
mod gates;
mod idempotency;
mod limits;
mod mailer;
mod pages;
mod passwords;
mod reports;
mod sealing;
mod settings;
mod share_tokens;
mod sites;
mod staging;
mod strict;
mod sweep;
mod throttle;
mod views;

pub use accounts::Me;
pub use api_keys::NewKey;
pub use app::{App, Parts};
pub use burn::{Claim, Erasing};
pub use caller::{Caller, Writer};
pub use idempotency::{Done, Once};
pub use mailer::{Letter, MailError, Mailer};
pub use pages::{Annotated, Body, Coding, LiveBundle, LiveFile, Page, PageKey, Part, encode};
pub use reports::ReportedPage;
pub use settings::{Rates, Retention, Settings};
pub use share_tokens::{OwnShareToken, SharePass};
pub use sites::{Content, Created, Deleted, ListQuery, PatchRequest, SiteList, Updated, Writable};
pub use staging::{Upload, UploadBody};
pub use sweep::Swept;
