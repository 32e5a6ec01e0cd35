//! A pay session: a link at which a person pays by card for what a program asked for. Leaves the card processor to the payment
//! crate.

use crate::payment::Item;
use crate::unlock::Sku;
use crate::{Error, Result};

/// How long a person has to begin paying.
pub const BEGIN_SECONDS: i64 = 1800;
/// The processor's form stays open this much longer. Its minimum is 30 minutes from when it is opened, by its own clock.
pub const FORM_SECONDS: i64 = 1860;
/// How often a program should poll, at most.
pub const INTERVAL_SECONDS: i64 = 3;
/// The smallest amount that a card is charged, in cents.
pub const SMALLEST_MINOR: i64 = 50;
/// The largest amount of a session for a new account. Spec §8.
pub const PROVISION_MOST_MINOR: i64 = 2000;
/// The largest amount of any other session.
pub const MOST_MINOR: i64 = 100_000;
const TOPUP_DEFAULT_MINOR: i64 = 1000;

/// What a pay session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Feature {
    Provision,
    Topup,
    Unlock(Sku),
}

impl Feature {
    pub const ALL: [Self; 5] = [
        Self::Provision,
        Self::Topup,
        Self::Unlock(Sku::MakePermanent),
        Self::Unlock(Sku::CustomDomain),
        Self::Unlock(Sku::HigherLimits),
    ];

    pub const fn as_str(self) -> &'static str {
        self.item().as_str()
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|feature| feature.as_str() == text)
    }

    pub const fn item(self) -> Item {
        match self {
            Self::Provision => Item::Provision,
            Self::Topup => Item::Topup,
            Self::Unlock(sku) => Item::Unlock(sku),
        }
    }

    /// Whether it is bought for an existing account, so that the request needs a credential.
    pub const fn needs_account(self) -> bool {
        !matches!(self, Self::Provision)
    }

    /// The product's name on the payment form.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Provision => "API key",
            Self::Topup => "Prepaid balance",
            Self::Unlock(sku) => sku.title(),
        }
    }

    /// The amount to pay in cents: what was requested, or the default. `price`: what the item costs.
    pub fn amount(self, requested: Option<i64>, price: i64) -> Result<i64> {
        let least = price.max(SMALLEST_MINOR);
        let (default, most) = match self {
            Self::Provision => (least, PROVISION_MOST_MINOR.max(least)),
            Self::Topup => (TOPUP_DEFAULT_MINOR, MOST_MINOR),
            Self::Unlock(_) => (least, MOST_MINOR.max(least)),
        };
        let amount = requested.unwrap_or(default);
        if (least..=most).contains(&amount) {
            return Ok(amount);
        }
        Err(Error::field("amount_minor", format!("must be {least} to {most} cents for `{}`", self.as_str())))
    }
}

/// The state of a pay session. Received money counts in every state: a session that expired or failed is completed if it was
/// paid after all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaySessionState {
    Pending,
    /// The form was completed, but the money has not been received yet.
    Processing,
    Completed,
    Expired,
    Failed,
}

impl PaySessionState {
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::Processing, Self::Completed, Self::Expired, Self::Failed];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Processing => "processing",
            Self::Completed => "completed",
            Self::Expired => "expired",
            Self::Failed => "failed",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// A stored pay session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaySession {
    /// Known to the card processor, and to no one else.
    pub id: String,
    /// The SHA-256 of the code that its program polls with.
    pub code_hash: [u8; 32],
    /// The SHA-256 of the slug in the address of its pay page.
    pub slug_hash: [u8; 32],
    pub feature: Feature,
    pub amount_minor: i64,
    /// The price when the session was created; what is paid beyond it becomes credit.
    pub price_minor: i64,
    pub sandbox: bool,
    /// `None` for a new account.
    pub account_id: Option<String>,
    pub state: PaySessionState,
    /// The processor's form, once it was opened.
    pub checkout_id: Option<String>,
    pub payment_id: Option<String>,
    pub created_at: i64,
    /// Until then a person can begin to pay.
    pub expires_at: i64,
    /// When the processor was last asked about it.
    pub checked_at: i64,
}

