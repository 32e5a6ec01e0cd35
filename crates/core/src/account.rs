//! An account: who owns pages and keys, and under which plan.

use crate::unlock::Unlocks;
use crate::{Code, Error, Result};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub id: String,
    /// None when a payment made the account.
    pub email: Option<String>,
    pub plan: String,
    pub is_operator: bool,
    pub balance_minor: i64,
    pub active_pages: i64,
    pub created_at: i64,
    pub unlocks: Unlocks,
    pub suspended: Option<Suspension>,
}

/// Why and since when an account may do nothing, and its pages are not shown. The reason is the operator's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspension {
    pub since: i64,
    pub reason: String,
}

impl Account {
    /// Refuses an account that is suspended: it may look at what it has and delete its pages, nothing else.
    pub fn check_active(&self) -> Result<()> {
        match &self.suspended {
            None => Ok(()),
            Some(_) => Err(suspended()),
        }
    }
}

/// What a suspended account is told when it wants to change something.
pub fn suspended() -> Error {
    Error::new(
        Code::AccountSuspended,
        "The operator of this server suspended the account. You can still read its data and delete its pages, but not publish, \
         change or buy anything. Contact the operator.",
    )
}
