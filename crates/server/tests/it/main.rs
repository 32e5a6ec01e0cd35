//! The interface, met as clients meet it: a real server on a free port. One file for each URL and verb.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says what went wrong by failing")]
mod harness;
mod hosts;
mod site_claim;
mod site_content;
mod site_delete;
mod site_patch;
mod site_put;
mod site_versions;
mod sites_get;
mod sites_post;
mod slugs;
mod view_counts;
mod view_files;
mod view_fresh;
mod view_headers;
mod view_http;
mod view_page;
mod api_keys;
mod idempotency;
mod limits;
mod plans;
