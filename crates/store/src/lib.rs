//! Stores rows and bodies: all SQL of the service, one text for SQLite and PostgreSQL, and all object storage.
//!
//! Knows nothing of HTTP and contains no policy.

pub mod backup;
pub mod blobs;
pub mod db;

pub mod account_erasure;
pub mod account_transfer;
pub mod accounts;
pub mod acme_accounts;
pub mod acme_challenges;
pub mod allowed_content;
pub mod anonymous_usage;
pub mod api_keys;
pub mod appeal_decisions;
pub mod appeal_queue;
pub mod appeals;
pub mod audit;
pub mod backup_state;
pub mod balance_purchases;
pub mod blocked_content;
pub mod bundles;
pub mod burns;
pub mod card_payments;
pub mod certificates;
pub mod counters;
pub mod custom_domains;
pub mod device_logins;
pub mod email_codes;
pub mod email_notices;
pub mod email_settings;
mod error_codes;
pub mod evidence;
pub mod expiry_announcements;
pub mod expiry_emails;
pub mod feedback;
pub mod feedback_replies;
mod feedback_search;
pub mod feedback_states;
pub mod health;
pub mod idempotency;
pub mod leases;
pub mod ledger;
pub mod ledger_audit;
pub mod mcp_answers;
pub mod mcp_sessions;
pub mod oauth_clients;
pub mod oauth_codes;
pub mod oauth_grants;
pub mod oauth_requests;
pub mod oauth_tokens;
pub mod operator_notifications;
pub mod owner_tickets;
pub mod passkeys;
pub mod pay_sessions;
pub mod payment_counts;
pub mod payments;
pub mod processor_events;
mod related_sites;
pub mod reports;
pub mod revenue;
pub mod revisions;
pub mod sandbox_objects;
pub mod sandbox_transfers;
pub mod service_stats;
pub mod sessions;
pub mod share_tokens;
pub mod sign_ins;
mod site_search;
pub mod site_upkeep;
pub mod site_versions;
pub mod sites;
pub mod slugs;
pub mod store;
pub mod token_buckets;
pub mod view_flushes;
pub mod wallet_challenges;
pub mod webhook_deliveries;
pub mod webhook_endpoints;
pub mod webhook_outbox;

pub use blobs::{BlobError, Blobs};
pub use db::{
    Db, DbError, Expect, FenceKind, LISTENING, Outcome, OwnedRow, PgOptions, PoolUse, Row, Stmt, Val,
};
pub use health::LockWaits;
pub use store::Store;
