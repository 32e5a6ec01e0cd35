//! `/dashboard/billing`: the prepaid balance, adding money to it, and the unlocks. What can be bought is decided elsewhere.

use super::{Section, Shell};
use crate::assets::{BILLING_CSS, PAY_CSS};
use crate::{Html, Moment};
use askama::Template;
use dropleaf_core::ledger::Unit;
use dropleaf_core::unlock::Sku;

/// What the page shows.
#[derive(Debug)]
pub struct BillingPage<'a> {
    /// What can be spent now, in cents.
    pub balance_minor: i64,
    /// Real credit, which is not spent in sandbox mode.
    pub real_minor: i64,
    pub sandbox: bool,
    /// Whether people can pay by card here.
    pub accepts_cards: bool,
    pub top_up: TopUpLimits,
    pub unlocks: Vec<UnlockOffer>,
    /// What was bought just now.
    pub bought: Option<Bought>,
    pub problem: Option<BillingProblem<'a>>,
}

/// How much money can be added at once, in cents.
#[derive(Debug, Clone, Copy)]
pub struct TopUpLimits {
    pub least_minor: i64,
    pub most_minor: i64,
    /// Amounts with a button of their own.
    pub presets: &'static [i64],
}

/// An unlock that can be bought, or that the account has.
#[derive(Debug, Clone, Copy)]
pub struct UnlockOffer {
    pub sku: Sku,
    pub price_minor: i64,
    pub state: UnlockState,
}

/// Whether the account has an unlock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnlockState {
    Inactive,
    /// Until then; buying it again extends it.
    Until(Moment),
    /// It does not expire.
    Permanent,
}

/// What was bought just now. The page shows the state that resulted, so a made-up link cannot make it say anything untrue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bought {
    Money,
    Unlock(Sku, UnlockState),
}

/// Why nothing was bought.
#[derive(Debug, Clone, Copy)]
pub enum BillingProblem<'a> {
    /// Shown at the field for the amount, with what was typed.
    Amount { typed: &'a str, message: &'a str },
    /// Shown at the unlock.
    Unlock { sku: Sku, message: &'a str },
}

#[derive(Template)]
#[template(path = "dashboard/billing.html")]
struct BillingTemplate<'a> {
    shell: Shell<'a>,
    pay_css: String,
    billing_css: String,
    page: &'a BillingPage<'a>,
}

pub fn billing(shell: Shell<'_>, page: &BillingPage<'_>) -> Html {
    let (pay_css, billing_css) = (PAY_CSS.path(), BILLING_CSS.path());
    // Writing into memory does not fail.
    Html(BillingTemplate { shell, pay_css, billing_css, page }.render().unwrap_or_default())
}

impl BillingPage<'_> {
    fn balance(&self) -> String {
        dollars(self.balance_minor)
    }

    /// Real credit; only in sandbox mode, and if there is any.
    fn real_money(&self) -> Option<String> {
        (self.sandbox && self.real_minor > 0).then(|| dollars(self.real_minor))
    }

    fn covers(&self, offer: &UnlockOffer) -> bool {
        self.balance_minor >= offer.price_minor
    }

    fn missing(&self, offer: &UnlockOffer) -> String {
        dollars(offer.price_minor.saturating_sub(self.balance_minor.max(0)))
    }

    /// What was typed as amount, and what is wrong with it.
    fn amount_problem(&self) -> Option<(&str, &str)> {
        match self.problem? {
            BillingProblem::Amount { typed, message } => Some((typed, message)),
            BillingProblem::Unlock { .. } => None,
        }
    }

    fn problem_of(&self, offer: &UnlockOffer) -> Option<&str> {
        match self.problem? {
            BillingProblem::Unlock { sku, message } => (sku == offer.sku).then_some(message),
            BillingProblem::Amount { .. } => None,
        }
    }
}

impl TopUpLimits {
    /// The amounts with a button: what is sent, and what is shown.
    fn buttons(&self) -> Vec<(String, String)> {
        let limits = self.least_minor..=self.most_minor;
        let presets = self.presets.iter().filter(|amount| limits.contains(amount));
        presets.map(|amount| (Unit::Usd2.decimal(*amount), short(*amount))).collect()
    }

    fn hint(&self) -> String {
        format!("Between {} and {}.", short(self.least_minor), short(self.most_minor))
    }
}

impl UnlockOffer {
    pub(super) fn price(&self) -> String {
        dollars(self.price_minor)
    }

    /// What the price is for.
    pub(super) fn period(&self) -> String {
        self.sku.period_days().map_or_else(|| "once".to_owned(), |days| format!("for {days} days"))
    }

    pub(super) fn is_active(&self) -> bool {
        self.state != UnlockState::Inactive
    }

    /// Whether buying it has an effect.
    fn can_be_bought(&self) -> bool {
        self.state != UnlockState::Permanent
    }
}

pub(super) fn dollars(cents: i64) -> String {
    Unit::Usd2.written(cents)
}

/// Without cents if there are none: `$5`.
fn short(cents: i64) -> String {
    let written = dollars(cents);
    written.strip_suffix(".00").map_or(written.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_without_cents_are_short() {
        assert_eq!([500, 50, 1250, 100_000].map(short), ["$5", "$0.50", "$12.50", "$1000"]);
    }

    #[test]
    fn buttons_offer_only_what_can_be_paid() {
        let limits = TopUpLimits { least_minor: 600, most_minor: 2500, presets: &[500, 1000, 2500, 5000] };
        let shown: Vec<_> = limits.buttons().into_iter().map(|(_, label)| label).collect();
        assert_eq!(shown, ["$10", "$25"]);
        assert_eq!(limits.hint(), "Between $6 and $25.");
    }
}
