//! The operations of the service: one method of [`App`] per operation, each with its own transaction. REST, MCP, the
//! dashboard and the command line call these and contain no rules.

mod accounts;
mod app;
mod infra;
mod moderation;
mod notify;
mod pay;
mod publish;
mod viewing;

pub use accounts::account::{AccountList, Me};
pub use accounts::api_keys::{CredentialChanges, KeyMaker, NewKey};
pub use accounts::caller::{Caller, Writer};
pub use accounts::device_logins::{DeviceRequest, NewDevice, Polled};
pub use accounts::mcp_sessions::{PARAMS_BYTES, WATCHED_MOST};
pub use accounts::oauth::{Answered, CodeTrade, GrantedClient, Identity, NewClient, Tokens};
pub use accounts::passkeys::{Asked, NewPasskey};
pub use accounts::sessions::NewSession;
pub use accounts::sign_in::{Browser, SignedIn};
pub use accounts::suspension::Suspended;
pub use accounts::wallet_challenges::{CHALLENGE_SECONDS, NewChallenge};
pub use app::{App, Parts};
pub use infra::service_stats::{Figures, OpenReports};
pub use infra::settings::{Rates, Retention, Settings};
pub use infra::sweep::Swept;
pub use moderation::appeal_queue::AppealCase;
pub use moderation::appeals::Appealed;
pub use moderation::audit::COMMAND_LINE;
pub use moderation::case_file::CaseFile;
pub use moderation::evidence::OpenEvidence;
pub use moderation::reports::{Case, Dismissed, ReportedPage};
pub use moderation::safe_preview::{Look, LookDocument, LookFile, LookFrame, Source, SourceLine, Verdict};
pub use moderation::safety::{Checked, Checker, CheckerSettings, DryRun, RuleBook, SafetySettings};
pub use moderation::takedown::TakenDown;
pub use notify::mail::{Letter, MailError, Mailer};
pub use notify::operator_notifications::Notified;
pub use notify::owner_notices::{Listener, News, Notice};
pub use pay::ledger::{BooksAudit, Credited};
pub use pay::overview::Money;
pub use pay::{
    Ask, Bought, CatalogueEntry, EvmWay, Facilitator, Goods, Listing, Lost, Mode, Order, PageToSell,
    PayError, PayRefused, PayRequest, PaymentSettings, Prices, Reply, Resolution, Sandbox, SolanaWay, Trace,
    Unlocked,
};
pub use publish::idempotency::{Done, Once};
pub use publish::upload::{Upload, UploadBody};
pub use publish::upload_tickets::{Arrived, NewTicket, Ticketed};
pub use publish::{
    Content, Created, Deleted, Document, ListQuery, PatchRequest, SiteList, SiteSearch, Updated, Writable,
};
pub use viewing::burn::{Claim, Erasing};
pub use viewing::feedback::FeedbackList;
pub use viewing::pages::{
    Annotated, Body, Coding, INSERTION_WINDOW, Insertion, LiveBundle, LiveFile, Page, PageKey, Part, encode,
};
pub use viewing::share_tokens::{OwnShareToken, SharePass};

// Rows shown to the operator unchanged.
pub use dropleaf_store::anonymous_usage::UsageLimits;
pub use dropleaf_store::evidence::Evidence;
pub use dropleaf_store::ledger::BookLine;
pub use dropleaf_store::ledger_audit::Fault;
pub use dropleaf_store::unwanted::Unwanted;
