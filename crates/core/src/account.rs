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
    pub balance_minor: i64,
    pub active_pages: i64,
    pub created_at: i64,
    pub unlocks: Unlocks,
    pub suspended: Option<Suspension>,
}

/// When and why an account was suspended; its pages are not shown. The reason is the operator's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspension {
    pub since: i64,
    pub reason: String,
}

impl Account {
    /// Returns an error for a suspended account, which may only read its data and delete its pages.
    pub fn check_active(&self) -> Result<()> {
        match &self.suspended {
            None => Ok(()),
            Some(_) => Err(suspended()),
        }
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

    #[test]
    fn only_active_accounts_that_are_no_operators_can_be_suspended() {
        let account = Account {
            id: "acct_1".into(),
            email: None,
            plan: "free".into(),
            is_operator: false,
            balance_minor: 0,
            active_pages: 0,
            created_at: 0,
            unlocks: Unlocks::default(),
            suspended: None,
        };
        assert!(account.can_be_suspended());
        assert!(!Account { is_operator: true, ..account.clone() }.can_be_suspended());
        let suspended = Some(Suspension { since: 1, reason: "spam".into() });
        assert!(!Account { suspended, ..account }.can_be_suspended());
    }
}
