//! The rules of the phishing check: those that come with the program, or with an operator's lists.

use dropleaf_content::phishing::Rules;
use std::sync::{Arc, LazyLock};

/// Made when the first page is checked: many commands check none.
static BUILTIN: LazyLock<Rules> = LazyLock::new(Rules::builtin);

#[derive(Debug, Clone, Default)]
pub struct RuleBook(Option<Arc<Rules>>);

impl RuleBook {
    pub fn of(rules: Rules) -> Self {
        Self(Some(Arc::new(rules)))
    }

    pub fn rules(&self) -> &Rules {
        self.0.as_deref().unwrap_or(&BUILTIN)
    }
}
