//! Unlocks: limits of a plan that were lifted for money, for good or for a while. Spec §8, decisions §3.2.

/// What can be bought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sku {
    MakePermanent,
    CustomDomain,
    HigherLimits,
}

/// What an account has bought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unlocks {
    /// Pages lose the plan's longest life from then on.
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

    /// How long it holds; None for good.
    pub const fn period_days(self) -> Option<i64> {
        match self {
            Self::MakePermanent => None,
            Self::CustomDomain | Self::HigherLimits => Some(30),
        }
    }
}
