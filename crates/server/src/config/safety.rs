//! What is checked before content is published, from `[safety]`.

use super::Config;
use anyhow::{Context, Result, bail, ensure};
use dropleaf_app::{RuleBook, SafetySettings};
use dropleaf_content::phishing::OwnLists;
use dropleaf_core::safety::PiiCheck;
use std::path::Path;

/// A list beyond this is not a list.
const LIST_BYTES: u64 = 8 << 20;

impl Config {
    pub(crate) fn safety(&self) -> Result<SafetySettings> {
        let set = &self.safety;
        let pii_check =
            PiiCheck::parse(&set.pii_check).context("`safety.pii_check` must be off, warn or block")?;
        Ok(SafetySettings { phishing_check: set.phishing_check, pii_check, rules: self.rule_book()? })
    }

    /// Reads the operator's lists. Those that come with the program need no reading.
    fn rule_book(&self) -> Result<RuleBook> {
        let replaces = match self.safety.lists.as_str() {
            "extend" => false,
            "replace" => true,
            _ => bail!("`safety.lists` must be extend or replace"),
        };
        if self.safety.lists_dir.is_empty() {
            return Ok(RuleBook::default());
        }
        let dir = Path::new(&self.safety.lists_dir);
        own_lists(dir, replaces).with_context(|| format!("in `safety.lists_dir`, {}", dir.display()))
    }
}

fn own_lists(dir: &Path, replaces: bool) -> Result<RuleBook> {
    let known = OwnLists::FILES.join(", ");
    for entry in dir.read_dir().context("cannot read the folder")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let is_list =
            Path::new(&name).extension().is_some_and(|extension| extension == "txt" || extension == "toml");
        ensure!(
            !is_list || OwnLists::FILES.contains(&name.as_str()),
            "no list is called {name}; there are {known}"
        );
    }
    let mut own = OwnLists::new(replaces);
    for file in OwnLists::FILES {
        let path = dir.join(file);
        match path.metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(|| format!("cannot read {file}")),
            Ok(about) => ensure!(about.len() <= LIST_BYTES, "{file} is over {LIST_BYTES} bytes"),
        }
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {file}"))?;
        own.add(file, text)?;
    }
    ensure!(!own.is_empty(), "the folder holds none of {known}");
    Ok(RuleBook::of(own))
}
