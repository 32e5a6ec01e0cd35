//! The command line: `dropleaf` starts the server; the other commands are for the operator and for people who publish.

mod account;
mod appeals;
mod backup;
mod certs;
mod check;
mod commands;
mod doctor;
mod encrypt;
mod evidence;
mod exit;
mod facilitator;
mod generate;
mod healthcheck;
mod help;
mod ledger;
mod mcp;
mod name;
mod options;
mod output;
mod payments;
mod processor;
mod remote;
mod reports;
mod revenue;
mod sandbox_server;
mod settings;
mod takedown;
#[cfg(test)]
mod tests;
mod transfer;
mod unwanted;

pub use exit::finish;

use crate::config::Config;
use crate::{startup, tls};
use anyhow::Result;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches, Id, Parser};
use commands::Command;
use dropleaf_app::App;
use options::ServerOptions;

/// Runs `act` with the app over the configured storage, whether or not a server has it open too, and closes it afterwards in
/// any case.
async fn with_app<T>(config: Config, act: impl AsyncFnOnce(&App) -> Result<T>) -> Result<T> {
    tls::install_provider();
    let port = config.public_listen()?.port;
    // Boxed because both are large, and every command would contain them.
    let resolved = Box::new(config.resolve(port)?);
    let app = Box::new(Box::pin(startup::open_app(&resolved)).await?);
    let outcome = act(&app).await;
    app.close().await;
    outcome
}

/// Private hosting for pages that software agents create.
#[derive(Debug, Parser)]
#[command(name = "dropleaf", version, about)]
pub struct Cli {
    // Without a command, `dropleaf` is `dropleaf serve`.
    #[command(flatten)]
    options: ServerOptions,
    #[command(subcommand)]
    command: Option<Command>,
}

impl Cli {
    /// Reads the arguments of the program; ends it after `--help`, `--version` or wrong use.
    pub fn from_arguments() -> Self {
        let parsed = help::command().try_get_matches().and_then(|matches| Self::from_checked(&matches));
        parsed.unwrap_or_else(|error| error.exit())
    }

    /// Refuses flags in front of a command that does not take them. clap passes those that it takes on to it.
    fn from_checked(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut root = help::command();
        if let Some((name, _)) = matches.subcommand() {
            let command = root.find_subcommand(name);
            let is_taken =
                |id: &Id| command.is_some_and(|it| it.get_arguments().any(|arg| arg.get_id() == id));
            let given = root
                .get_arguments()
                .filter(|arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine));
            let wrong = given.filter(|arg| !is_taken(arg.get_id())).find_map(clap::Arg::get_long);
            if let Some(flag) = wrong {
                let text = format!("`--{flag}` is not an option of `dropleaf {name}`");
                return Err(root.error(ErrorKind::UnknownArgument, text));
            }
        }
        Self::from_arg_matches(matches)
    }

    /// Runs the command with this environment.
    pub fn run(self, env: Vec<(String, String)>) -> Result<()> {
        match self.command {
            Some(command) => command.run(env),
            None => commands::serve(self.options, env),
        }
    }
}
