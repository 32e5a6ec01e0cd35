//! `dropleaf mcp`: the tools of a server for clients that start a program and speak to it over standard input and output,
//! and `dropleaf mcp install`, which tells such clients about it.

mod apply;
mod apps;
mod diff;
mod install;
mod jsonc;
mod jsonc_edit;
mod ours;
mod plan;
mod records;
mod stdio;
mod toml_scan;
mod toml_text;

use super::person::Surroundings;
use anyhow::Result;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Mcp {
    #[command(flatten)]
    bridge: stdio::Bridge,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add dropleaf to the settings of MCP clients, after showing what would change
    Install(install::Install),
    /// Take it out of them again
    Uninstall(install::Uninstall),
}

impl Mcp {
    pub(super) async fn run(self, around: &Surroundings, env: &[(String, String)]) -> Result<()> {
        match self.command {
            None => self.bridge.run(around).await,
            Some(Command::Install(install)) => install.run(around, env),
            Some(Command::Uninstall(uninstall)) => uninstall.run(around, env),
        }
    }
}
