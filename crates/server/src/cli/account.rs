//! `dropleaf account …`: creates and lists accounts, changes plans, issues keys, suspends. Works while the server runs.

use super::exit::WrongUse;
use super::{name, print_line, with_app};
use crate::config::Config;
use anyhow::Result;
use clap::{Args, Subcommand};
use dropleaf_app::{App, COMMAND_LINE, IdempotentResult};
use dropleaf_core::account::Account;
use dropleaf_core::ledger;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Create an account and print its first key
    Create {
        #[arg(allow_hyphen_values = true, value_parser = name::parse)]
        email: String,
        /// The plan (default: `accounts.default_plan`)
        #[arg(long)]
        plan: Option<String>,
        /// Make it an operator of this server
        #[arg(long)]
        operator: bool,
    },
    /// Create a key for an account; prints the key and nothing else
    Key {
        #[arg(allow_hyphen_values = true, value_parser = name::parse)]
        email: String,
        #[arg(long, default_value = "command line")]
        name: String,
    },
    /// Create a sign-in link for an account; it works once, within an hour. Prints the link and nothing else
    Link {
        #[arg(allow_hyphen_values = true, value_parser = name::parse)]
        email: String,
    },
    /// List accounts
    List,
    /// Move an account to another plan
    Plan {
        #[arg(allow_hyphen_values = true, value_parser = name::parse)]
        email: String,
        plan: String,
    },
    /// Add to an account's prepaid balance
    Credit(Credit),
    /// Suspend an account: its pages go offline, and it cannot publish or change anything until the suspension is lifted
    Suspend(Standing),
    /// Lift an account's suspension; its pages go back online
    RestoreAccess(Standing),
    /// Delete an account and erase its pages, versions, comments, keys and sessions; this cannot be undone
    Delete(Delete),
}

#[derive(Debug, Args)]
pub(super) struct Delete {
    /// Its email address or ID
    #[arg(allow_hyphen_values = true, value_parser = name::parse)]
    account: String,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Args)]
pub(super) struct Standing {
    /// Its email address or ID
    #[arg(allow_hyphen_values = true, value_parser = name::parse)]
    account: String,
    /// The reason; recorded in the audit log
    #[arg(long)]
    reason: String,
}

#[derive(Debug, Args)]
pub(super) struct Credit {
    /// Its email address or ID
    #[arg(allow_hyphen_values = true, value_parser = name::parse)]
    account: String,
    /// In US dollars, such as 10.00; a negative amount takes credit back
    #[arg(long, allow_hyphen_values = true)]
    amount: String,
    /// The reason; recorded permanently
    #[arg(long)]
    reason: String,
    /// An idempotency key for this credit: repeating the command with the same key changes nothing
    #[arg(long, value_name = "NAME")]
    once: Option<String>,
}

pub(super) async fn run(command: Command, config: Config) -> Result<()> {
    with_app(config, async |app| act(app, command).await).await
}

async fn act(app: &App, command: Command) -> Result<()> {
    match command {
        Command::Create { email, plan, operator } => {
            let account = app.create_account(&email, plan.as_deref(), operator).await?;
            let key = new_key(app, &account, "first").await?;
            eprintln!(
                "Created {} ({}, plan {}). API key (shown only once):",
                email, account.id, account.plan
            );
            print_line(&key)?;
        }
        Command::Key { email, name } => {
            let account = app.get_account_by_email(&email).await?;
            print_line(&new_key(app, &account, &name).await?)?;
        }
        Command::Link { email } => {
            let account = app.get_account_by_email(&email).await?;
            print_line(&app.create_sign_in_link(&account).await?)?;
        }
        Command::List => {
            let head =
                format!("{:<26}{:<34}{:<10}{:>6}  {:<9} state", "id", "email", "plan", "pages", "operator");
            print_line(&head)?;
            for account in app.list_accounts().await? {
                let email = account.email.as_deref().unwrap_or("-");
                let operator = if account.is_operator { "yes" } else { "" };
                let state = if account.suspended.is_some() { "suspended" } else { "active" };
                print_line(&format!(
                    "{:<26}{email:<34}{:<10}{:>6}  {operator:<9} {state}",
                    account.id, account.plan, account.active_pages
                ))?;
            }
        }
        Command::Plan { email, plan } => {
            let account = app.get_account_by_email(&email).await?;
            app.set_plan(COMMAND_LINE, &account.id, &plan).await?;
            eprintln!("{email} is now on the {plan} plan.");
        }
        Command::Credit(credit) => credit.give(app).await?,
        Command::Suspend(Standing { account, reason }) => {
            let account = named(app, &account).await?;
            let now = app.suspend_account(COMMAND_LINE, &account.id, &reason).await?;
            let how = if now.already { "was already" } else { "is" };
            print_line(&format!("{} {how} suspended.", account.id))?;
        }
        Command::Delete(delete) => delete.erase(app).await?,
        Command::RestoreAccess(Standing { account, reason }) => {
            let account = named(app, &account).await?;
            let now = app.lift_suspension(COMMAND_LINE, &account.id, &reason).await?;
            let how = if now.already { "was not" } else { "is no longer" };
            print_line(&format!("{} {how} suspended.", account.id))?;
        }
    }
    Ok(())
}

/// The account with this email address or id.
pub(super) async fn named(app: &App, text: &str) -> Result<Account> {
    Ok(if text.contains('@') { app.get_account_by_email(text).await? } else { app.get_account(text).await? })
}

impl Delete {
    async fn erase(self, app: &App) -> Result<()> {
        let account = named(app, &self.account).await?;
        let name = account.email.clone().unwrap_or_else(|| account.id.clone());
        if !self.yes {
            confirm(&name, account.active_pages)?;
        }
        let erased = app.erase_account(COMMAND_LINE, &account).await?;
        let rows = erased.rows;
        print_line(&format!(
            "Deleted {}. Pages: {}. Versions: {}. API keys: {}. Sessions: {}. Passkeys: {}. Apps: {}. Domains: {}.",
            account.id,
            erased.pages,
            erased.versions,
            rows.api_keys,
            rows.sessions,
            rows.passkeys,
            rows.app_grants,
            rows.custom_domains
        ))?;
        eprintln!(
            "Payments and ledger entries stay, without the address. Backups, the audit log and the mail outbox are not changed."
        );
        Ok(())
    }
}

/// Has the operator type the name of what will be deleted.
fn confirm(name: &str, pages: i64) -> Result<()> {
    eprint!("This erases {name} with {pages} active pages and cannot be undone. Type {name} to confirm: ");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    if line.trim() != name {
        return Err(WrongUse("not confirmed; nothing was deleted".to_owned()).into());
    }
    Ok(())
}

impl Credit {
    async fn give(self, app: &App) -> Result<()> {
        let cents = ledger::cents(&self.amount)?;
        let account = named(app, &self.account).await?;
        let once = self.once.as_deref();
        let credited = app.credit_account(COMMAND_LINE, &account.id, cents, &self.reason, once).await?;
        let again = if credited.already_applied { " (already applied)" } else { "" };
        let balance = app.balance_unit().written(app.spendable_balance(&credited.account));
        print_line(&format!("{} now has a balance of {balance}{again}.", account.id))?;
        Ok(())
    }
}

async fn new_key(app: &App, account: &Account, name: &str) -> Result<String> {
    match app.create_key(account, Some(name), None, |_| Vec::new()).await? {
        IdempotentResult::New(new) => Ok(new.secret),
        IdempotentResult::Replayed { .. } => {
            anyhow::bail!("a key without an idempotency key cannot be a repeat")
        }
    }
}
