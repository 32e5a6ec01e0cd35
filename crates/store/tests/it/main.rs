//! The contract of the store, on both databases and on both kinds of body storage.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says what went wrong by failing")]
mod audit;
mod backups;
mod batches;
mod bodies;
mod disk_full;
mod harness;
mod ledger;
mod migrations;
mod notices;
mod processes;
mod reads;
mod reports;
mod sql_text;
mod sweeps;
mod unwanted;
