//! Unlocks: purchased increases of a plan's limits, permanent or for a period. Spec §8.

/// A product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sku {
    MakePermanent,
    CustomDomain,
    HigherLimits,
}

/// The unlocks of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unlocks {
    /// From then on, pages have no maximum lifetime.
    pub permanent_since: Option<i64>,
    pub higher_limits_until: Option<i64>,
    pub custom_domain_until: Option<i64>,
}

impl Sku {
    pub const ALL: [Self; 3] = [Self::MakePermanent, Self::CustomDomain, Self::HigherLimits];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MakePermanent => "make_permanent",
            Self::CustomDomain => "custom_domain",
            Self::HigherLimits => "higher_limits",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sku| sku.as_str() == text)
    }

    /// How long it lasts; `None` means permanently.
    pub const fn period_days(self) -> Option<i64> {
        match self {
            Self::MakePermanent => None,
            Self::CustomDomain | Self::HigherLimits => Some(30),
        }
    }
}

/// A day in seconds.
const DAY: i64 = 86_400;

impl Sku {
    /// The name shown to buyers.
    pub const fn title(self) -> &'static str {
        match self {
            Self::MakePermanent => "Permanent pages",
            Self::CustomDomain => "Custom domain",
            Self::HigherLimits => "Higher limits",
        }
    }

    pub const fn description(self) -> &'static str {
        match self {
            Self::MakePermanent => {
                "Current and future pages of the account are no longer limited to the plan's maximum lifetime. One-time \
                 purchase, no expiry."
            }
            Self::CustomDomain => "Show pages of the account at custom domains, for 30 days.",
            Self::HigherLimits => "Up to 100 active pages and no daily cap, for 30 days.",
        }
    }
}

impl Unlocks {
    /// When it ends. `None` for permanent unlocks, of which only the start is recorded.
    pub const fn until(&self, sku: Sku) -> Option<i64> {
        match sku {
            Sku::MakePermanent => None,
            Sku::CustomDomain => self.custom_domain_until,
            Sku::HigherLimits => self.higher_limits_until,
        }
    }

    pub fn is_active(&self, sku: Sku, now: i64) -> bool {
        match sku {
            Sku::MakePermanent => self.permanent_since.is_some(),
            Sku::CustomDomain | Sku::HigherLimits => self.until(sku).is_some_and(|until| until > now),
        }
    }

    /// Whether buying it again would have no effect.
    pub fn is_complete(&self, sku: Sku, now: i64) -> bool {
        sku.period_days().is_none() && self.is_active(sku, now)
    }

    /// The unlocks that are active now.
    pub fn active(&self, now: i64) -> impl Iterator<Item = Sku> {
        let unlocks = *self;
        Sku::ALL.into_iter().filter(move |sku| unlocks.is_active(*sku, now))
    }

    /// The unlocks after a purchase: a new period starts when the current one ends.
    #[must_use]
    pub fn with(mut self, sku: Sku, now: i64) -> Self {
        let longer = |until: Option<i64>| {
            let days = sku.period_days().unwrap_or_default();
            Some(until.unwrap_or(now).max(now) + days * DAY)
        };
        match sku {
            Sku::MakePermanent => self.permanent_since = self.permanent_since.or(Some(now)),
            Sku::CustomDomain => self.custom_domain_until = longer(self.custom_domain_until),
            Sku::HigherLimits => self.higher_limits_until = longer(self.higher_limits_until),
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_begins_when_the_present_one_ends() {
        let once = Unlocks::default().with(Sku::HigherLimits, 100);
        assert_eq!(once.until(Sku::HigherLimits), Some(100 + 30 * DAY));
        let twice = once.with(Sku::HigherLimits, 100 + DAY);
        assert_eq!(twice.until(Sku::HigherLimits), Some(100 + 60 * DAY));
        let later = once.with(Sku::HigherLimits, 100 + 31 * DAY);
        assert_eq!(later.until(Sku::HigherLimits), Some(100 + 61 * DAY));
        assert!(once.is_active(Sku::HigherLimits, 100 + 30 * DAY - 1));
        assert!(!once.is_active(Sku::HigherLimits, 100 + 30 * DAY));
        assert!(!once.is_complete(Sku::HigherLimits, 100));
    }

    #[test]
    fn what_holds_for_good_is_bought_once() {
        let bought = Unlocks::default().with(Sku::MakePermanent, 5);
        assert!(bought.is_complete(Sku::MakePermanent, 5));
        assert_eq!(bought.with(Sku::MakePermanent, 9).permanent_since, Some(5));
        assert_eq!(bought.active(9).collect::<Vec<_>>(), [Sku::MakePermanent]);
    }
}
