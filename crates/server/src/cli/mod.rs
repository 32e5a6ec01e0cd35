//! The command line: `dropleaf` starts the server; the other commands are for the operator and for people who publish.

mod account;
mod appeals;
mod backup;
mod certs;
mod check;
mod encrypt;
mod evidence;
mod exit;
mod facilitator;
mod healthcheck;
mod ledger;
mod mcp;
mod name;
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

pub use exit::exit_code;

use crate::config::{Config, Layers, Sources};
use crate::service_manager::ServiceManager;
use crate::{logging, serve, startup, tls};
use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};
use dropleaf_app::App;
use std::io::Write as _;
use std::path::PathBuf;

/// Prints a result. A reader that closes the pipe early is not an error.
fn print_line(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

/// At most `most` characters of untrusted text, with everything that could move the cursor or reverse the line escaped.
fn plain(text: &str, most: usize) -> String {
    text.chars().take(most).flat_map(char::escape_debug).collect()
}

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
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Args)]
struct Options {
    /// The settings file (default: dropleaf.toml in the current folder, if it exists)
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
    /// The host name under which each page gets its own host
    #[arg(long, global = true, value_name = "HOST")]
    site_host: Option<String>,
    /// The data folder
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
    /// Start the server (the default command)
    Serve,
    /// Check or print the settings
    #[command(subcommand)]
    Config(settings::Command),
    /// Manage accounts and their keys
    #[command(subcommand)]
    Account(account::Command),
    /// List reports from viewers about pages, newest first
    Reports(reports::Reports),
    /// List and decide appeals against refused pages
    Appeals(appeals::Appeals),
    /// Take a page down for abuse, at once and permanently
    Takedown(takedown::Takedown),
    /// List, export or erase encrypted evidence of pages that were taken down; opening it is recorded in the audit log
    Evidence(evidence::Evidence),
    /// List or unblock content that was taken down and is refused if published again
    #[command(subcommand)]
    Unwanted(unwanted::Command),
    /// Show the audit log of operator actions, newest first
    Audit(takedown::Audit),
    /// List payments, decide those with an unknown outcome, and report revenue
    #[command(subcommand)]
    Payments(payments::Command),
    /// List the certificates that the server obtains, or renew them now
    #[command(subcommand)]
    Certs(certs::Command),
    /// Check the ledger
    #[command(subcommand)]
    Ledger(ledger::Command),
    /// Back up the whole service into a folder or bucket, and list or verify backups; the server may be running
    Backup(backup::Backup),
    /// Restore a backup
    Restore(backup::Restore),
    /// Write one account with its pages, versions, settings and comments into FILE; the server may be running
    Export(transfer::Export),
    /// Import an account that `export` wrote; all of it or nothing
    Import(transfer::Import),
    /// Encrypt a page so that the server cannot read it; prints the fragment of the link that opens it
    Encrypt(encrypt::Encrypt),
    /// Check whether files would be refused for phishing, and which secrets they contain; needs no server. Prints JSON; exits
    /// with 0 if all are accepted, 3 if one is refused
    Check(check::Check),
    /// Run an x402 test facilitator without a blockchain: it verifies every payment and moves no money. Listens on
    /// localhost:8402 unless --listen is given
    Facilitator,
    /// Run a test card processor with the API of Stripe: it charges no card. Listens on localhost:8403 unless --listen is given
    Processor(processor::Processor),
    /// Sign in to a server; stores a key for the commands below
    Login(remote::Login),
    /// Revoke the key that `login` stored, and delete it from this computer
    Logout(remote::Logout),
    /// Show who is signed in, and where
    Whoami(remote::Whoami),
    /// Publish files; prints their links
    Publish(remote::Publish),
    /// Save the files of a page; prints where
    Download(remote::Download),
    /// Compare two versions of a page, or a page with local files
    Diff(remote::Diff),
    /// Pay by card for an API key, prepaid balance or an unlock: prints a link and a QR code, and waits for the payment
    Pay(remote::Pay),
    /// Offer a server's MCP tools over standard input and output; `mcp install` adds it to MCP clients
    Mcp(mcp::Mcp),
    /// Ask the server of this machine whether it is ready; exits with 0 if it is, 1 otherwise
    Healthcheck(healthcheck::Healthcheck),
    /// Print the OpenAPI document
    Openapi,
}

impl Cli {
    /// Runs the command with this environment.
    pub fn run(self, env: Vec<(String, String)>) -> Result<()> {
        if matches!(self.command, Some(Command::Openapi)) {
            return print_line(&crate::http::openapi::text());
        }
        if let Some(Command::Encrypt(encrypt)) = self.command {
            return encrypt.run(&dropleaf_core::Minter::system());
        }
        let environment = remote::ClientEnvironment::new(&env);
        match self.command {
            Some(Command::Login(login)) => return remote::block_on(login.run(&environment)),
            Some(Command::Logout(logout)) => return remote::block_on(logout.run(&environment)),
            Some(Command::Whoami(whoami)) => return remote::block_on(whoami.run(&environment)),
            Some(Command::Publish(publish)) => return remote::block_on(publish.run(&environment)),
            Some(Command::Download(download)) => return remote::block_on(download.run(&environment)),
            Some(Command::Diff(diff)) => return remote::block_on(diff.run(&environment)),
            Some(Command::Pay(pay)) => return remote::block_on(pay.run(&environment)),
            Some(Command::Mcp(mcp)) => return remote::block_on(mcp.run(&environment, &env)),
            _ => {}
        }
        let listen = self.options.listen.clone();
        let manager = ServiceManager::from_env(&env);
        let sources = self.options.sources(env)?;
        let layers = Layers::load(&sources)?;
        let config = layers.config()?;
        if let Some(Command::Config(command)) = self.command {
            return settings::run(&command, &layers, config);
        }
        if let Some(Command::Check(check)) = self.command {
            return check.run(&config);
        }
        if let Some(Command::Healthcheck(healthcheck)) = self.command {
            return remote::block_on(healthcheck.run(&config));
        }
        logging::start(&config)?;
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        if config.runtime.workers > 0 {
            runtime.worker_threads(config.runtime.workers);
        }
        let runtime = runtime.enable_all().build().context("cannot start the runtime")?;
        runtime.block_on(async {
            match self.command {
                None | Some(Command::Serve) => serve::run(config, &manager).await,
                Some(Command::Account(command)) => account::run(command, config).await,
                Some(Command::Reports(reports)) => reports.run(config).await,
                Some(Command::Appeals(appeals)) => appeals::run(appeals, config).await,
                Some(Command::Takedown(takedown)) => takedown.run(config).await,
                Some(Command::Evidence(evidence)) => evidence.run(config).await,
                Some(Command::Unwanted(command)) => unwanted::run(command, config).await,
                Some(Command::Audit(audit)) => audit.run(config).await,
                Some(Command::Payments(command)) => payments::run(command, config).await,
                Some(Command::Certs(command)) => certs::run(command, config).await,
                Some(Command::Ledger(command)) => ledger::run(&command, config).await,
                Some(Command::Backup(backup)) => Box::pin(backup.run(config)).await,
                Some(Command::Restore(restore)) => Box::pin(restore.run(config)).await,
                Some(Command::Export(export)) => Box::pin(export.run(config)).await,
                Some(Command::Import(import)) => Box::pin(import.run(config)).await,
                Some(Command::Facilitator) => facilitator::run(config, listen.as_deref()).await,
                Some(Command::Processor(processor)) => processor.run(listen.as_deref()).await,
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
