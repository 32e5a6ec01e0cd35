//! `dropleaf share`: links that open a page without its password.

use super::ClientEnvironment;
use super::session::explained;
use super::target::{PageArgs, ServerArgs, target, warn};
use crate::cli::name;
use crate::cli::output::{Column, Now, Table, print_json, print_line, visible};
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use dropleaf_client::{NewShareLink, ShareLink};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Share {
    #[command(subcommand)]
    command: Option<Command>,
    /// The page: its ID, slug, token or URL
    #[arg(required = true, allow_hyphen_values = true, value_parser = name::parse)]
    page: Option<String>,
    /// A note for yourself; viewers do not see it
    #[arg(long)]
    note: Option<String>,
    /// How long the link works (default: until it is revoked)
    #[arg(long, value_name = "HOURS", value_parser = hours)]
    expires_in_hours: Option<f64>,
    /// How many times the link can be opened
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    max_uses: Option<u32>,
    /// The link also opens the email gate
    #[arg(long)]
    bypass_email_gate: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the links of a page, newest first
    List(ListLinks),
    /// Revoke a link, so that it no longer opens the page
    Revoke(Revoke),
}

#[derive(Debug, Args)]
struct ListLinks {
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Debug, Args)]
struct Revoke {
    /// The ID of the link, from `dropleaf share list`
    id: String,
    #[command(flatten)]
    server: ServerArgs,
}

fn hours(text: &str) -> Result<f64, String> {
    let parsed = text.parse::<f64>().ok().filter(|hours| hours.is_finite() && *hours > 0.0);
    parsed.ok_or_else(|| "must be a number of hours such as 24 or 0.5".to_owned())
}

impl Share {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        match self.command {
            Some(Command::List(list)) => return list.run(environment).await,
            Some(Command::Revoke(revoke)) => return revoke.run(environment).await,
            None => {}
        }
        let page = self.page.as_deref().context("name a page")?;
        let target = target(environment, &self.server, page).await?;
        let link = NewShareLink {
            note: self.note,
            expires_in_hours: self.expires_in_hours,
            max_uses: self.max_uses,
            bypass_email_gate: self.bypass_email_gate,
        };
        let link = target.client.create_share_link(&target.name, &link).await;
        let link = link.map_err(|error| target.explained(error))?;
        if self.server.json {
            return print_json(&link.json);
        }
        print_line(&visible(&link.value.url))?;
        let until = link.value.expires_at.map(|at| format!(" until {}", Now::read().long(at)));
        eprintln!(
            "Anyone with this link can open the page{}. To revoke it: dropleaf share revoke {}",
            until.unwrap_or_default(),
            visible(&link.value.id)
        );
        warn(&link.value.warnings);
        Ok(())
    }
}

impl ListLinks {
    async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let target = self.page.target(environment).await?;
        let found = target.client.list_share_links(&target.name).await;
        let found = found.map_err(|error| target.explained(error))?;
        if self.page.server.json {
            return print_json(&found.json);
        }
        if found.value.tokens.is_empty() {
            return print_line("No share links.");
        }
        print_line(&table(&found.value.tokens, Now::read()))
    }
}

impl Revoke {
    async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let client = self.server.client(environment)?;
        let json = client.revoke_share_link(&self.id).await;
        let json = json.map_err(|error| explained(error, client.server()))?;
        if self.server.json {
            return print_json(&json);
        }
        print_line(&format!("{} no longer works.", visible(&self.id)))
    }
}

/// Without the links themselves, which open the page.
fn table(links: &[ShareLink], now: Now) -> String {
    let mut table = Table::new([
        Column::fixed("id"),
        Column::fixed("created"),
        Column::fixed("expires"),
        Column::number("uses"),
        Column::flexible("note"),
    ]);
    for link in links {
        let expires = link.expires_at.map_or_else(|| "never".to_owned(), |at| now.short(at));
        let uses = match link.max_uses {
            Some(most) => format!("{} of {most}", link.uses),
            None => link.uses.to_string(),
        };
        table.row([
            link.id.as_str().into(),
            now.short(link.created_at).into(),
            expires.into(),
            uses.into(),
            link.note.as_deref().unwrap_or_default().into(),
        ]);
    }
    table.render()
}
