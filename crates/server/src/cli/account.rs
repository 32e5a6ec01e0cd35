//! `dropleaf account …`: made, listed, moved to another plan, given a key. Works while the server runs.

use crate::config::{Config, Listen};
use crate::{startup, tls};
use anyhow::Result;
use clap::Subcommand;
use dropleaf_app::{App, Done};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Make an account and print its first key
    Create {
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
        email: String,
        #[arg(long, default_value = "command line")]
        name: String,
    },
    /// Make a link that signs an account in, once, within an hour; prints the link and nothing else
    Link { email: String },
    /// List accounts
    List,
    /// Move an account to another plan
    Plan { email: String, plan: String },
}

pub(super) async fn run(command: Command, config: Config) -> Result<()> {
    tls::install_provider();
    let port = Listen::parse(&config.listen)?.port;
    let app = startup::open_app(&config.resolve(port)?).await?;
    let outcome = act(&app, command).await;
    app.close().await;
    outcome
}

async fn act(app: &App, command: Command) -> Result<()> {
    match command {
        Command::Create { email, plan, operator } => {
            let account = app.create_account(&email, plan.as_deref(), operator).await?;
            let key = new_key(app, &account, "first").await?;
            eprintln!("Made {} ({}, plan {}). Its key, shown only now:", email, account.id, account.plan);
            println!("{key}");
        }
        Command::Key { email, name } => {
            let account = app.get_account_by_email(&email).await?;
            println!("{}", new_key(app, &account, &name).await?);
        }
        Command::Link { email } => {
            let account = app.get_account_by_email(&email).await?;
            println!("{}", app.make_sign_in_link(&account).await?);
        }
        Command::List => {
            println!("{:<26}{:<34}{:<10}{:>6}  operator", "id", "e-mail", "plan", "pages");
            for account in app.list_accounts().await? {
                let email = account.email.as_deref().unwrap_or("-");
                let operator = if account.is_operator { "yes" } else { "" };
                println!(
                    "{:<26}{email:<34}{:<10}{:>6}  {operator}",
                    account.id, account.plan, account.active_pages
                );
            }
        }
        Command::Plan { email, plan } => {
            let account = app.get_account_by_email(&email).await?;
            app.set_plan(&account, &plan).await?;
            eprintln!("{email} is on the plan {plan} now.");
        }
    }
    Ok(())
}

async fn new_key(app: &App, account: &dropleaf_core::account::Account, name: &str) -> Result<String> {
    match app.create_key(account, Some(name), None, |_| Vec::new()).await? {
        Done::Fresh(new) => Ok(new.secret),
        Done::Again { .. } => anyhow::bail!("a key without an idempotency key cannot be a repeat"),
    }
}
