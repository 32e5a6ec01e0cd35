//! Which comments of a page to list, and in which order. Resolved comments always come after the others.

use crate::feedback::{Feedback, Intent, Severity, string_enum};
use crate::{Error, Result, plain_text};

const QUERY_CHARACTERS: usize = 200;

// `Open` includes reopened comments: everything that waits for an answer.
string_enum!(StateFilter: All = "all", Open = "open", Reopened = "reopened", Resolved = "resolved");
string_enum!(Order: Newest = "newest", Oldest = "oldest", Severity = "severity");

/// A filter. The default is every comment, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedbackFilter {
    pub state: StateFilter,
    pub severity: Option<Severity>,
    pub intent: Option<Intent>,
    /// Text that the comment, its replies or what it refers to contains, without regard to case.
    pub query: Option<String>,
    pub order: Order,
}

impl Default for FeedbackFilter {
    fn default() -> Self {
        Self { state: StateFilter::All, severity: None, intent: None, query: None, order: Order::Newest }
    }
}

impl FeedbackFilter {
    /// Sets a filter by its name in a query string, a form or a tool call. An empty value means no filter. Returns whether
    /// the name is one of a filter.
    pub fn set(&mut self, name: &str, value: &str) -> Result<bool> {
        let value = value.trim();
        match name {
            "state" => {
                self.state =
                    word(name, value, StateFilter::ALL, StateFilter::as_str)?.unwrap_or(StateFilter::All);
            }
            "severity" => self.severity = word(name, value, Severity::ALL, Severity::as_str)?,
            "intent" => self.intent = word(name, value, Intent::ALL, Intent::as_str)?,
            "order" => self.order = word(name, value, Order::ALL, Order::as_str)?.unwrap_or(Order::Newest),
            "query" => self.query = plain_text::optional(name, Some(value.to_owned()), QUERY_CHARACTERS)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether it selects by anything but the state, or orders by anything but the time.
    pub fn is_plain(&self) -> bool {
        let Self { state, severity, intent, query, order } = self;
        matches!(state, StateFilter::All | StateFilter::Open)
            && severity.is_none()
            && intent.is_none()
            && query.is_none()
            && *order == Order::Newest
    }
}

fn word<T: Copy>(name: &str, value: &str, all: &[T], text: fn(T) -> &'static str) -> Result<Option<T>> {
    if value.is_empty() {
        return Ok(None);
    }
    let found = all.iter().copied().find(|known| text(*known) == value);
    let known = || all.iter().map(|known| text(*known)).collect::<Vec<_>>().join(", ");
    found.map(Some).ok_or_else(|| Error::field(name, format!("must be one of {}", known())))
}

/// The position of a severity in the order of severities: the most urgent first.
pub const fn rank(severity: Option<Severity>) -> i64 {
    match severity {
        Some(Severity::Blocking) => 0,
        Some(Severity::Important) => 1,
        Some(Severity::Suggestion) => 2,
        None => 3,
    }
}

/// The rank of a comment in a list of this order.
pub const fn rank_in(order: Order, item: &Feedback) -> Option<i64> {
    match order {
        Order::Severity => Some(rank(item.content.severity)),
        Order::Newest | Order::Oldest => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_known_words_and_empty_ones_select_nothing() {
        let mut filter = FeedbackFilter::default();
        for (name, value) in
            [("state", "open"), ("severity", "blocking"), ("intent", "fix"), ("order", "oldest")]
        {
            assert!(filter.set(name, value).unwrap());
        }
        assert_eq!((filter.state, filter.order), (StateFilter::Open, Order::Oldest));
        assert_eq!((filter.severity, filter.intent), (Some(Severity::Blocking), Some(Intent::Fix)));
        assert!(filter.set("query", " Price \u{0}").unwrap());
        assert_eq!(filter.query.as_deref(), Some("Price"));
        for name in ["state", "severity", "intent", "order", "query"] {
            assert!(filter.set(name, " ").unwrap());
        }
        assert_eq!(filter, FeedbackFilter::default());
        assert!(!filter.set("limit", "1").unwrap());
        for (name, value) in [("state", "shut"), ("severity", "High"), ("intent", "x"), ("order", "size")] {
            let error = filter.set(name, value).unwrap_err();
            assert!(error.detail.contains(&format!("`{name}` must be one of")), "{}", error.detail);
        }
        assert!(filter.set("query", &"a".repeat(201)).is_err());
    }

    #[test]
    fn only_lists_by_state_and_time_are_plain() {
        let plain = FeedbackFilter::default();
        assert!(plain.is_plain() && FeedbackFilter { state: StateFilter::Open, ..plain.clone() }.is_plain());
        assert!(!FeedbackFilter { state: StateFilter::Reopened, ..plain.clone() }.is_plain());
        assert!(!FeedbackFilter { order: Order::Severity, ..plain.clone() }.is_plain());
        assert!(!FeedbackFilter { query: Some("x".into()), ..plain }.is_plain());
    }

    #[test]
    fn the_most_urgent_comes_first() {
        let ranks = Severity::ALL.iter().map(|it| rank(Some(*it))).chain([rank(None)]).collect::<Vec<_>>();
        assert_eq!(ranks, [0, 1, 2, 3]);
    }
}
