//! What `install` made beyond its own entry, so that `uninstall` leaves neither an empty list nor an empty file behind.
//! Lost records do no harm: then only the entry goes.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was there before the first entry of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Before {
    NoFile,
    EmptyFile,
    /// A file, without a list of servers.
    NoList,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Records {
    #[serde(default)]
    files: BTreeMap<String, Before>,
    #[serde(skip)]
    place: Option<PathBuf>,
}

impl Records {
    /// Beside the keys of `dropleaf login`.
    pub(super) fn load(place: Option<PathBuf>) -> Self {
        let text = place.as_ref().and_then(|place| std::fs::read_to_string(place).ok()).unwrap_or_default();
        Self { place, ..toml::from_str(&text).unwrap_or_default() }
    }

    pub(super) fn before(&self, file: &Path) -> Option<Before> {
        self.files.get(&name(file)).copied()
    }

    pub(super) fn keep(&mut self, file: &Path, before: Before) {
        self.files.insert(name(file), before);
        self.write();
    }

    pub(super) fn forget(&mut self, file: &Path) {
        if self.files.remove(&name(file)).is_some() {
            self.write();
        }
    }

    fn write(&self) {
        let (Some(place), Ok(text)) = (&self.place, toml::to_string(self)) else { return };
        if let Some(folder) = place.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        let words = "# What `dropleaf mcp install` found, for `dropleaf mcp uninstall`.\n";
        let _ = std::fs::write(place, format!("{words}{text}"));
    }
}

fn name(file: &Path) -> String {
    file.display().to_string()
}
