//! Plans and applies the changes to the settings of MCP clients. Asks and prints nothing: the command line shows each step first.

use super::apps::{App, Folders, Platform, Way};
use super::plan::{self, Plan, Wanted};
use super::records::Records;
use super::{apply, diff};
use anyhow::{Context, Result, ensure};
use std::path::PathBuf;

/// The settings of the MCP clients on this machine.
#[derive(Debug)]
pub struct Setup<'a> {
    folders: Folders<'a>,
    records: Records,
}

/// What to write into the settings of the clients.
#[derive(Debug)]
pub struct Installation<'a> {
    /// The name of the server in the client.
    pub name: &'a str,
    pub server: &'a str,
    /// The path of this program, for clients that start it.
    pub program: &'a str,
    /// `None`: what suits the client.
    pub way: Option<Way>,
}

/// One file to change.
#[derive(Debug)]
pub struct Step {
    pub app: App,
    file: PathBuf,
    old: Option<String>,
    plan: Plan,
    name: String,
    /// What is added; `None` if the entry is removed.
    added: Option<Added>,
}

#[derive(Debug)]
struct Added {
    server: String,
    /// The next step in the client.
    then: String,
}

/// What became of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Applied {
    Unchanged,
    /// Written; the copy has the old content, if there was a file.
    Written {
        copy: Option<PathBuf>,
    },
    Removed,
}

impl<'a> Setup<'a> {
    /// `records` is the file that remembers what `install` created.
    pub fn new(env: &'a [(String, String)], platform: Platform, records: Option<PathBuf>) -> Self {
        Self { folders: Folders::new(env, platform), records: Records::load(records) }
    }

    /// Whether a client seems to be installed.
    pub fn is_here(&self, app: App) -> bool {
        app.is_here(&self.folders)
    }

    /// The settings file of a client.
    pub fn file(&self, app: App) -> Option<PathBuf> {
        app.file(&self.folders)
    }

    pub fn plan_install(&self, app: App, wanted: &Installation<'_>) -> Result<Step> {
        let Installation { name, server, program, .. } = *wanted;
        let way = wanted.way_of(app);
        let (file, old) = self.read(app)?;
        ensure!(app.takes(way), "its settings file does not support addresses, only commands: omit --http");
        let entry = app.entry(way, server, program);
        let recorded = self.records.server(&file, name);
        let plan = plan::add(app, old.as_deref(), &Wanted { name, server, entry: &entry, recorded })?;
        let added = Some(Added { server: server.to_owned(), then: app.then(way, name) });
        Ok(Step { app, file, old, plan, name: name.to_owned(), added })
    }

    /// Removes the entry for the server it was recorded with, or for the current one if the records are lost.
    pub fn plan_uninstall(&self, app: App, name: &str, current: Option<&str>) -> Result<Step> {
        let (file, old) = self.read(app)?;
        let text = old.as_deref().unwrap_or_default();
        let plan = if text.trim().is_empty() {
            Plan::Nothing
        } else {
            let servers: Vec<&str> = self.records.server(&file, name).into_iter().chain(current).collect();
            plan::take(app, text, name, &servers, self.records.before(&file))?
        };
        Ok(Step { app, file, old, plan, name: name.to_owned(), added: None })
    }

    fn read(&self, app: App) -> Result<(PathBuf, Option<String>)> {
        let file = self.file(app).context("the home folder is unknown")?;
        let old = apply::read(&file)?;
        Ok((file, old))
    }

    /// Changes the file, unless another program has changed it since the step was planned.
    pub fn apply(&mut self, step: &Step) -> Result<Applied> {
        let Step { file, old, name, .. } = step;
        match &step.plan {
            Plan::Nothing => Ok(Applied::Unchanged),
            Plan::Write { text, before } => {
                let copy = apply::write(file, old.as_deref(), text)?;
                match &step.added {
                    Some(added) => self.records.keep(file, name, &added.server, *before),
                    None => self.records.forget(file, name),
                }
                Ok(Applied::Written { copy })
            }
            Plan::Remove => {
                apply::remove(file, old.as_deref().unwrap_or_default())?;
                self.records.forget(file, name);
                Ok(Applied::Removed)
            }
        }
    }
}

impl Installation<'_> {
    /// How a client will reach the server.
    pub fn way_of(&self, app: App) -> Way {
        self.way.unwrap_or_else(|| app.way(self.server))
    }
}

impl Step {
    /// Whether the file already is as wanted.
    pub fn is_done(&self) -> bool {
        self.plan == Plan::Nothing
    }

    /// Whether the file will be removed, because it did not exist before.
    pub fn removes_file(&self) -> bool {
        self.plan == Plan::Remove
    }

    /// The lines that will change.
    pub fn diff(&self) -> String {
        let old = self.old.as_deref().unwrap_or_default();
        match &self.plan {
            Plan::Nothing => String::new(),
            Plan::Write { text, .. } => diff::show(old, text),
            Plan::Remove => diff::show(old, ""),
        }
    }

    /// What to do in the client after an installation.
    pub fn next_step(&self) -> Option<&str> {
        self.added.as_ref().map(|added| added.then.as_str())
    }
}
