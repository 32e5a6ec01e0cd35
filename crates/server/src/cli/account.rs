//! `dropleaf account …`: creates and lists accounts, changes plans, issues keys, suspends. Works while the server runs.

use super::output::{BAD, Cell, Column, Confirmation, Table, print_json, print_line, visible};
use super::{name, with_app};
use crate::config::Config;
use anyhow::Result;
use clap::{Args, Subcommand};
use dropleaf_app::{App, COMMAND_LINE, IdempotentResult};
use dropleaf_core::account::Account;
use dropleaf_core::ledger;
use serde_json::json;

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
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Create a key for an account; prints the key and nothing else
    Key {
        #[arg(allow_hyphen_values = true, value_parser = name::parse)]
        email: String,
        #[arg(long, default_value = "command line")]
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Create a sign-in link for an account; it works once, within an hour. Prints the link and nothing else
    Link {
        #[arg(allow_hyphen_values = true, value_parser = name::parse)]
        email: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List accounts
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Move an account to another plan
    Plan {
        #[arg(allow_hyphen_values = true, value_parser = name::parse)]
        email: String,
        plan: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
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
    #[command(flatten)]
    confirmation: Confirmation,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Standing {
    /// Its email address or ID
    #[arg(allow_hyphen_values = true, value_parser = name::parse)]
    account: String,
    /// The reason; recorded in the audit log
    #[arg(long)]
    reason: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
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
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(command: Command, config: Config) -> Result<()> {
    with_app(config, async |app| act(app, command).await).await
}

async fn act(app: &App, command: Command) -> Result<()> {
    match command {
        Command::Create { email, plan, operator, json } => {
            let account = app.create_account(&email, plan.as_deref(), operator).await?;
            let key = new_key(app, &account, "first").await?;
            if json {
                return print_json(
                    &json!({"id": account.id, "email": email, "plan": account.plan, "api_key": key}),
                );
            }
            eprintln!(
                "Created {} ({}, plan {}). API key (shown only once):",
                visible(&email),
                account.id,
                account.plan
            );
            print_line(&key)
        }
        Command::Key { email, name, json } => {
            let account = app.get_account_by_email(&email).await?;
            let key = new_key(app, &account, &name).await?;
            if json {
                print_json(&json!({"account_id": account.id, "api_key": key}))
            } else {
                print_line(&key)
            }
        }
        Command::Link { email, json } => {
            let account = app.get_account_by_email(&email).await?;
            let url = app.create_sign_in_link(&account).await?;
            if json { print_json(&json!({"account_id": account.id, "url": url})) } else { print_line(&url) }
        }
        Command::List { json } => list(app, json).await,
        Command::Plan { email, plan, json } => {
            let account = app.get_account_by_email(&email).await?;
            app.set_plan(COMMAND_LINE, &account.id, &plan).await?;
            if json {
                return print_json(&json!({"id": account.id, "plan": plan}));
            }
            eprintln!("{} is now on the {} plan.", visible(&email), visible(&plan));
            Ok(())
        }
        Command::Credit(credit) => credit.give(app).await,
        Command::Suspend(Standing { account, reason, json }) => {
            let account = named(app, &account).await?;
            let now = app.suspend_account(COMMAND_LINE, &account.id, &reason).await?;
            if json {
                return print_json(&json!({"id": account.id, "suspended": true, "already": now.already}));
            }
            let how = if now.already { "was already" } else { "is" };
            print_line(&format!("{} {how} suspended.", account.id))
        }
        Command::Delete(delete) => delete.erase(app).await,
        Command::RestoreAccess(Standing { account, reason, json }) => {
            let account = named(app, &account).await?;
            let now = app.lift_suspension(COMMAND_LINE, &account.id, &reason).await?;
            if json {
                return print_json(&json!({"id": account.id, "suspended": false, "already": now.already}));
            }
            let how = if now.already { "was not" } else { "is no longer" };
            print_line(&format!("{} {how} suspended.", account.id))
        }
    }
}

async fn list(app: &App, json: bool) -> Result<()> {
    let accounts = app.list_accounts().await?;
    let state = |account: &Account| if account.suspended.is_some() { "suspended" } else { "active" };
    if json {
        let one = |account: &Account| {
            json!({
                "id": account.id,
                "email": account.email,
                "plan": account.plan,
                "active_pages": account.active_pages,
                "operator": account.is_operator,
                "state": state(account),
            })
        };
        return print_json(&json!({"accounts": accounts.iter().map(one).collect::<Vec<_>>()}));
    }
    let mut table = Table::new([
        Column::fixed("id"),
        Column::flexible("email"),
        Column::fixed("plan"),
        Column::number("pages"),
        Column::fixed("operator"),
        Column::fixed("state"),
    ]);
    for account in &accounts {
        let standing = Cell::new(state(account));
        table.row([
            account.id.as_str().into(),
            account.email.as_deref().unwrap_or("-").into(),
            account.plan.as_str().into(),
            account.active_pages.to_string().into(),
            (if account.is_operator { "yes" } else { "" }).into(),
            if account.suspended.is_some() { standing.styled(BAD) } else { standing },
        ]);
    }
    print_line(&table.render())
}

/// The account with this email address or id.
pub(super) async fn named(app: &App, text: &str) -> Result<Account> {
    Ok(if text.contains('@') { app.get_account_by_email(text).await? } else { app.get_account(text).await? })
}

impl Delete {
    async fn erase(self, app: &App) -> Result<()> {
        let account = named(app, &self.account).await?;
        let name = account.email.clone().unwrap_or_else(|| account.id.clone());
        let (shown, pages) = (visible(&name), account.active_pages);
        let warning = format!("This erases {shown} with {pages} active pages and cannot be undone.");
        self.confirmation.require_typed(&warning, &name)?;
        let erased = app.erase_account(COMMAND_LINE, &account).await?;
        let rows = erased.rows;
        if self.json {
            return print_json(&json!({
                "id": account.id, "pages": erased.pages, "versions": erased.versions, "api_keys": rows.api_keys,
                "sessions": rows.sessions, "passkeys": rows.passkeys, "apps": rows.app_grants,
                "domains": rows.custom_domains,
            }));
        }
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

impl Credit {
    async fn give(self, app: &App) -> Result<()> {
        let cents = ledger::cents(&self.amount)?;
        let account = named(app, &self.account).await?;
        let once = self.once.as_deref();
        let credited = app.credit_account(COMMAND_LINE, &account.id, cents, &self.reason, once).await?;
        if self.json {
            let balance = app.spendable_balance(&credited.account);
            let already = credited.already_applied;
            return print_json(&json!({"id": account.id, "balance_minor": balance, "already": already}));
        }
        let again = if credited.already_applied { " (already applied)" } else { "" };
        let balance = app.balance_unit().written(app.spendable_balance(&credited.account));
        print_line(&format!("{} now has a balance of {balance}{again}.", account.id))
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