impl PaySession {
    /// The part of the amount that becomes prepaid balance.
    pub const fn credit_minor(&self) -> i64 {
        match self.feature {
            Feature::Topup => self.amount_minor,
            Feature::Provision | Feature::Unlock(_) => self.amount_minor - self.price_minor,
        }
    }

    /// When the processor's form closes. It follows from the session alone, because a repeated request to open the form must
    /// be the same.
    pub const fn form_expires_at(&self) -> i64 {
        self.expires_at + FORM_SECONDS
    }

    /// The state to show at this time: a session that no one began to pay expires by itself.
    pub const fn state_at(&self, now: i64) -> PaySessionState {
        match self.state {
            PaySessionState::Pending if self.checkout_id.is_none() && now >= self.expires_at => {
                PaySessionState::Expired
            }
            state => state,
        }
    }

    /// Whether the processor may know more than this row: it has a form whose payment has not been recorded.
    pub const fn may_have_changed(&self) -> bool {
        self.checkout_id.is_some() && !matches!(self.state, PaySessionState::Completed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn session() -> PaySession {
        PaySession {
            id: "ps_1".into(),
            code_hash: [1; 32],
            slug_hash: [2; 32],
            feature: Feature::Provision,
            amount_minor: 600,
            price_minor: 100,
            sandbox: true,
            account_id: None,
            state: PaySessionState::Pending,
            checkout_id: None,
            payment_id: None,
            created_at: 1000,
            expires_at: 1000 + BEGIN_SECONDS,
            checked_at: 0,
        }
    }

    #[test]
    fn names_read_back() {
        assert!(Feature::ALL.into_iter().all(|it| Feature::parse(it.as_str()) == Some(it)));
        assert!(PaySessionState::ALL.into_iter().all(|it| PaySessionState::parse(it.as_str()) == Some(it)));
        assert_eq!(Feature::parse("publish"), None);
        assert!(!Feature::Provision.needs_account() && Feature::Topup.needs_account());
    }

    #[test]
    fn amounts_are_within_the_limits_of_the_feature() {
        let permanent = Feature::Unlock(Sku::MakePermanent);
        for (feature, price, requested, amount) in [
            (Feature::Provision, 100, None, Some(100)),
            (Feature::Provision, 100, Some(2000), Some(2000)),
            (Feature::Provision, 100, Some(2001), None),
            (Feature::Provision, 100, Some(99), None),
            (Feature::Provision, 20, None, Some(50)),
            (Feature::Provision, 3000, Some(3000), Some(3000)),
            (Feature::Topup, 0, None, Some(1000)),
            (Feature::Topup, 0, Some(50), Some(50)),
            (Feature::Topup, 0, Some(49), None),
            (Feature::Topup, 0, Some(100_001), None),
            (Feature::Topup, 0, Some(-1), None),
            (permanent, 200, None, Some(200)),
            (permanent, 200, Some(199), None),
            (permanent, 200, Some(1200), Some(1200)),
        ] {
            assert_eq!(feature.amount(requested, price).ok(), amount, "{feature:?} {requested:?}");
        }
        let error = Feature::Provision.amount(Some(1), 100).unwrap_err();
        assert!(error.to_string().contains("100 to 2000"), "{error}");
    }

    #[test]
    fn surplus_becomes_credit() {
        assert_eq!(session().credit_minor(), 500);
        assert_eq!(PaySession { feature: Feature::Topup, price_minor: 0, ..session() }.credit_minor(), 600);
    }

    #[test]
    fn session_that_no_one_began_to_pay_expires_by_itself() {
        let (session, end) = (session(), 1000 + BEGIN_SECONDS);
        assert_eq!(session.state_at(end - 1), PaySessionState::Pending);
        assert_eq!(session.state_at(end), PaySessionState::Expired);
        let begun = PaySession { checkout_id: Some("cs_1".into()), ..session };
        assert_eq!(begun.state_at(end), PaySessionState::Pending, "the form is open for longer");
        assert!(begun.may_have_changed());
        assert!(!PaySession { state: PaySessionState::Completed, ..begun }.may_have_changed());
    }
}
