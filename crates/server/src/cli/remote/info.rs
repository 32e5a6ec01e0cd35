//! `dropleaf info` and `dropleaf open`: the details of a page, and the page in a browser.

use super::login::open_browser;
use super::target::PageArgs;
use super::{ClientEnvironment, visible};
use crate::cli::output::{Details, Now, Size, print_json, print_line};
use anyhow::Result;
use clap::Args;
use dropleaf_client::PageInfo;

#[derive(Debug, Args)]
pub(crate) struct Info {
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Open {
    #[command(flatten)]
    page: PageArgs,
}

impl Info {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let target = self.page.target(environment).await?;
        let page = target.client.get_page(&target.name).await.map_err(|error| target.explained(error))?;
        if self.page.server.json {
            return print_json(&page.json);
        }
        print_line(&details(&page.value, Now::read()))
    }
}

impl Open {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let target = self.page.target(environment).await?;
        let page = target.client.get_page(&target.name).await.map_err(|error| target.explained(error))?;
        if self.page.server.json {
            return print_json(&page.json);
        }
        // Printed in any case: whether the browser shows it is not known here.
        print_line(&visible(&page.value.url))?;
        if environment.has_desktop {
            open_browser(&page.value.url);
        }
        Ok(())
    }
}

fn details(page: &PageInfo, now: Now) -> String {
    let mut details = Details::default();
    details
        .add("Title", &page.title)
        .add("URL", &page.url)
        .add("ID", &page.id)
        .add_some("Slug", page.slug.as_deref())
        .add_some("State", (page.state != "live").then_some(&page.state))
        .add("Access", access(page))
        .add("Version", format!("{}, {}", page.version, Size(page.byte_size)))
        .add("Views", views(page, now))
        .add("Created", now.long(page.created_at))
        .add("Changed", now.long(page.updated_at))
        .add("Expires", page.expires_at.map_or_else(|| "never".to_owned(), |at| now.long(at)));
    details.render()
}

fn access(page: &PageInfo) -> String {
    let mut parts = vec![page.visibility.clone()];
    if page.password_protected {
        parts.push("password".to_owned());
    }
    if let Some(gate) = &page.email_gate {
        parts.push(format!("email addresses at {}", gate.domain));
    }
    if page.e2e {
        parts.push("end-to-end encrypted".to_owned());
    }
    parts.join(", ")
}

fn views(page: &PageInfo, now: Now) -> String {
    let last = page.last_viewed_at.map(|at| format!(", last {}", now.long(at)));
    format!("{}{}", page.view_count, last.unwrap_or_default())
}
