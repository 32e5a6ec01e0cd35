//! Tests of the interface against a real server on a free port. One folder for each area, one file for each URL and verb.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says what went wrong by failing")]

mod abuse;
mod access;
mod accounts;
mod api;
mod cli;
mod dashboard;
mod domains;
mod harness;
mod mcp;
mod moderation;
mod notifications;
mod oauth;
mod pay;
mod repository;
mod runtime;
mod safety;
mod sites;
mod view;
mod webhooks;
