//! Questions before something is deleted or replaced.

use crate::cli::exit::WrongUse;
use anyhow::{Result, bail};
use clap::Args;
use std::io::{BufRead, IsTerminal, Write};

// The flag that answers the question in advance.
#[derive(Debug, Args)]
pub(in crate::cli) struct Confirmation {
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

impl Confirmation {
    /// Returns if the person agrees, and fails otherwise. Without a terminal, only `--yes` agrees.
    pub(in crate::cli) fn require(&self, question: &str) -> Result<()> {
        if self.yes {
            return Ok(());
        }
        if !confirm(question)? {
            bail!("nothing was changed");
        }
        Ok(())
    }
}

/// Asks a question that only `y` or `yes` answers with yes.
pub(in crate::cli) fn confirm(question: &str) -> Result<bool> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        let text = "no terminal to ask for confirmation, so nothing was changed; add --yes to confirm";
        return Err(WrongUse(text.to_owned()).into());
    }
    eprint!("{question} [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
