//! What is checked before content is published, from `[safety]`.

use super::Config;
use anyhow::{Context, Result};
use dropleaf_app::{RuleBook, SafetySettings};
use dropleaf_core::safety::PiiCheck;

impl Config {
    pub(crate) fn safety(&self) -> Result<SafetySettings> {
        let set = &self.safety;
        let pii_check =
            PiiCheck::parse(&set.pii_check).context("`safety.pii_check` must be off, warn or block")?;
        Ok(SafetySettings { phishing_check: set.phishing_check, pii_check, rules: RuleBook::default() })
    }
}
