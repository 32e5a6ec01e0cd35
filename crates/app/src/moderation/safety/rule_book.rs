//! The rules of the phishing check: the built-in ones, or those with the operator's lists. All clones share the current
//! rules, which can be replaced while uploads are being read.

use dropleaf_inspect::phishing::{Change, OwnLists, Rules};
use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};

/// Built when the first page is checked, because many commands check none.
static BUILTIN: LazyLock<Arc<Rules>> = LazyLock::new(|| Arc::new(Rules::builtin()));

#[derive(Debug, Clone, Default)]
pub struct RuleBook(Arc<RwLock<Option<Arc<OwnRules>>>>);

#[derive(Debug)]
struct OwnRules {
    lists: OwnLists,
    /// A rule group that is left out.
    without: Option<char>,
    rules: OnceLock<Arc<Rules>>,
}

impl OwnRules {
    fn new(lists: OwnLists, without: Option<char>) -> Arc<Self> {
        Arc::new(Self { lists, without, rules: OnceLock::new() })
    }

    fn rules(&self) -> &Arc<Rules> {
        self.rules.get_or_init(|| {
            let rules = self.lists.rules();
            Arc::new(match self.without {
                Some(group) => rules.without(group),
                None => rules,
            })
        })
    }
}

impl RuleBook {
    pub fn of(lists: OwnLists) -> Self {
        Self::with(OwnRules::new(lists, None))
    }

    fn with(own: Arc<OwnRules>) -> Self {
        Self(Arc::new(RwLock::new(Some(own))))
    }

    fn own(&self) -> Option<Arc<OwnRules>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn lists(&self) -> OwnLists {
        self.own().map(|own| own.lists.clone()).unwrap_or_default()
    }

    /// A separate rule book without one group of rules, to measure what the others find.
    #[must_use]
    pub fn without(&self, group: char) -> Self {
        Self::with(OwnRules::new(self.lists(), Some(group)))
    }

    /// The current rules. A check must use one result from start to end.
    pub fn rules(&self) -> Arc<Rules> {
        match self.own() {
            Some(own) => Arc::clone(own.rules()),
            None => Arc::clone(&BUILTIN),
        }
    }

    /// Replaces the rules by those of these lists and returns the differences. Blocks while they are built; until then
    /// uploads are checked with the old ones.
    pub fn replace(&self, lists: OwnLists) -> Vec<Change> {
        let before = self.lists();
        if before == lists {
            return Vec::new();
        }
        let changes = lists.changes_since(&before);
        let own = OwnRules::new(lists, None);
        own.rules();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(own);
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(blocked: &str) -> OwnLists {
        let mut own = OwnLists::new(false);
        own.add("hosts.txt", format!("[blocked]\n{blocked}\n")).unwrap();
        own
    }

    fn refuses(book: &RuleBook, host: &str) -> bool {
        let text = format!("<a href=\"https://{host}/\">there</a>");
        let file = dropleaf_inspect::phishing::File { path: "index.html", text: &text };
        dropleaf_inspect::phishing::check(&[file], &book.rules()).refused
    }

    #[test]
    fn a_copy_of_a_book_has_the_rules_in_force() {
        let book = RuleBook::of(lists("a.example"));
        let (copy, held) = (book.clone(), book.rules());
        assert!(refuses(&copy, "a.example") && !refuses(&copy, "b.example"));
        let changes = book.replace(lists("b.example"));
        assert_eq!((changes.len(), changes[0].added, changes[0].removed), (1, 1, 1));
        assert!(refuses(&copy, "b.example") && !refuses(&copy, "a.example"));
        assert!(!Arc::ptr_eq(&held, &book.rules()), "what was being checked goes on with what it has");
        let now = book.rules();
        assert_eq!(book.replace(lists("b.example")), []);
        assert!(Arc::ptr_eq(&now, &copy.rules()), "the same lists are not made again");
        assert!(!refuses(&RuleBook::default(), "b.example"));
    }
}
