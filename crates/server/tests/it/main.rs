//! The interface, met as clients meet it: a real server on a free port. One file for each URL and verb.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says what went wrong by failing")]
mod harness;
mod sites_post;
mod site_put;
