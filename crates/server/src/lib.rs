//! The doors of dropleaf: configuration, command line, HTTP. Rules live in `core`, acts in `app`, SQL in `store`.

mod aside;
pub mod cli;
pub mod config;
pub mod http;
pub mod lists;
pub mod logging;
pub mod mail;
pub mod metrics;
mod outbound;
pub mod pages;
pub mod passkey;
pub mod pulse;
pub mod serve;
mod serve_lock;
mod signals;
pub mod startup;
pub mod tasks;
mod tended;
pub mod tls;
mod wire;
