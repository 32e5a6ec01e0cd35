//! The interface, met as clients meet it: a real server on a free port. One file for each URL and verb.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says what went wrong by failing")]
mod api_keys;
mod backup_cli;
mod burn;
mod config_cli;
mod encrypted;
mod errors;
mod generated;
mod harness;
mod hostile_archives;
mod hosts;
mod idempotency;
mod limits;
mod openapi;
mod operations;
mod plans;
mod site_claim;
mod site_content;
mod site_delete;
mod site_patch;
mod site_put;
mod site_versions;
mod sites_get;
mod sites_post;
mod slugs;
mod spec_map;
mod storage;
mod strict_csp;
mod sweep;
mod view_counts;
mod view_files;
mod view_fresh;
mod view_headers;
mod view_http;
mod view_page;
