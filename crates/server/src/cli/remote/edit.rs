//! `dropleaf edit PAGE`: replaces literal text in the source of a page.

use super::ClientEnvironment;
use super::target::{PageArgs, warn};
use super::text_diff::colour;
use crate::cli::exit::WrongUse;
use crate::cli::output::{is_terminal, print_json, print_line, visible};
use anyhow::Result;
use clap::Args;
use dropleaf_client::ContentEdit;

#[derive(Debug, Args)]
pub(crate) struct Edit {
    #[command(flatten)]
    page: PageArgs,
    /// Text to find in the uploaded source, exactly as it is there; repeat it for several edits
    #[arg(long, value_name = "TEXT", required = true, allow_hyphen_values = true)]
    find: Vec<String>,
    /// Text to put in its place; once for each --find
    #[arg(long, value_name = "TEXT", required = true, allow_hyphen_values = true)]
    replace: Vec<String>,
    /// Replace every match; otherwise the text must occur exactly once
    #[arg(long)]
    all: bool,
    /// The file of an archive (default: the start page)
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Check the edits and show what would change, but change nothing
    #[arg(long)]
    dry_run: bool,
}

impl Edit {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        if self.find.len() != self.replace.len() {
            let why = format!(
                "there are {} --find and {} --replace; each --find needs one --replace",
                self.find.len(),
                self.replace.len()
            );
            return Err(WrongUse(why).into());
        }
        let target = self.page.target(environment).await?;
        let pairs = self.find.into_iter().zip(self.replace);
        let edits: Vec<ContentEdit> = pairs
            .map(|(find, replace)| ContentEdit { find, replace, all: self.all, path: self.file.clone() })
            .collect();
        let edited = target.client.edit_content(&target.name, &edits, self.dry_run).await;
        let edited = edited.map_err(|error| target.explained(error))?;
        if self.page.server.json {
            return print_json(&edited.json);
        }
        let (page, diff) = (edited.value.page, edited.value.diff);
        // The difference is for the person; a script gets the URL alone.
        let shown = if is_terminal() { colour(&diff) } else { diff };
        eprintln!("{}", shown.trim_end_matches('\n'));
        if self.dry_run {
            eprintln!("Nothing was changed.");
        } else {
            eprintln!("Published as version {}.", page.version);
        }
        print_line(&visible(&page.url))?;
        warn(&page.warnings);
        Ok(())
    }
}
