//! Every command of the program, in the groups of the help. A new command is a variant of one of these enums; what it does is in a
//! file of its own.

use super::options::{Operator, OperatorGroup, ServerOptions, SettingsOptions, operate};
use super::output::print_line;
use super::remote::{self, ClientEnvironment};
use super::{
    account, appeals, backup, certs, check, doctor, encrypt, evidence, facilitator, generate, healthcheck,
    ledger, mcp, payments, processor, reports, settings, takedown, transfer, unwanted,
};
use crate::serve;
use crate::service_manager::ServiceManager;
use anyhow::Result;
use clap::{Args, Subcommand};

pub(super) type Environment = Vec<(String, String)>;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    #[command(flatten)]
    Publish(PublishCommand),
    #[command(flatten)]
    Pages(PagesCommand),
    #[command(flatten)]
    Account(AccountCommand),
    #[command(flatten)]
    Server(ServerCommand),
    #[command(flatten)]
    Moderation(ModerationCommand),
}

#[derive(Debug, Subcommand)]
pub(super) enum PublishCommand {
    /// Publish files; prints their links
    Publish(remote::Publish),
    /// Check whether files would be refused for phishing, and which secrets they contain; needs no server. Exits with 0 if all
    /// are accepted, 3 if one is refused
    Check(CheckFiles),
    /// Encrypt a page so that the server cannot read it; prints the fragment of the link that opens it
    Encrypt(encrypt::Encrypt),
}

#[derive(Debug, Args)]
pub(super) struct CheckFiles {
    #[command(flatten)]
    check: check::Check,
    #[command(flatten)]
    settings: SettingsOptions,
}

#[derive(Debug, Subcommand)]
pub(super) enum PagesCommand {
    /// List your pages, most recently changed first
    List(remote::List),
    /// Show the details of a page
    Info(remote::Info),
    /// Open a page in the browser; prints its URL
    Open(remote::Open),
    /// List the versions of a page, newest first
    Versions(remote::Versions),
    /// Show an older version of a page again
    Rollback(remote::Rollback),
    /// Replace text in the source of a page
    Edit(remote::Edit),
    /// Compare two versions of a page, or a page with local files
    Diff(remote::Diff),
    /// Save the files of a page; prints where
    Download(remote::Download),
    /// Read or resolve the comments of viewers on a page
    Feedback(Box<remote::Feedback>),
    /// Create, list or revoke links that open a page without its password
    Share(remote::Share),
    /// Manage webhooks, or show events in this terminal
    Webhooks(remote::Webhooks),
    /// Delete a page; it can be restored for a while
    Delete(remote::Delete),
    /// Restore a deleted page
    Restore(remote::Restore),
}

#[derive(Debug, Subcommand)]
pub(super) enum AccountCommand {
    /// Sign in to a server; stores a key for the other commands
    Login(remote::Login),
    /// Revoke the key that `login` stored, and delete it from this computer
    Logout(remote::Logout),
    /// Show who is signed in, and where
    Whoami(remote::Whoami),
    /// Show or choose which emails you get about comments and pages that expire soon
    Notifications(remote::Notifications),
    /// Pay by card for an API key, prepaid balance or an unlock: prints a link and a QR code, and waits for the payment
    Pay(remote::Pay),
    /// Offer a server's MCP tools over standard input and output; `mcp install` adds it to MCP clients
    Mcp(mcp::Mcp),
    /// Print a completion script for a shell
    Completions(generate::Completions),
}

