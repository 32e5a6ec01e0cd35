//! `dropleaf mcp install` and `uninstall`: shows the changes to the settings of MCP clients, asks, and applies them.

use super::apps::{ALL, App, Folders, Platform, Way};
use super::plan::{self, Plan, Wanted};
use super::records::Records;
use super::{apply, diff};
use crate::cli::person::Surroundings;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Install {
    /// The server (default: `DROPLEAF_URL`, the one signed in to last, or <http://localhost:8080>)
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Connect over HTTP; the client signs in with OAuth
    #[arg(long, conflicts_with = "stdio")]
    http: bool,
    /// Connect by starting `dropleaf mcp`, with the stored login
    #[arg(long)]
    stdio: bool,
    /// Remove it again, as `uninstall` does
    #[arg(long, conflicts_with_all = ["server", "http", "stdio"])]
    undo: bool,
    #[command(flatten)]
    choice: Choice,
}

#[derive(Debug, Args)]
pub(super) struct Uninstall {
    #[command(flatten)]
    choice: Choice,
}

#[derive(Debug, Args)]
struct Choice {
    /// Which clients (default: those found on this machine)
    #[arg(value_name = "CLIENT", value_enum)]
    clients: Vec<App>,
    /// The name of the server in the client
    #[arg(long, default_value = "dropleaf")]
    name: String,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// Only show what would change
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

/// One file to change.
struct Step {
    app: App,
    file: PathBuf,
    old: Option<String>,
    plan: Plan,
    name: String,
    /// What is added; `None` if the entry is removed.
    added: Option<Added>,
}

struct Added {
    server: String,
    /// The next step in the client.
    then: String,
}

impl Install {
    pub(super) fn run(self, around: &Surroundings, env: &[(String, String)]) -> Result<()> {
        if self.undo {
            return Uninstall { choice: self.choice }.run(around, env);
        }
        let server = around.server(self.server.as_deref())?;
        let program = std::env::current_exe().context("the path of this program is unknown")?;
        let program = program.to_str().context("the path of this program is not UTF-8")?;
        let folders = Folders::new(env, Platform::here());
        let apps = self.choice.apps(|app| app.is_here(&folders))?;
        if apps.is_empty() {
            let known: Vec<&str> = ALL.iter().map(|app| app.word()).collect();
            bail!("no supported client was found; name one of {}", known.join(", "));
        }
        let way_of = |app: App| match (self.http, self.stdio) {
            (true, _) => Way::Http,
            (_, true) => Way::Stdio,
            _ => app.way(&server),
        };
        let name = &self.choice.name;
        let mut records = Records::load(around.beside_credentials("mcp-install.toml"));
        let needs_login = apps.iter().any(|app| way_of(*app) == Way::Stdio) && !around.is_signed_in(&server);
        let steps = apps.into_iter().map(|app| {
            let way = way_of(app);
            let step = file_of(app, &folders).and_then(|(file, old)| {
                ensure!(
                    app.takes(way),
                    "its settings file does not support addresses, only commands: omit --http"
                );
                let entry = app.entry(way, &server, program);
                let recorded = records.server(&file, name);
                let wanted = Wanted { name, server: &server, entry: &entry, recorded };
                let plan = plan::add(app, old.as_deref(), &wanted)?;
                let added = Some(Added { server: server.clone(), then: app.then(way, name) });
                Ok(Step { app, file, old, plan, name: name.clone(), added })
            });
            (app, step)
        });
        let steps = steps.collect();
        let has_written = self.choice.carry_out(steps, &folders, "already installed", &mut records)?;
        if has_written && needs_login {
            println!("Run `dropleaf login {server}` once to give `dropleaf mcp` a key.");
        }
        Ok(())
    }
}

impl Uninstall {
    pub(super) fn run(self, around: &Surroundings, env: &[(String, String)]) -> Result<()> {
        let folders = Folders::new(env, Platform::here());
        let mut records = Records::load(around.beside_credentials("mcp-install.toml"));
        let name = &self.choice.name;
        // If the records are lost, the current server is still known.
        let current = around.server(None).ok();
        let apps = self.choice.apps(|app| app.file(&folders).is_some_and(|file| file.is_file()))?;
        let steps = apps.into_iter().map(|app| {
            let step = file_of(app, &folders).and_then(|(file, old)| {
                let text = old.as_deref().unwrap_or_default();
                let plan = if text.trim().is_empty() {
                    Plan::Nothing
                } else {
                    let servers: Vec<&str> =
                        records.server(&file, name).into_iter().chain(current.as_deref()).collect();
                    plan::take(app, text, name, &servers, records.before(&file))?
                };
                Ok(Step { app, file, old, plan, name: name.clone(), added: None })
            });
            (app, step)
        });
        let steps = steps.collect();
        self.choice.carry_out(steps, &folders, "nothing to remove", &mut records)?;
        Ok(())
    }
}

fn file_of(app: App, folders: &Folders<'_>) -> Result<(PathBuf, Option<String>)> {
    let file = app.file(folders).context("the home folder is unknown")?;
    let old = apply::read(&file)?;
    Ok((file, old))
}

impl Choice {
    fn apps(&self, is_meant: impl Fn(App) -> bool) -> Result<Vec<App>> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        ensure!(
            !self.name.is_empty() && self.name.len() <= 64 && self.name.bytes().all(is_plain),
            "--name accepts only letters, digits, - and _"
        );
        let is_chosen =
            |app: &App| if self.clients.is_empty() { is_meant(*app) } else { self.clients.contains(app) };
        Ok(ALL.into_iter().filter(is_chosen).collect())
    }

