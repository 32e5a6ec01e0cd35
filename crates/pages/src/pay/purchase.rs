//! What a person pays for, in words and amounts.

use dropleaf_core::unlock::Sku;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purchase<'a> {
    pub title: &'a str,
    /// What it gives.
    pub description: &'a str,
    /// What happens once it is paid.
    pub delivery: &'a str,
    pub price_cents: i64,
    /// What is charged. The part above the price becomes prepaid credit.
    pub amount_cents: i64,
}

impl Purchase<'static> {
    pub const fn api_key(price_cents: i64, amount_cents: i64) -> Self {
        Self {
            title: "API key",
            description: "A new account for your agent, with an API key to publish and manage pages.",
            delivery: "Your agent receives the API key automatically.",
            price_cents,
            amount_cents,
        }
    }

    pub const fn top_up(amount_cents: i64) -> Self {
        Self {
            title: "Prepaid credit",
            description: "Added to your account's balance. Your agent's later purchases are paid from it.",
            delivery: "The credit has been added to your account.",
            price_cents: amount_cents,
            amount_cents,
        }
    }

    pub const fn unlock(sku: Sku, price_cents: i64, amount_cents: i64) -> Self {
        Self {
            title: sku.title(),
            description: sku.description(),
            delivery: "It is now active for your account.",
            price_cents,
            amount_cents,
        }
    }
}

impl Purchase<'_> {
    /// The prepaid credit that is left after the price.
    pub fn credit_cents(&self) -> i64 {
        self.amount_cents.saturating_sub(self.price_cents).max(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_the_price_is_credit() {
        assert_eq!(Purchase::api_key(100, 600).credit_cents(), 500);
        assert_eq!(Purchase::api_key(100, 100).credit_cents(), 0);
        assert_eq!(Purchase::top_up(1000).credit_cents(), 0, "all of it is what was bought");
        let mut odd = Purchase::unlock(Sku::MakePermanent, 200, 100);
        assert_eq!(odd.credit_cents(), 0);
        odd.price_cents = i64::MIN;
        assert_eq!(odd.credit_cents(), i64::MAX);
    }
}
