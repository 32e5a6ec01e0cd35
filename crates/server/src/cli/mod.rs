//! The command line: `dropleaf` starts the server, the rest are commands of the operator, and of
//! people who publish.

mod account;
mod appeals;
mod backup;
mod check;
mod encrypt;
mod evidence;
mod facilitator;
mod ledger;
mod mcp;
mod name;
mod payments;
mod person;
mod reports;
mod settings;
mod takedown;
#[cfg(test)]
mod tests;
mod unwanted;
pub mod welcome;

use crate::config::{Config, Layers, Listen, Sources};
use crate::{logging, serve, startup, tls};
use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};
use dropleaf_app::App;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// How a command ends that found what it was to look for: books which do not balance, files that would be refused.
const FOUND: u8 = 3;

/// What `ledger audit` complains of, after it has said what is wrong.
#[derive(Debug)]
struct Unbalanced;

impl std::fmt::Display for Unbalanced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ledger check failed")
    }
}

impl std::error::Error for Unbalanced {}

/// Prints an answer. Whoever reads it may have seen enough before its end.
fn print_line(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

/// So much of a text that strangers wrote: what could move the cursor or turn the line around is shown as an escape.
fn plain(text: &str, most: usize) -> String {
    text.chars().take(most).flat_map(char::escape_debug).collect()
}

/// How the process ends with this error.
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    let found = error.is::<Unbalanced>()
        || error.is::<check::Refused>()
        || error.downcast_ref().is_some_and(person::is_refusal);
    if found { ExitCode::from(FOUND) } else { ExitCode::FAILURE }
}

/// Does something with the app over the storage of these settings, whether or not a server has it open too, and closes it
/// however that ends.
async fn with_app<T>(config: Config, act: impl AsyncFnOnce(&App) -> Result<T>) -> Result<T> {
    tls::install_provider();
    let port = Listen::parse(&config.listen)?.port;
    // Both are large, and every command would carry them.
    let resolved = Box::new(config.resolve(port)?);
    let app = Box::new(Box::pin(startup::open_app(&resolved)).await?);
    let outcome = act(&app).await;
    app.close().await;
    outcome
}

/// A private host for the pages that software agents make.
#[derive(Debug, Parser)]
#[command(name = "dropleaf", version, about)]
pub struct Cli {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Args)]
struct Options {
    /// The settings file (default: dropleaf.toml in the current folder, if it is there)
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Any setting, for example --set `limits.key_per_minute=600`
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Where to listen, for example localhost:8080
    #[arg(long, global = true, value_name = "HOST:PORT")]
    listen: Option<String>,
    /// The public address of the API
    #[arg(long, global = true, value_name = "URL")]
    base_url: Option<String>,
    /// The public address of pages
    #[arg(long, global = true, value_name = "URL")]
    site_url: Option<String>,
    /// The host below which pages have hosts of their own
    #[arg(long, global = true, value_name = "HOST")]
    site_host: Option<String>,
    /// Where the data is kept
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<String>,
    /// sqlite:PATH or postgres://…
    #[arg(long, global = true, value_name = "URL")]
    database_url: Option<String>,
    /// <file:PATH> or s3://…
    #[arg(long, global = true, value_name = "URL")]
    blobs_url: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start the server (also without any command)
    Serve,
    /// Look at the settings
    #[command(subcommand)]
    Config(settings::Command),
    /// Accounts and their keys
    #[command(subcommand)]
    Account(account::Command),
    /// What viewers have reported about pages, newest first
    Reports(reports::Reports),
    /// Pages that were refused and whose publishers ask for a second look
    Appeals(appeals::Appeals),
    /// Take a page down for abuse: gone at once, for good
    Takedown(takedown::Takedown),
    /// What is kept, sealed, of pages that were taken down; opening it leaves a line in the audit list
    Evidence(evidence::Evidence),
    /// Content that was taken down and is refused when it comes back
    #[command(subcommand)]
    Unwanted(unwanted::Command),
    /// What operators did, newest first
    Audit(takedown::Audit),
    /// What was paid, and deciding on payments whose outcome is not known
    #[command(subcommand)]
    Payments(payments::Command),
    /// The books
    #[command(subcommand)]
    Ledger(ledger::Command),
    /// Write a complete copy of the service into DIR, while it runs or not
    Backup(backup::Backup),
    /// Bring back what `backup` wrote
    Restore(backup::Restore),
    /// Encrypt a page so that the server cannot read it; prints the end of the link that opens it
    Encrypt(encrypt::Encrypt),
    /// Say whether files would be refused for phishing, and what secrets are in them; needs no server. Prints JSON; ends
    /// with 0 when all are accepted, 3 when one is refused
    Check(check::Check),
    /// Run an x402 facilitator without a chain, for tests: it checks every payment and moves no money. Listens on
    /// localhost:8402 unless --listen says otherwise
    Facilitator,
    /// Sign in to a server; keeps a key for the commands below
    Login(person::Login),
    /// Revoke the key that `login` kept, and forget it
    Logout(person::Logout),
    /// Say who is signed in, and where
    Whoami(person::Whoami),
    /// Publish files; prints their links
    Publish(person::Publish),
    /// Offer a server's MCP tools over standard input and output; `mcp install` adds it to MCP clients
    Mcp(mcp::Mcp),
    /// Print the OpenAPI document
    Openapi,
}

