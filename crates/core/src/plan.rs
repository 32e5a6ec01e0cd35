//! Plans: the limits of an account. The plan table itself is configuration.

use crate::unlock::Unlocks;
use std::collections::BTreeMap;

/// The limits of one plan; `None` means no limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub name: String,
    pub active_pages: Option<i64>,
    pub longest_life_seconds: Option<i64>,
    pub publishes_a_day: Option<i64>,
    /// Whether pages may contain programs, installers and other files that run on a viewer's computer.
    pub executables: bool,
    /// Whether pages may have custom domains.
    pub custom_domains: bool,
}

/// The page limit that `higher_limits` raises a smaller one to.
const MORE_PAGES: i64 = 100;

impl Plan {
    /// Without limits, for what does not count against a plan.
    pub const fn unlimited() -> Self {
        Self {
            name: String::new(),
            active_pages: None,
            longest_life_seconds: None,
            publishes_a_day: None,
            executables: false,
            custom_domains: false,
        }
    }

    /// The plan with purchased unlocks applied.
    #[must_use]
    pub fn with(mut self, unlocks: &Unlocks, now: i64) -> Self {
        if unlocks.permanent_since.is_some() {
            self.longest_life_seconds = None;
        }
        if unlocks.higher_limits_until.is_some_and(|until| until > now) {
            self.active_pages = self.active_pages.map(|pages| pages.max(MORE_PAGES));
            self.publishes_a_day = None;
        }
        if unlocks.custom_domain_until.is_some_and(|until| until > now) {
            self.custom_domains = true;
        }
        self
    }
}

/// The plan table, by name.
#[derive(Debug, Clone, Default)]
pub struct Plans(BTreeMap<String, Plan>);

impl Plans {
    pub fn new(plans: impl IntoIterator<Item = Plan>) -> Self {
        Self(plans.into_iter().map(|plan| (plan.name.clone(), plan)).collect())
    }

    /// The plan with that name. An unknown name gets the tightest limits in the table, so that a removed plan never means "no
    /// limits".
    pub fn find(&self, name: &str) -> Plan {
        self.0.get(name).cloned().unwrap_or_else(|| Plan {
            name: name.to_owned(),
            active_pages: self.0.values().filter_map(|plan| plan.active_pages).min().or(Some(0)),
            longest_life_seconds: self.0.values().filter_map(|plan| plan.longest_life_seconds).min(),
            publishes_a_day: self.0.values().filter_map(|plan| plan.publishes_a_day).min(),
            executables: false,
            custom_domains: false,
        })
    }

    pub fn knows(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}
