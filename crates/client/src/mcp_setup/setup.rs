//! Plans and applies the changes to the settings of MCP clients. Asks and prints nothing: the command line shows each step first.

use super::clients::{McpClient, Platform, SettingsFolders, Transport};
use super::error::SetupError;
use super::plan::{self, NewEntry, Plan};
use super::records::Records;
use super::{diff, settings_file};
use std::path::PathBuf;

/// The settings of the MCP clients on this machine.
#[derive(Debug)]
pub struct Setup<'a> {
    folders: SettingsFolders<'a>,
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
    pub transport: Option<Transport>,
}

/// One file to change.
#[derive(Debug)]
pub struct Step {
    pub client: McpClient,
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
        Self { folders: SettingsFolders::new(env, platform), records: Records::load(records) }
    }

    /// Whether a client seems to be installed.
    pub fn is_installed(&self, client: McpClient) -> bool {
        client.is_installed(&self.folders)
    }

    /// The settings file of a client.
    pub fn file(&self, client: McpClient) -> Option<PathBuf> {
        client.file(&self.folders)
    }

    pub fn plan_install(&self, client: McpClient, wanted: &Installation<'_>) -> Result<Step, SetupError> {
        let Installation { name, server, program, .. } = *wanted;
        let transport = wanted.transport_for(client);
        let (file, old) = self.read(client)?;
        if !client.supports(transport) {
            return Err(SetupError::NoHttp);
        }
        let entry = client.entry_keys(transport, server, program);
        let recorded = self.records.server(&file, name);
        let plan = plan::add(client, old.as_deref(), &NewEntry { name, server, entry: &entry, recorded })?;
        let added = Some(Added { server: server.to_owned(), then: client.next_step(transport, name) });
        Ok(Step { client, file, old, plan, name: name.to_owned(), added })
    }

    /// Removes the entry for the server it was recorded with, or for the current one if the records are lost.
    pub fn plan_uninstall(
        &self,
        client: McpClient,
        name: &str,
        current: Option<&str>,
    ) -> Result<Step, SetupError> {
        let (file, old) = self.read(client)?;
        let text = old.as_deref().unwrap_or_default();
        let plan = if text.trim().is_empty() {
            Plan::Nothing
        } else {
            let servers: Vec<&str> = self.records.server(&file, name).into_iter().chain(current).collect();
            plan::remove(client, text, name, &servers, self.records.original_state(&file))?
        };
        Ok(Step { client, file, old, plan, name: name.to_owned(), added: None })
    }

    fn read(&self, client: McpClient) -> Result<(PathBuf, Option<String>), SetupError> {
        let file = self.file(client).ok_or(SetupError::NoHome)?;
        let old = settings_file::read(&file)?;
        Ok((file, old))
    }

    /// Changes the file, unless another program has changed it since the step was planned.
    pub fn apply(&mut self, step: &Step) -> Result<Applied, SetupError> {
        let Step { file, old, name, .. } = step;
        match &step.plan {
            Plan::Nothing => Ok(Applied::Unchanged),
            Plan::Write { text, before } => {
                let copy = settings_file::write(file, old.as_deref(), text)?;
                match &step.added {
                    Some(added) => self.records.keep(file, name, &added.server, *before),
                    None => self.records.forget(file, name),
                }
                Ok(Applied::Written { copy })
            }
            Plan::Remove => {
                settings_file::remove(file, old.as_deref().unwrap_or_default())?;
                self.records.forget(file, name);
                Ok(Applied::Removed)
            }
        }
    }
}

impl Installation<'_> {
    /// How a client will reach the server.
    pub fn transport_for(&self, client: McpClient) -> Transport {
        self.transport.unwrap_or_else(|| client.default_transport(self.server))
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
