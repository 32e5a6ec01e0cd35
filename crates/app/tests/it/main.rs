//! The operations: together, compared with a model of what they should do, and those of payments with a facilitator that
//! fails; and several nodes on one database.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says what went wrong by failing")]
mod attention;
mod certificates;
mod fixture;
mod harness;
mod lifecycle;
mod model;
mod nodes;
mod pay;
mod rows;
mod tickets;
mod webhook_failures;
mod webhooks;
