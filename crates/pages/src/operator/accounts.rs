//! The list of accounts, to set their plan, suspend them or lift a suspension.

use super::stylesheet;
use crate::dashboard::{Section, Shell};
use crate::{Html, Moment};
use askama::Template;

#[derive(Debug)]
pub struct AccountRow<'a> {
    pub id: &'a str,
    pub email: Option<&'a str>,
    pub plan: &'a str,
    pub pages: i64,
    pub created: Moment,
    pub is_operator: bool,
    /// Since when, and why.
    pub suspended: Option<(Moment, &'a str)>,
}

impl AccountRow<'_> {
    fn name(&self) -> &str {
        self.email.unwrap_or(self.id)
    }
}

/// A suspension that was sent without a valid reason, or that was not possible.
#[derive(Debug, Clone, Copy)]
pub struct RefusedSuspension<'a> {
    pub account_id: &'a str,
    pub reason: &'a str,
    pub problem: &'a str,
}

#[derive(Debug, Template)]
#[template(path = "operator_accounts.html")]
pub struct AccountsPage<'a> {
    pub shell: Shell<'a>,
    pub search: &'a str,
    pub accounts: Vec<AccountRow<'a>>,
    pub plans: &'a [&'a str],
    pub older: Option<&'a str>,
    pub refused: Option<RefusedSuspension<'a>>,
    pub is_recent: bool,
}

impl AccountsPage<'_> {
    fn refused_at(&self, account: &AccountRow<'_>) -> Option<RefusedSuspension<'_>> {
        self.refused.filter(|refused| refused.account_id == account.id)
    }
}

pub fn accounts(page: &AccountsPage<'_>) -> Html {
    // Rendering writes into a String and cannot fail.
    Html(page.render().unwrap_or_default())
}
