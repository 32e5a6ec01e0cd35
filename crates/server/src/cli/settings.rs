//! `dropleaf config check` and `dropleaf config show`.

use crate::config::{Config, DEFAULTS, Layers};
use anyhow::Result;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Check whether the settings are valid
    Check,
    /// Print every setting with its value, secrets hidden
    Show,
    /// Print the commented defaults, as a starting point for a file
    Defaults,
}

pub(super) fn run(command: &Command, layers: &Layers, config: Config) -> Result<()> {
    match command {
        Command::Check => {
            let port = config.public_listen()?.port;
            let resolved = config.resolve(port)?;
            for warning in resolved.config.stripe_warnings() {
                println!("warning: {warning}");
            }
            for warning in
                resolved.mail.warning().map(str::to_owned).into_iter().chain(resolved.tls_warnings())
            {
                println!("warning: {warning}");
            }
            println!(
                "The configuration is valid. API: {}  Pages: {}",
                resolved.hosts.base.url(),
                resolved.hosts.site.url()
            );
        }
        Command::Show => print!("{}", layers.show()),
        Command::Defaults => print!("{DEFAULTS}"),
    }
    Ok(())
}
