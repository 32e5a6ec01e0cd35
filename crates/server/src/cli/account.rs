//! `dropleaf account …`: made, listed, moved to another plan, given a key, suspended. Works while the server runs.

use super::{name, print_line, with_app};
use crate::config::Config;
use anyhow::Result;
use clap::{Args, Subcommand};
use dropleaf_app::{App, COMMAND_LINE, Done};
use dropleaf_core::account::Account;
use dropleaf_core::ledger::{self, Unit};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Make an account and print its first key
    Create {
        #[arg(allow_hyphen_values = true, value_parser = name::parse)]
        email: String,
        /// The plan (default: `accounts.default_plan`)
        #[arg(long)]
        plan: Option<String>,
        /// May run this service
        #[arg(long)]
        operator: bool,
    },
    /// Make a new key for an account; prints the key and nothing else
    Key {
        #[arg(allow_hyphen_values = true, value_parser = name::parse)]
        email: String,
        #[arg(long, default_value = "command line")]
        name: String,
    },
    /// Make a link that signs an account in, once, within an hour; prints the link and nothing else
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
    /// Give an account a balance to spend
    Credit(Credit),
    /// Suspend an account: its pages are not shown and it changes nothing, until that is lifted
    Suspend(Standing),
    /// Lift the suspension of an account: everything is as it was
    RestoreAccess(Standing),
}

#[derive(Debug, Args)]
pub(super) struct Standing {
    /// Its e-mail address or its id
    #[arg(allow_hyphen_values = true, value_parser = name::parse)]
    account: String,
    /// Why; kept in the audit list
    #[arg(long)]
    reason: String,
}

#[derive(Debug, Args)]
pub(super) struct Credit {
    /// Its e-mail address or its id
    #[arg(allow_hyphen_values = true, value_parser = name::parse)]
    account: String,
    /// In dollars, such as 10.00; less than nothing takes back
    #[arg(long, allow_hyphen_values = true)]
    amount: String,
    /// Why; kept for good
    #[arg(long)]
    reason: String,
    /// A name for this credit: whatever is sent under the same name again changes nothing
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
            print_line(&app.make_sign_in_link(&account).await?)?;
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
        Command::RestoreAccess(Standing { account, reason }) => {
            let account = named(app, &account).await?;
            let now = app.lift_suspension(COMMAND_LINE, &account.id, &reason).await?;
            let how = if now.already { "was not" } else { "is no longer" };
            print_line(&format!("{} {how} suspended.", account.id))?;
        }
    }
    Ok(())
}

/// The account with this e-mail address or id.
async fn named(app: &App, text: &str) -> Result<Account> {
    Ok(if text.contains('@') { app.get_account_by_email(text).await? } else { app.get_account(text).await? })
}

impl Credit {
    async fn give(self, app: &App) -> Result<()> {
        let cents = ledger::cents(&self.amount)?;
        let account = named(app, &self.account).await?;
        let once = self.once.as_deref();
        let credited = app.credit_account(COMMAND_LINE, &account.id, cents, &self.reason, once).await?;
        let again = if credited.again { " (already applied)" } else { "" };
        let balance = Unit::Usd2.written(credited.account.balance_minor);
        print_line(&format!("{} now has a balance of {balance}{again}.", account.id))?;
        Ok(())
    }
}

async fn new_key(app: &App, account: &Account, name: &str) -> Result<String> {
    match app.create_key(account, Some(name), None, |_| Vec::new()).await? {
        Done::Fresh(new) => Ok(new.secret),
        Done::Again { .. } => anyhow::bail!("a key without an idempotency key cannot be a repeat"),
    }
}
