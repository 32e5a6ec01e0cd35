//! `dropleaf completions` and `dropleaf man`: generated from the definition of the command line, for shells and packages.

use super::help;
use anyhow::{Context, Result};
use clap::Args;
use clap_complete::Shell;
use clap_complete::aot::generate;
use std::fs;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell
    #[arg(value_parser = clap::builder::EnumValueParser::<Shell>::new())]
    shell: Shell,
}

#[derive(Debug, Args)]
pub(super) struct Man {
    /// A folder; it is created if it does not exist
    dir: PathBuf,
}

impl Completions {
    pub(super) fn run(&self) -> Result<()> {
        let mut script = Vec::new();
        generate(self.shell, &mut help::command(), "dropleaf", &mut script);
        let script = String::from_utf8(script).context("the completions are not UTF-8")?;
        super::output::print_line(script.trim_end())
    }
}

impl Man {
    /// Writes one page for the program and one for each command, such as `dropleaf-share-list.1`.
    pub(super) fn run(&self) -> Result<()> {
        let dir = &self.dir;
        fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
        clap_mangen::generate_to(help::command(), dir)
            .with_context(|| format!("cannot write to {}", dir.display()))
    }
}
