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
}

/// The error for a suspended account that tries to change something.
pub fn suspended() -> Error {
    Error::new(
        Code::AccountSuspended,
        "The operator of this server suspended the account. You can still read its data and delete its pages, but not publish, \
         change or buy anything. Contact the operator.",
    )
}
