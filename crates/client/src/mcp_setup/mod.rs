//! Adds our server to the settings of MCP clients and removes it again, without changing anything else in their files.
//!
//! `clients` knows the clients, `plan` computes the new text of a file, `setup` applies it. Asking and printing are left to the
//! command line.

mod clients;
mod diff;
mod error;
mod jsonc;
mod jsonc_edit;
mod ownership;
mod plan;
mod records;
mod settings_file;
mod setup;
mod toml_scan;
mod toml_text;

pub use clients::{McpClient, Platform, Transport};
pub use error::SetupError;
pub use setup::{Applied, Installation, Setup, Step};
