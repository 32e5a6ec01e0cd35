//! Why a client's settings are left as they are, with messages for the person who runs the command: each continues "not
//! changed: ".

use super::jsonc_edit::JsonEditError;
use super::toml_text::TomlEditError;
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("the home folder is unknown")]
    NoHome,
    #[error("its settings file does not support addresses, only commands: omit --http")]
    NoHttp,
    #[error("it already has a different server named `{0}`; choose another name with --name")]
    NameTaken(String),
    #[error("its entry `{0}` contains credentials for another server; remove it first")]
    OtherCredentials(String),
    #[error("its server `{0}` was not added by this command")]
    NotOurs(String),
    #[error("its top level is not an object")]
    NotAnObject,
    #[error("`{0}` in it is not a list of servers by name")]
    NotAList(&'static str),
    #[error("this command cannot edit its format")]
    Format,
    #[error(transparent)]
    Json(#[from] JsonEditError),
    #[error(transparent)]
    Toml(#[from] TomlEditError),
    #[error("it is not UTF-8 text")]
    NotText,
    #[error("it has no folder")]
    NoFolder,
    #[error("it has changed in the meantime; run the command again")]
    Changed,
    #[error("{what}")]
    Io { what: String, source: io::Error },
    #[error("cannot write {}", path.display())]
    Backup { path: PathBuf, source: Box<Self> },
}

impl SetupError {
    /// For `map_err`: an input or output error, with what failed.
    pub(super) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what: what.into(), source }
    }
}