#[derive(Debug, Subcommand)]
pub(super) enum ServerCommand {
    /// Start the server (the default command)
    Serve(ServerOptions),
    /// Check or print the settings
    Config(OperatorGroup<settings::Command>),
    /// Manage accounts and their keys
    Account(OperatorGroup<account::Command>),
    /// List payments, decide those with an unknown outcome, and report revenue
    Payments(OperatorGroup<payments::Command>),
    /// Check the ledger
    Ledger(OperatorGroup<ledger::Command>),
    /// List the certificates that the server obtains, or renew them now
    Certs(OperatorGroup<certs::Command>),
    /// Check whether this installation works, with a fix for each problem; exits with 3 if there is one
    Doctor(Operator<doctor::Doctor>),
    /// Back up the whole service into a folder or bucket, and list, verify or restore backups; the server may be running
    Backup(Operator<backup::Backup>),
    /// Write one account with its pages, versions, settings and comments into FILE; the server may be running
    Export(Operator<transfer::Export>),
    /// Import an account that `export` wrote; all of it or nothing
    Import(Operator<transfer::Import>),
    /// Ask the server of this machine whether it is ready; exits with 0 if it is, 1 otherwise
    Healthcheck(Operator<healthcheck::Healthcheck>),
    /// Run an x402 test facilitator without a blockchain: it verifies every payment and moves no money
    Facilitator(facilitator::RunFacilitator),
    /// Run a test card processor with the API of Stripe: it charges no card
    Processor(processor::Processor),
    /// Print the OpenAPI document
    Openapi,
    /// Write manual pages, for packages
    Man(generate::Man),
}

#[derive(Debug, Subcommand)]
pub(super) enum ModerationCommand {
    /// List reports from viewers about pages, newest first
    Reports(Operator<reports::Reports>),
    /// List and decide appeals against refused pages
    Appeals(Operator<appeals::Appeals>),
    /// Take a page down for abuse, at once and permanently
    Takedown(Operator<takedown::Takedown>),
    /// List, export or erase encrypted evidence of pages that were taken down; opening it is recorded in the audit log
    Evidence(Operator<evidence::Evidence>),
    /// List or unblock content that was taken down and is refused if published again
    Unwanted(OperatorGroup<unwanted::Command>),
    /// Show the audit log of operator actions, newest first
    Audit(Operator<takedown::Audit>),
}

impl Command {
    /// The headings of the help, each with its commands.
    pub(super) fn groups() -> [(&'static str, clap::Command); 5] {
        let root = || clap::Command::new("dropleaf");
        [
            ("Publish", PublishCommand::augment_subcommands(root())),
            ("Pages", PagesCommand::augment_subcommands(root())),
            ("Account", AccountCommand::augment_subcommands(root())),
            ("Server", ServerCommand::augment_subcommands(root())),
            ("Moderation", ModerationCommand::augment_subcommands(root())),
        ]
    }

    pub(super) fn run(self, env: Environment) -> Result<()> {
        match self {
            Self::Publish(command) => command.run(env),
            Self::Pages(command) => remote::block_on(command.run(&ClientEnvironment::new(&env))),
            Self::Account(command) => command.run(&env),
            Self::Server(command) => command.run(env),
            Self::Moderation(command) => command.run(env),
        }
    }
}

impl PublishCommand {
    fn run(self, env: Environment) -> Result<()> {
        match self {
            Self::Publish(publish) => remote::block_on(publish.run(&ClientEnvironment::new(&env))),
            Self::Check(CheckFiles { check, settings }) => {
                check.run(&ServerOptions::from(settings).config(env)?)
            }
            Self::Encrypt(encrypt) => encrypt.run(&dropleaf_core::Minter::system()),
        }
    }
}

impl PagesCommand {
    async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        match self {
            Self::List(list) => list.run(environment).await,
            Self::Info(info) => info.run(environment).await,
            Self::Open(open) => open.run(environment).await,
            Self::Versions(versions) => versions.run(environment).await,
            Self::Rollback(rollback) => rollback.run(environment).await,
            Self::Edit(edit) => edit.run(environment).await,
            Self::Diff(diff) => diff.run(environment).await,
            Self::Download(download) => download.run(environment).await,
            Self::Feedback(feedback) => feedback.run(environment).await,
            Self::Share(share) => share.run(environment).await,
            Self::Webhooks(webhooks) => webhooks.run(environment).await,
            Self::Delete(delete) => delete.run(environment).await,
            Self::Restore(restore) => restore.run(environment).await,
        }
    }
}

