//! Adds our server to the settings of MCP clients and removes it again, without changing anything else in their files.
//!
//! `apps` knows the clients, `plan` computes the new text of a file, `setup` applies it. Asking and printing are left to the
//! command line.

mod apply;
mod apps;
mod diff;
mod jsonc;
mod jsonc_edit;
mod ours;
mod plan;
mod records;
mod setup;
mod toml_scan;
mod toml_text;

pub use apps::{ALL, App, Platform, Way};
pub use setup::{Applied, Installation, Setup, Step};
