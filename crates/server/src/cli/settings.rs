//! `dropleaf config check` and `dropleaf config show`.

use super::output::{print_json, print_line};
use crate::config::{Config, DEFAULTS, Layers};
use anyhow::Result;
use clap::Subcommand;
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Check whether the settings are valid
    Check {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print every setting with its value, secrets hidden
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the commented defaults, as a starting point for a file
    Defaults,
}

pub(super) fn run(command: &Command, layers: &Layers, config: Config) -> Result<()> {
    match command {
        Command::Check { json } => {
            let port = config.public_listen()?.port;
            let resolved = config.resolve(port)?;
            let mut warnings: Vec<String> =
                resolved.config.stripe_warnings().into_iter().map(str::to_owned).collect();
            warnings.extend(resolved.mail.warning().map(str::to_owned));
            warnings.extend(resolved.tls_warnings());
            let (base_url, site_url) = (resolved.hosts.base.url(), resolved.hosts.site.url());
            if *json {
                return print_json(
                    &json!({"base_url": base_url, "site_url": site_url, "warnings": warnings}),
                );
            }
            for warning in warnings {
                print_line(&format!("warning: {warning}"))?;
            }
            print_line(&format!("The configuration is valid. API: {base_url}  Pages: {site_url}"))
        }
        Command::Show { json: true } => print_json(&layers.shown()),
        Command::Show { json: false } => print_line(layers.show().trim_end()),
        Command::Defaults => print_line(DEFAULTS.trim_end()),
    }
}