    /// Shows the steps, asks, and applies them. Returns whether anything was written; a refused step is an error at the end.
    fn carry_out(
        &self,
        steps: Vec<(App, Result<Step>)>,
        folders: &Folders<'_>,
        nothing: &str,
        records: &mut Records,
    ) -> Result<bool> {
        let mut failed = 0;
        let mut waiting = Vec::new();
        for (app, step) in steps {
            let file = app.file(folders).unwrap_or_default();
            match step {
                Ok(step) if step.plan == Plan::Nothing => {
                    println!("{}: {nothing} ({})", app.title(), file.display());
                }
                Ok(step) => {
                    println!("{}: {}\n{}", app.title(), file.display(), step.shown());
                    waiting.push(step);
                }
                Err(error) => {
                    failed += 1;
                    println!("{}: not changed: {error:#} ({})", app.title(), file.display());
                }
            }
        }
        let has_work = !waiting.is_empty();
        if has_work && self.dry_run {
            println!("No files were changed.");
        } else if has_work && self.may_write()? {
            for step in waiting {
                if let Err(error) = step.take(records) {
                    failed += 1;
                    println!("{}: not changed: {error:#}", step.app.title());
                }
            }
        } else if has_work {
            bail!("no files were changed");
        }
        ensure!(failed == 0, "{failed} files could not be changed");
        Ok(has_work && !self.dry_run)
    }

    fn may_write(&self) -> Result<bool> {
        if self.yes {
            return Ok(true);
        }
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            bail!("no terminal for confirmation, so no files were changed; add --yes to confirm");
        }
        eprint!("Apply these changes? [y/N] ");
        std::io::stderr().flush()?;
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
    }
}

impl Step {
    fn shown(&self) -> String {
        let old = self.old.as_deref().unwrap_or_default();
        match &self.plan {
            Plan::Nothing => String::new(),
            Plan::Write { text, .. } => diff::show(old, text),
            Plan::Remove => {
                format!("{}  (the file is removed, because it did not exist before)\n", diff::show(old, ""))
            }
        }
    }

    fn take(&self, records: &mut Records) -> Result<()> {
        let Self { app, file, old, .. } = self;
        match &self.plan {
            Plan::Nothing => {}
            Plan::Write { text, before } => {
                let copy = apply::write(file, old.as_deref(), text)?;
                match &self.added {
                    Some(added) => records.keep(file, &self.name, &added.server, *before),
                    None => records.forget(file, &self.name),
                }
                let copy = copy.map_or_else(String::new, |copy| {
                    format!("; the old file was saved as {}", copy.display())
                });
                println!("{}: written{copy}", app.title());
            }
            Plan::Remove => {
                apply::remove(file, old.as_deref().unwrap_or_default())?;
                records.forget(file, &self.name);
                println!("{}: removed", app.title());
            }
        }
        if let Some(added) = &self.added {
            println!("  {}", added.then);
        }
        Ok(())
    }
}
