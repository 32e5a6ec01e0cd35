//! The binary's library: configuration, command line, HTTP. Rules live in `core`, operations in `app`, SQL in `store`.

mod body_counter;
pub mod cli;
pub mod config;
mod connection;
pub mod connection_activity;
mod frames;
pub mod http;
mod large_heads;
mod lazy_poll;
pub mod listeners;
pub mod lists;
pub mod logging;
pub mod mail;
pub mod metrics;
mod networks;
mod outbound;
pub mod passkey;
mod send_budget;
pub mod serve;
mod serve_lock;
mod signals;
pub mod startup;
pub mod tasks;
pub mod tls;
mod watched_stream;
mod welcome;
mod wire;
