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
    /// A group that is left out.
    without: Option<char>,
    rules: OnceLock<Rules>,
}

impl RuleBook {
    pub fn of(lists: OwnLists) -> Self {
        Self::with(lists, None)
    }

    fn with(lists: OwnLists, without: Option<char>) -> Self {
        Self(Some(Arc::new(Own { lists, without, rules: OnceLock::new() })))
    }

    /// The same without one group of rules, to see what the others can do.
    #[must_use]
    pub fn without(&self, group: char) -> Self {
        Self::with(self.0.as_ref().map(|own| own.lists.clone()).unwrap_or_default(), Some(group))
    }

    pub fn rules(&self) -> &Rules {
        let Some(own) = &self.0 else { return &BUILTIN };
        own.rules.get_or_init(|| match own.without {
            Some(group) => own.lists.rules().without(group),
            None => own.lists.rules(),
        })
    }
}
