//! The rules of the phishing check: those that come with the program, or with an operator's lists.

use dropleaf_content::phishing::{OwnLists, Rules};
use std::sync::{Arc, LazyLock, OnceLock};

/// Made when the first page is checked: many commands check none.
static BUILTIN: LazyLock<Rules> = LazyLock::new(Rules::builtin);

#[derive(Debug, Clone, Default)]
pub struct RuleBook(Option<Arc<Own>>);

#[derive(Debug)]
struct Own {
    lists: OwnLists,
    rules: OnceLock<Rules>,
}

impl RuleBook {
    pub fn of(lists: OwnLists) -> Self {
        Self(Some(Arc::new(Own { lists, rules: OnceLock::new() })))
    }

    pub fn rules(&self) -> &Rules {
        match &self.0 {
            Some(own) => own.rules.get_or_init(|| own.lists.rules()),
            None => &BUILTIN,
        }
    }
}
