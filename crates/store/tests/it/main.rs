//! Contract tests of the store, on both databases and both kinds of object storage.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says what went wrong by failing")]
mod anonymous_usage;
mod attention;
mod audit;
mod backup_state;
mod backups;
mod batches;
mod bodies;
mod certificates;
mod counters;
mod custom_domains;
mod disk_full;
mod email_notices;
mod feedback_threads;
mod harness;
mod key_delivery;
mod leases;
mod ledger;
mod mcp_answers;
mod migration_locks;
mod migration_rules;
mod migrations;
mod notices;
mod pg_faults;
mod pg_groups;
mod pg_lanes;
#[expect(dead_code, reason = "the tests of operations and of the server use the rest")]
mod pg_proxy;
mod pg_server;
mod pg_servers;
mod pg_shares;
mod processes;
mod reads;
mod released_domains;
mod released_schemas;
mod released_store;
mod replicas;
mod reports;
mod repository_backups;
mod revenue;
mod sandbox_objects;
mod sql_text;
mod sweeps;
mod unwanted;
mod webhook_access;
mod webhooks;
