//! `dropleaf list`: the pages of the account.

use super::ClientEnvironment;
use super::session::explained;
use super::target::ServerArgs;
use crate::cli::output::{Cell, Column, FAINT, Now, Table, WARNING, print_json, print_line};
use anyhow::Result;
use clap::Args;
use dropleaf_client::{PageInfo, PageList};
use serde_json::{Value, json};

/// The most pages in one response of the server.
const PART: u32 = 500;

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only pages in this state
    #[arg(long, default_value = "live", value_parser = ["live", "expired"])]
    state: String,
    /// How many to show, most recently changed first
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    #[command(flatten)]
    server: ServerArgs,
}

impl List {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let client = self.server.client(environment)?;
        let (mut pages, mut raw): (Vec<PageInfo>, Vec<Value>) = (Vec::new(), Vec::new());
        let mut cursor = None;
        let mut room = self.limit;
        let has_more = loop {
            let answer = client.list_pages(Some(&self.state), room.min(PART), cursor.as_ref()).await;
            let answer = answer.map_err(|error| explained(error, client.server()))?;
            cursor = answer.value.next();
            let PageList { sites, has_more, .. } = answer.value;
            room = room.saturating_sub(u32::try_from(sites.len()).unwrap_or(u32::MAX));
            raw.extend(answer.json["sites"].as_array().into_iter().flatten().cloned());
            // After an empty part the loop would not end.
            if sites.is_empty() || cursor.is_none() || room == 0 {
                pages.extend(sites);
                break has_more;
            }
            pages.extend(sites);
        };
        if self.server.json {
            return print_json(&json!({ "sites": raw, "has_more": has_more }));
        }
        if pages.is_empty() {
            let state = if self.state == "live" { "" } else { "expired " };
            return print_line(&format!("No {state}pages. `dropleaf publish FILE` publishes one."));
        }
        print_line(&table(&pages, Now::read()))?;
        if has_more {
            eprintln!("There are more pages; use --limit to see them.");
        }
        Ok(())
    }
}

fn table(pages: &[PageInfo], now: Now) -> String {
    let mut table = Table::new([
        Column::fixed("page"),
        Column::flexible("title"),
        Column::fixed("access"),
        Column::number("views"),
        Column::fixed("changed"),
        Column::fixed("expires"),
    ]);
    for page in pages {
        let name = page.slug.as_deref().unwrap_or(&page.id);
        let expires = match page.expires_at {
            None => Cell::new("never").styled(FAINT),
            Some(at) if now.is_soon(at) => Cell::new(now.short(at)).styled(WARNING),
            Some(at) => now.short(at).into(),
        };
        let changed = now.short(page.updated_at);
        let views = page.view_count.to_string();
        table.row([
            name.into(),
            page.title.as_str().into(),
            access(page).into(),
            views.into(),
            changed.into(),
            expires,
        ]);
    }
    table.render()
}

/// Who can see the page, in one word.
fn access(page: &PageInfo) -> &str {
    if page.password_protected {
        "password"
    } else if page.email_gate.is_some() {
        "email"
    } else {
        &page.visibility
    }
}