impl AccountCommand {
    fn run(self, env: &[(String, String)]) -> Result<()> {
        let environment = ClientEnvironment::new(env);
        match self {
            Self::Login(login) => remote::block_on(login.run(&environment)),
            Self::Logout(logout) => remote::block_on(logout.run(&environment)),
            Self::Whoami(whoami) => remote::block_on(whoami.run(&environment)),
            Self::Notifications(notifications) => remote::block_on(notifications.run(&environment)),
            Self::Pay(pay) => remote::block_on(pay.run(&environment)),
            Self::Mcp(mcp) => remote::block_on(mcp.run(&environment, env)),
            Self::Completions(completions) => completions.run(),
        }
    }
}

impl ServerCommand {
    fn run(self, env: Environment) -> Result<()> {
        match self {
            Self::Serve(options) => serve(options, env),
            Self::Config(OperatorGroup { command, storage }) => {
                let layers = ServerOptions::from(storage).layers(env)?;
                let config = layers.config()?;
                settings::run(&command, &layers, config)
            }
            Self::Account(OperatorGroup { command, storage }) => {
                operate(storage, env, async |config| account::run(command, config).await)
            }
            Self::Payments(OperatorGroup { command, storage }) => {
                operate(storage, env, async |config| payments::run(command, config).await)
            }
            Self::Ledger(OperatorGroup { command, storage }) => {
                operate(storage, env, async |config| ledger::run(&command, config).await)
            }
            Self::Certs(OperatorGroup { command, storage }) => {
                operate(storage, env, async |config| certs::run(command, config).await)
            }
            // Settings that cannot be used are a finding, not an error.
            Self::Doctor(Operator { command, storage }) => {
                command.run(&ServerOptions::from(storage).sources(env)?)
            }
            Self::Backup(Operator { command, storage }) => {
                operate(storage, env, async |config| Box::pin(command.run(config)).await)
            }
            Self::Export(Operator { command, storage }) => {
                operate(storage, env, async |config| Box::pin(command.run(config)).await)
            }
            Self::Import(Operator { command, storage }) => {
                operate(storage, env, async |config| Box::pin(command.run(config)).await)
            }
            Self::Healthcheck(Operator { command, storage }) => {
                remote::block_on(command.run(&ServerOptions::from(storage).config(env)?))
            }
            Self::Facilitator(facilitator) => facilitator.run(env),
            Self::Processor(processor) => processor.run(env),
            Self::Openapi => print_line(&crate::http::openapi::text()),
            Self::Man(man) => man.run(),
        }
    }
}

impl ModerationCommand {
    fn run(self, env: Environment) -> Result<()> {
        match self {
            Self::Reports(Operator { command, storage }) => {
                operate(storage, env, async |config| command.run(config).await)
            }
            Self::Appeals(Operator { command, storage }) => {
                operate(storage, env, async |config| appeals::run(command, config).await)
            }
            Self::Takedown(Operator { command, storage }) => {
                operate(storage, env, async |config| Box::pin(command.run(config)).await)
            }
            Self::Evidence(Operator { command, storage }) => {
                operate(storage, env, async |config| command.run(config).await)
            }
            Self::Unwanted(OperatorGroup { command, storage }) => {
                operate(storage, env, async |config| unwanted::run(command, config).await)
            }
            Self::Audit(Operator { command, storage }) => {
                operate(storage, env, async |config| command.run(config).await)
            }
        }
    }
}

/// Runs the server until a signal stops it.
pub(super) fn serve(options: ServerOptions, env: Environment) -> Result<()> {
    let manager = ServiceManager::from_env(&env);
    operate(options, env, async |config| serve::run(config, &manager).await)
}
