//! `dropleaf versions` and `dropleaf rollback`.

use super::ClientEnvironment;
use super::target::{PageArgs, warn};
use crate::cli::output::{Cell, Column, GOOD, Now, Size, Table, print_json, print_line, visible};
use anyhow::{Context, Result};
use clap::Args;
use dropleaf_client::PageVersion;

#[derive(Debug, Args)]
pub(crate) struct Versions {
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Rollback {
    #[command(flatten)]
    page: PageArgs,
    /// The version to show again (default: the one before the one that is shown now)
    #[arg(value_parser = clap::value_parser!(i64).range(1..))]
    version: Option<i64>,
}

impl Versions {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let target = self.page.target(environment).await?;
        let found =
            target.client.list_versions(&target.name).await.map_err(|error| target.explained(error))?;
        if self.page.server.json {
            return print_json(&found.json);
        }
        print_line(&table(&found.value.versions, Now::read()))
    }
}

impl Rollback {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let target = self.page.target(environment).await?;
        let version = if let Some(version) = self.version {
            version
        } else {
            let found = target.client.list_versions(&target.name).await;
            let found = found.map_err(|error| target.explained(error))?;
            found.value.before_current().context("there is no older version")?
        };
        let page = target.client.roll_back(&target.name, version).await;
        let page = page.map_err(|error| target.explained(error))?;
        if self.page.server.json {
            return print_json(&page.json);
        }
        eprintln!("Version {version} is shown again, as version {}.", page.value.version);
        print_line(&visible(&page.value.url))?;
        warn(&page.value.warnings);
        Ok(())
    }
}

fn table(versions: &[PageVersion], now: Now) -> String {
    let mut table = Table::new([
        Column::number("version"),
        Column::fixed("created"),
        Column::number("size"),
        Column::number("files"),
        Column::flexible("title"),
        Column::fixed(""),
    ]);
    for version in versions {
        let remark = match version.restored_from {
            Some(older) => format!("restored version {older}"),
            None => String::new(),
        };
        let remark = match (version.current, remark.is_empty()) {
            (true, true) => "shown now".to_owned(),
            (true, false) => format!("shown now, {remark}"),
            _ => remark,
        };
        let remark = if version.current { Cell::new(remark).styled(GOOD) } else { remark.into() };
        table.row([
            version.version.to_string().into(),
            now.short(version.created_at).into(),
            Size(version.byte_size).to_string().into(),
            version.files.to_string().into(),
            version.title.as_str().into(),
            remark,
        ]);
    }
    table.render()
}
