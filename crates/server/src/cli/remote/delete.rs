//! `dropleaf delete` and `dropleaf restore`.

use super::ClientEnvironment;
use super::target::{PageArgs, warn};
use crate::cli::exit::WrongUse;
use crate::cli::output::{Confirmation, Now, print_json, print_line, visible};
use anyhow::{Result, ensure};
use clap::Args;
use std::path::Path;

#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// Erase the content as well; this cannot be undone
    #[arg(long)]
    purge: bool,
    #[command(flatten)]
    confirmation: Confirmation,
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Restore {
    #[command(flatten)]
    page: PageArgs,
}

impl Delete {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let target = self.page.target(environment).await?;
        let page = target.client.get_page(&target.name).await.map_err(|error| target.explained(error))?.value;
        let (title, url) = (visible(&page.title), visible(&page.url));
        let how = if self.purge { "Delete and erase" } else { "Delete" };
        self.confirmation.require(&format!("{how} \"{title}\" ({url})?"))?;
        let deleted = target.client.delete_page(&page.id, self.purge).await;
        let deleted = deleted.map_err(|error| target.explained(error))?;
        if self.page.server.json {
            return print_json(&deleted.json);
        }
        print_line(&format!("Deleted {url}"))?;
        match deleted.value.restorable_until {
            Some(until) => eprintln!(
                "To undo, until {}: dropleaf restore {}",
                Now::read().long(until),
                visible(&page.id)
            ),
            None => eprintln!("The content was erased."),
        }
        warn(&deleted.value.warnings);
        Ok(())
    }
}

impl Restore {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        // `dropleaf restore DIR` restored a backup in earlier versions.
        let text = self.page.text();
        ensure!(
            !Path::new(text).is_dir(),
            WrongUse(format!(
                "`{0}` is a folder; to restore a backup run `dropleaf backup restore {0}`",
                visible(text)
            ))
        );
        let target = self.page.deleted_target(environment).await?;
        let page = target.client.restore_page(&target.name).await.map_err(|error| target.explained(error))?;
        if self.page.server.json {
            return print_json(&page.json);
        }
        print_line(&visible(&page.value.url))?;
        warn(&page.value.warnings);
        Ok(())
    }
}
