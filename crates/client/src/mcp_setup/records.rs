//! Records what `install` created besides its entry, so that `uninstall` leaves neither an empty list nor an empty file. Lost
//! records do no harm: then only the entry is removed.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The state of the file before our first entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OriginalState {
    NoFile,
    EmptyFile,
    /// A file, without a list of servers.
    NoList,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Records {
    #[serde(default)]
    files: BTreeMap<String, OriginalState>,
    /// The server of each of our entries, by file and name.
    #[serde(default)]
    entries: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(skip)]
    path: Option<PathBuf>,
}

impl Records {
    /// Stored next to the keys of `dropleaf login`.
    pub(super) fn load(path: Option<PathBuf>) -> Self {
        let text = path.as_ref().and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        Self { path, ..toml::from_str(&text).unwrap_or_default() }
    }

    pub(super) fn original_state(&self, file: &Path) -> Option<OriginalState> {
        self.files.get(&name(file)).copied()
    }

    /// The server of an entry when it was written.
    pub(super) fn server(&self, file: &Path, entry: &str) -> Option<&str> {
        self.entries.get(&name(file))?.get(entry).map(String::as_str)
    }

    pub(super) fn keep(&mut self, file: &Path, entry: &str, server: &str, before: Option<OriginalState>) {
        if let Some(before) = before {
            self.files.insert(name(file), before);
        }
        self.entries.entry(name(file)).or_default().insert(entry.to_owned(), server.to_owned());
        self.write();
    }

    /// Removes an entry; the state before all entries is kept until the last is removed.
    pub(super) fn forget(&mut self, file: &Path, entry: &str) {
        let file = name(file);
        let left = self.entries.get_mut(&file).is_some_and(|entries| {
            entries.remove(entry);
            !entries.is_empty()
        });
        if !left {
            self.entries.remove(&file);
            self.files.remove(&file);
        }
        self.write();
    }

    fn write(&self) {
        let (Some(path), Ok(text)) = (&self.path, toml::to_string(self)) else { return };
        if let Some(folder) = path.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        let words = "# State saved by `dropleaf mcp install` for `dropleaf mcp uninstall`.\n";
        let _ = std::fs::write(path, format!("{words}{text}"));
    }
}

fn name(file: &Path) -> String {
    file.display().to_string()
}
