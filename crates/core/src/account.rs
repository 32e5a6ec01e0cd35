//! An account: who owns pages and keys, and under which plan.

use crate::unlock::Unlocks;

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

/// Why and since when an account may do nothing, and its pages are not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspension {
    pub since: i64,
    pub reason: String,
}
