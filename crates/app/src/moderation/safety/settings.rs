//! The operator's settings for content safety.

use super::{CheckerSettings, RuleBook};
use dropleaf_core::safety::PiiCheck;

#[derive(Debug, Clone)]
pub struct SafetySettings {
    /// Whether pages are checked for phishing at all; a private server may turn it off.
    pub phishing_check: bool,
    pub pii_check: PiiCheck,
    pub rules: RuleBook,
    /// None: there is no external checker.
    pub checker: Option<CheckerSettings>,
}

impl Default for SafetySettings {
    fn default() -> Self {
        Self { phishing_check: true, pii_check: PiiCheck::Warn, rules: RuleBook::default(), checker: None }
    }
}
