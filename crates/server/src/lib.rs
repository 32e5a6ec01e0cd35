//! The binary's library: configuration, command line, HTTP. Rules live in `core`, operations in `app`, SQL in `store`.

mod aside;
mod body_counter;
pub mod cli;
pub mod config;
mod connection;
mod frames;
pub mod http;
mod large_heads;
pub mod lists;
pub mod logging;
pub mod mail;
pub mod metrics;
mod networks;
mod outbound;
pub mod passkey;
pub mod pulse;
mod send_budget;
pub mod serve;
mod serve_lock;
mod signals;
pub mod startup;
pub mod tasks;
mod tended;
pub mod tls;
mod wire;
