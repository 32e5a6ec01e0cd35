//! What an operator chose about the safety of content.

use super::{CheckerSettings, RuleBook};
use dropleaf_core::safety::PiiCheck;

#[derive(Debug, Clone)]
pub struct SafetySettings {
    /// Whether pages are checked for phishing at all: a server for friends may do without.
    pub phishing_check: bool,
    pub pii_check: PiiCheck,
    pub rules: RuleBook,
    /// None: there is no outside check.
    pub checker: Option<CheckerSettings>,
}

impl Default for SafetySettings {
    fn default() -> Self {
        Self { phishing_check: true, pii_check: PiiCheck::Warn, rules: RuleBook::default(), checker: None }
    }
}
