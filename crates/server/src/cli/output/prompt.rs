//! Questions before something is deleted or replaced.

use super::visible;
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

    /// The same for what cannot be undone: the person types the name of what is concerned.
    pub(in crate::cli) fn require_typed(&self, warning: &str, name: &str) -> Result<()> {
        if self.yes {
            return Ok(());
        }
        // What is shown is what has to be typed.
        let name = visible(name);
        if ask(&format!("{warning} Type {name} to confirm: "))?.trim() != name {
            bail!("not confirmed; nothing was changed");
        }
        Ok(())
    }
}

/// Asks a question that only `y` or `yes` answers with yes.
pub(in crate::cli) fn confirm(question: &str) -> Result<bool> {
    let answer = ask(&format!("{question} [y/N] "))?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Reads a line from the terminal.
fn ask(question: &str) -> Result<String> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        let text = "no terminal to ask for confirmation, so nothing was changed; add --yes to confirm";
        return Err(WrongUse(text.to_owned()).into());
    }
    eprint!("{question}");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(answer)
}
