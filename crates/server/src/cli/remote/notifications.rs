//! `dropleaf notifications`: which emails the account gets.

use super::ClientEnvironment;
use super::session::explained;
use super::target::ServerArgs;
use crate::cli::output::{print_json, print_line, visible};
use anyhow::Result;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Notifications {
    /// What to change it to (default: show what it is)
    #[arg(value_parser = ["off", "instant", "daily"])]
    mode: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

impl Notifications {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let client = self.server.client(environment)?;
        let me = match &self.mode {
            Some(mode) => client.set_notify(mode).await,
            None => client.me().await,
        };
        let me = me.map_err(|error| explained(error, client.server()))?;
        if self.server.json {
            return print_json(&me);
        }
        let mode = me.more.get("notify").and_then(|mode| mode.as_str()).unwrap_or("off");
        let address = me.email.as_deref().unwrap_or("an account without an address");
        print_line(&format!("Emails to {}: {}", visible(address), visible(mode)))
    }
}
