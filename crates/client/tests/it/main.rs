//! Tests the client against a minimal server, and the credentials file on a real disk.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

mod bridge_sessions;
mod bridge_stateless;
mod bridge_troubles;
mod calls;
mod credentials;
mod fake;
mod published;
