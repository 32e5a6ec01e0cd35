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

    /// The same without one group of rules, to see what the others can do. None while others hold the book too.
    pub fn without(self, group: char) -> Option<Self> {
        let rules = match self.0 {
            None => Rules::builtin(),
            Some(rules) => Arc::into_inner(rules)?,
        };
        Some(Self::of(rules.without(group)))
    }

    pub fn rules(&self) -> &Rules {
        self.0.as_deref().unwrap_or(&BUILTIN)
    }
}
