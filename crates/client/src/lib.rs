//! The client side of the service: a typed API client, the stdio bridge for MCP (Model Context Protocol) clients, the set-up
//! of such clients, the credentials file of `dropleaf login`, and the record of pages published from this machine.
//! Knows nothing of the server's internals and depends on no other crate of ours.

mod account;
mod answer;
mod client;
mod content_edit;
mod credentials;
mod device;
mod download;
mod error;
mod feedback;
pub mod mcp;
pub mod mcp_setup;
mod multipart;
mod page_name;
mod pages;
mod pay_sessions;
mod private_file;
mod published;
mod share_tokens;
mod sites;
mod text;
mod unpack;
mod upload;
mod version_diff;
mod versions;
mod webhooks;

pub use account::{Me, UploadLimits};
pub use answer::Answer;
pub use client::{Client, is_loopback, server_name};
pub use content_edit::{ContentEdit, EditedPage};
pub use credentials::{Credentials, CredentialsError, Login};
pub use device::{DeviceCode, Key, OWN_CLIENT, Polled, Tokens, wait_for_answer};
pub use download::{DownloadError, Downloaded};
pub use error::{ClientError, Reason};
pub use feedback::{
    Comment, CommentFilter, CommentList, CommentReply, ReopenedComment, RepliedComment, ResolvedComment,
    ResolvedComments,
};
pub use page_name::PageName;
pub use pages::{PageOptions, Site};
pub use pay_sessions::{PaySession, PolledPaySession, wait_for_payment};
pub use published::{Gate, PublishedPage, PublishedPages, RecordError};
pub use share_tokens::{NewShareLink, ShareLink, ShareLinks};
pub use sites::{DeletedPage, EmailGate, ListCursor, PageInfo, PageList};
pub use text::visible;
pub use unpack::{ArchiveFile, BoundedFile, UnpackError, UnpackLimits, open_archive, safe_path, unpack};
pub use upload::Upload;
pub use version_diff::{ChangedFile, ChangedLines, VersionDiff};
pub use versions::{PageVersion, PageVersions};
pub use webhooks::{
    FetchedEvent, FetchedEvents, NewWebhook, Webhook, WebhookDeliveries, WebhookDelivery, Webhooks,
};
