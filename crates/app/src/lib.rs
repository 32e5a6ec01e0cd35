//! The operations of the service: one method of [`App`] per operation, each with its own transaction. REST, MCP, the
//! dashboard and the command line call these and contain no rules.

mod accounts;
mod app;
mod backups;
mod certificates;
mod domains;
mod infra;
mod moderation;
mod notify;
mod pay;
mod publish;
mod transfer;
mod viewing;

pub use accounts::account::{AccountList, Me};
pub use accounts::api_keys::{CredentialChanges, KeyCreator, NewKey};
pub use accounts::caller::{Caller, Writer};
pub use accounts::device_logins::{DevicePollResult, DeviceRequest, NewDeviceLogin};
pub use accounts::erasure::ErasedAccount;
pub use accounts::first_operator::NewOperator;
pub use accounts::mcp_answers::{ANSWER_BYTES, ANSWER_SECONDS};
pub use accounts::mcp_sessions::{PARAMS_BYTES, WATCHED_MOST};
pub use accounts::oauth::{CodeExchange, ConsentAnswer, GrantedClient, Identity, NewClient, Tokens};
pub use accounts::passkeys::{ChallengeBinding, NewPasskey};
pub use accounts::sessions::NewSession;
pub use accounts::sign_in::{Browser, SignedIn};
pub use accounts::suspension::SuspensionResult;
pub use accounts::wallet_challenges::{CHALLENGE_SECONDS, NewChallenge};
pub use app::{App, Dependencies};
pub use backups::{BackupOutcome, BackupSettings, BackupStatus};
pub use certificates::{
    AddressCheck, CertificateView, EarliestExpiry, IssuedCertificate, NONE_OPEN_FOR, NewCertificate,
    OrderFailure,
};
pub use domains::served::ServedSite;
pub use domains::{DnsFailure, DnsLookup, DomainChange, DomainView, NewDomain};
pub use infra::health::HealthParts;
pub use infra::node_secret::{NODE_SECRET_RENEWAL, NODE_SECRET_WAIT};
pub use infra::service_stats::{OpenReports, ServiceStats};
pub use infra::settings::{Rates, Retention, Settings, TlsMode};
pub use infra::sweep::Swept;
pub use moderation::appeal_queue::AppealContext;
pub use moderation::appeals::AppealOutcome;
pub use moderation::audit::COMMAND_LINE;
pub use moderation::case_file::CaseFile;
pub use moderation::evidence::OpenEvidence;
pub use moderation::reports::{DismissedReports, ReportCase, ReportedPage};
pub use moderation::safe_preview::{
    PhishingVerdict, PreviewDocument, PreviewFile, PreviewFrame, SafePreview, SourceLine, SourceView,
};
pub use moderation::safety::{CheckResult, Checker, CheckerSettings, DryRun, RuleBook, SafetySettings};
pub use moderation::takedown::TakedownResult;
pub use notify::mail::{Email, MailCounts, MailError, Mailer};
pub use notify::operator_notifications::NotificationRecipients;
pub use notify::owner_emails::Subscriber;
pub use notify::owner_notices::{Listener, Notice, NoticeKind};
pub use notify::webhooks::{
    DeliveryList, DeliveryQuery, ListenedEvent, NewWebhook, WebhookChange, WebhookCounts, WebhookMessage,
    WebhookSettings, WebhookTransport, WebhookWithSecret,
};
pub use pay::ledger::{CreditResult, LedgerAudit};
pub use pay::overview::{PaymentFilter, PaymentOverview, UndecidedPayments};
pub use pay::{
    BalancePurchase, BalanceResult, CardProcessor, CardSettings, CatalogueEntry, ChainStatus, CheckedPage,
    CreatedPaySession, DeliveredKey, EvmPayment, Facilitator, FacilitatorCall, FacilitatorReply, Listing,
    MandatePurchase, MandateSettings, MandateTerms, Mode, MovementList, MovementQuery, MppPayment,
    NewPaySession, NoResponse, Order, PayError, PayRefused, PayRequest, PaymentProof, PaymentSettings,
    PolledPaySession, Prices, ProcessorReply, ProvisionedAccount, PurchaseResult, PurchasedItem, RailStatus,
    Resolution, Sandbox, SandboxProcessor, SandboxReply, SolanaPayment, TokenRequest, UnlockResult,
};
pub use publish::idempotency::{IdempotentRequest, IdempotentResult, StoredOutcome};
pub use publish::upload::{Upload, UploadBody};
pub use publish::upload_tickets::{NewTicket, OpenedTicket, TicketUpload};
pub use publish::{
    ContentDiff, ContentEdit, CreatedSite, DeletedSite, DiffLine, Download, DownloadContent, EditedSite,
    FileChange, FileDiff, FileEdit, FileStatus, FoundSource, Hunk, LineKind, ListQuery, MOST_CHANGED_FILES,
    PatchRequest, SiteContent, SiteDocument, SiteList, SiteSearch, UpdatedSite, VersionDiff, WritableSite,
};
pub use transfer::{Exported, ImportTarget, Imported, TransferProgress};
pub use viewing::burn::{EraseOnDrop, ViewClaim};
pub use viewing::feedback::FeedbackList;
pub use viewing::feedback_bulk::{BulkSelection, ResolvedFeedback};
pub use viewing::feedback_replies::{OwnerReply, ReplyEffect, ViewerReply};
pub use viewing::feedback_threads::{FeedbackThread, ShownThread};
pub use viewing::live_pages::{LiveStream, PageSignal};
pub use viewing::page_changes::{ComparedPage, EarlierVersion, PageChanges};
pub use viewing::pages::{
    AnnotatedDocument, Body, ContentCoding, FileStream, INSERTION_WINDOW, Insertion, OpenedPage, PageKey,
    PageView, ServedBundle, ServedFile, Staleness, encode,
};
pub use viewing::share_tokens::{SharePass, ShareTokenWithSecret};

// Rows shown to the operator unchanged.
pub use dropleaf_store::anonymous_usage::UsageLimits;
pub use dropleaf_store::blocked_content::BlockedContent;
pub use dropleaf_store::evidence::Evidence;
pub use dropleaf_store::ledger::{BookLine, Movement};
pub use dropleaf_store::ledger_audit::LedgerFault;
