//! The credentials file: one entry per server, readable only by the file's owner, replaced atomically.

use crate::private_file;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const HEADER: &str =
    "# Keys of `dropleaf login`. Anyone who can read this file can publish on your behalf.\n";

/// The stored login for one server.
#[derive(Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct Login {
    pub key: String,
    /// The id needed to revoke the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login")
            .field("key_id", &self.key_id)
            .field("email", &self.email)
            .finish_non_exhaustive()
    }
}

/// The contents of the file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct CredentialsFile {
    /// The server of the most recent login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    current: Option<String>,
    #[serde(default)]
    servers: BTreeMap<String, Login>,
}

#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {path}: {source}")]
    Write { path: PathBuf, source: io::Error },
    #[error("{path} is damaged: {why}")]
    Damaged { path: PathBuf, why: String },
}

/// The credentials file: its path and its contents.
#[derive(Debug)]
pub struct Credentials {
    path: PathBuf,
    held: CredentialsFile,
}

impl Credentials {
    /// The path of the file: under `XDG_CONFIG_HOME`, or under `.config` in the home directory.
    pub fn path_in(xdg_config_home: Option<&str>, home: Option<&str>) -> Option<PathBuf> {
        // XDG Base Directory specification: relative paths must be ignored.
        let config = xdg_config_home.map(PathBuf::from).filter(|path| path.is_absolute());
        let config = config
            .or_else(|| home.filter(|home| !home.is_empty()).map(|home| Path::new(home).join(".config")));
        Some(config?.join("dropleaf").join("credentials.toml"))
    }

    /// Reads the file; a missing file counts as empty.
    pub fn load(path: PathBuf) -> Result<Self, CredentialsError> {
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(CredentialsError::Read { path, source }),
        };
        match toml::from_str(&text) {
            Ok(held) => Ok(Self { path, held }),
            // Do not include the parser's error: it quotes the line, which may contain a key.
            Err(error) => {
                let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
                Err(CredentialsError::Damaged { path, why: format!("line {line} is invalid") })
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The server of the most recent login.
    pub fn current(&self) -> Option<&str> {
        self.held.current.as_deref()
    }

    pub fn find(&self, server: &str) -> Option<&Login> {
        self.held.servers.get(server)
    }

    pub fn keep(&mut self, server: &str, login: Login) -> Result<(), CredentialsError> {
        self.held.servers.insert(server.to_owned(), login);
        self.held.current = Some(server.to_owned());
        self.write()
    }

    pub fn forget(&mut self, server: &str) -> Result<(), CredentialsError> {
        self.held.servers.remove(server);
        if self.held.current.as_deref() == Some(server) {
            self.held.current = self.held.servers.keys().next().cloned();
        }
        self.write()
    }

    fn write(&self) -> Result<(), CredentialsError> {
        let failed = |source| CredentialsError::Write { path: self.path.clone(), source };
        let text = toml::to_string(&self.held).map_err(|error| failed(io::Error::other(error)))?;
        private_file::replace(&self.path, &format!("{HEADER}{text}")).map_err(failed)
    }
}
