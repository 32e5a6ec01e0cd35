//! `dropleaf mcp`: offers a server's tools to clients that start a program and talk to it over standard input and output; and
//! `dropleaf mcp install`, which configures such clients.

mod install;
mod stdio;

use super::remote::ClientEnvironment;
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
    /// Remove dropleaf from the settings of MCP clients
    Uninstall(install::Uninstall),
}

impl Mcp {
    pub(super) async fn run(self, environment: &ClientEnvironment, env: &[(String, String)]) -> Result<()> {
        match self.command {
            None => self.bridge.run(environment).await,
            Some(Command::Install(install)) => install.run(environment, env),
            Some(Command::Uninstall(uninstall)) => uninstall.run(environment, env),
        }
    }
}
