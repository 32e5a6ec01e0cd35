//! An account: the owner of pages and keys, with its plan.

use crate::unlock::Unlocks;
use crate::{Code, Error, Result};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub id: String,
    /// `None` when the account was created by a payment.
    pub email: Option<String>,
    pub plan: String,
    pub is_operator: bool,
    /// The prepaid balance, in cents.
    pub balance_minor: i64,
    /// Prepaid with sandbox money. It pays for things only while the server runs in sandbox mode.
    pub sandbox_balance_minor: i64,
    pub active_pages: i64,
    pub created_at: i64,
    pub unlocks: Unlocks,
    pub suspended: Option<Suspension>,
}

/// A price, charged to one of an account's balances, in cents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Charge {
    pub real: i64,
    pub sandbox: i64,
}

impl Charge {
    pub const fn total(self) -> i64 {
        self.real + self.sandbox
    }
}

/// When and why an account was suspended; its pages are not shown. The reason is the operator's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspension {
    pub since: i64,
    pub reason: String,
}

impl Account {
    /// An account that has nothing yet.
    pub fn new(id: String, plan: String, created_at: i64) -> Self {
        Self {
            id,
            email: None,
            plan,
            is_operator: false,
            balance_minor: 0,
            sandbox_balance_minor: 0,
            active_pages: 0,
            created_at,
            unlocks: Unlocks::default(),
            suspended: None,
        }
    }

    /// Returns an error for a suspended account, which may only read its data and delete its pages.
    pub fn check_active(&self) -> Result<()> {
        match &self.suspended {
            None => Ok(()),
            Some(_) => Err(suspended()),
        }
    }

    /// What the account can spend: in sandbox mode sandbox money alone, in live mode real money alone.
    pub const fn spendable(&self, sandbox: bool) -> i64 {
        if sandbox { self.sandbox_balance_minor } else { self.balance_minor }
    }

    /// Charges a price to the balance of the mode. `None` if it does not suffice.
    pub fn charge(&self, cents: i64, sandbox: bool) -> Option<Charge> {
        let charge =
            if sandbox { Charge { real: 0, sandbox: cents } } else { Charge { real: cents, sandbox: 0 } };
        (cents > 0 && cents <= self.spendable(sandbox)).then_some(charge)
    }

    /// The account after a purchase.
    #[must_use]
    pub const fn charged(mut self, charge: Charge) -> Self {
        self.balance_minor -= charge.real;
        self.sandbox_balance_minor -= charge.sandbox;
        self
    }

    /// Operators cannot be suspended, and neither can an account that is suspended already.
    pub const fn can_be_suspended(&self) -> bool {
        !self.is_operator && self.suspended.is_none()
    }
}

/// The error for a suspended account that tries to change something.
pub fn suspended() -> Error {
    Error::new(
        Code::AccountSuspended,
        "The operator of this server suspended the account. You can still read its data and delete its pages, but not publish, \
         change or buy anything. Contact the operator.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account() -> Account {
        Account::new("acct_1".into(), "free".into(), 0)
    }

    #[test]
    fn price_is_charged_to_sandbox_money_in_sandbox_mode_and_to_real_money_when_live() {
        let account = Account { balance_minor: 300, sandbox_balance_minor: 150, ..account() };
        assert_eq!((account.spendable(true), account.spendable(false)), (150, 300));
        for (cents, sandbox, charge) in [
            (100, true, Some(Charge { real: 0, sandbox: 100 })),
            (150, true, Some(Charge { real: 0, sandbox: 150 })),
            (151, true, None),
            (300, false, Some(Charge { real: 300, sandbox: 0 })),
            (301, false, None),
            (0, true, None),
            (-5, true, None),
        ] {
            assert_eq!(account.charge(cents, sandbox), charge, "{cents} {sandbox}");
        }
        let after = account.charged(Charge { real: 50, sandbox: 150 });
        assert_eq!((after.balance_minor, after.sandbox_balance_minor), (250, 0));
    }

    #[test]
    fn only_active_accounts_that_are_no_operators_can_be_suspended() {
        let account = account();
        assert!(account.can_be_suspended());
        assert!(!Account { is_operator: true, ..account.clone() }.can_be_suspended());
        let suspended = Some(Suspension { since: 1, reason: "spam".into() });
        assert!(!Account { suspended, ..account }.can_be_suspended());
    }
}