impl Cli {
    /// Runs the command with this environment.
    pub fn run(self, env: Vec<(String, String)>) -> Result<()> {
        if matches!(self.command, Some(Command::Openapi)) {
            return print_line(&crate::http::api::openapi::text());
        }
        if let Some(Command::Encrypt(encrypt)) = self.command {
            return encrypt.run(&dropleaf_core::Minter::system());
        }
        let around = person::Surroundings::new(&env);
        match self.command {
            Some(Command::Login(login)) => return person::block_on(login.run(&around)),
            Some(Command::Logout(logout)) => return person::block_on(logout.run(&around)),
            Some(Command::Whoami(whoami)) => return person::block_on(whoami.run(&around)),
            Some(Command::Publish(publish)) => return person::block_on(publish.run(&around)),
            Some(Command::Mcp(mcp)) => return person::block_on(mcp.run(&around, &env)),
            _ => {}
        }
        let listen = self.options.listen.clone();
        let sources = self.options.sources(env)?;
        let layers = Layers::load(&sources)?;
        let config = layers.config()?;
        if let Some(Command::Config(command)) = self.command {
            return settings::run(&command, &layers, config);
        }
        if let Some(Command::Check(check)) = self.command {
            return check.run(&config);
        }
        logging::start(&config)?;
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        if config.runtime.workers > 0 {
            runtime.worker_threads(config.runtime.workers);
        }
        let runtime = runtime.enable_all().build().context("cannot start the runtime")?;
        runtime.block_on(async {
            match self.command {
                None | Some(Command::Serve) => serve::run(&layers, config).await,
                Some(Command::Account(command)) => account::run(command, config).await,
                Some(Command::Reports(reports)) => reports.run(config).await,
                Some(Command::Appeals(appeals)) => appeals::run(appeals, config).await,
                Some(Command::Takedown(takedown)) => takedown.run(config).await,
                Some(Command::Evidence(evidence)) => evidence.run(config).await,
                Some(Command::Unwanted(command)) => unwanted::run(command, config).await,
                Some(Command::Audit(audit)) => audit.run(config).await,
                Some(Command::Payments(command)) => payments::run(command, config).await,
                Some(Command::Ledger(command)) => ledger::run(&command, config).await,
                Some(Command::Backup(backup)) => backup.run(config).await,
                Some(Command::Restore(restore)) => restore.run(config).await,
                Some(Command::Facilitator) => facilitator::run(config, listen.as_deref()).await,
                Some(_) => Ok(()),
            }
        })
    }
}

impl Options {
    fn sources(self, env: Vec<(String, String)>) -> Result<Sources> {
        let named =
            env.iter().find(|(name, _)| name == "DROPLEAF_CONFIG").map(|(_, path)| PathBuf::from(path));
        let nearby = PathBuf::from("dropleaf.toml");
        let file = self.config.or(named).or_else(|| nearby.exists().then_some(nearby));
        let mut flags = Vec::new();
        for pair in self.set {
            let (key, value) =
                pair.split_once('=').with_context(|| format!("--set requires KEY=VALUE, not `{pair}`"))?;
            flags.push((key.to_owned(), value.to_owned()));
        }
        let short = [
            ("listen", self.listen),
            ("base_url", self.base_url),
            ("site_url", self.site_url),
            ("site_host", self.site_host),
            ("data_dir", self.data_dir),
            ("database_url", self.database_url),
            ("blobs_url", self.blobs_url),
        ];
        flags.extend(short.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
        Ok(Sources { file, env, flags })
    }
}
