//! The operator's pages: overview, accounts, reports; payments are in `money`.

pub mod appeals;
pub mod audit;
pub mod case;
pub mod look;
pub mod money;

use self::audit::about;
use super::assets::OPERATOR_CSS;
use super::dashboard::{Section, Shell};
use super::{Html, Moment, Size};
use askama::Template;
use dropleaf_app::{ReportCase, ReportedPage};
use dropleaf_core::audit::AuditEntry;
use dropleaf_core::site::{State, Visibility};

/// A number with its label.
#[derive(Debug)]
pub struct Figure {
    pub value: String,
    pub label: &'static str,
}

/// What was typed into the takedown form.
#[derive(Debug, Clone, Copy, Default)]
pub struct Typed<'a> {
    pub page: &'a str,
    pub reason: &'a str,
    pub problem: Option<&'a str>,
    /// The URL of the page that has just been taken down.
    pub gone: Option<&'a str>,
}

#[derive(Debug, Template)]
#[template(path = "operator.html")]
pub struct Overview<'a> {
    pub shell: Shell<'a>,
    pub figures: Vec<Figure>,
    pub counted: Option<Moment>,
    pub version: &'a str,
    pub uptime: super::Span,
    pub lines: &'a [AuditEntry],
    pub typed: Typed<'a>,
    /// The names of missing settings without which lost payments cannot be looked up.
    pub missing_chains: Vec<&'static str>,
    /// Whether the forms are accepted now; otherwise they ask to sign in again.
    pub is_recent: bool,
}

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
pub struct RefusedAccount<'a> {
    pub account_id: &'a str,
    pub reason: &'a str,
    pub problem: &'a str,
}

#[derive(Debug, Template)]
#[template(path = "operator_accounts.html")]
pub struct Accounts<'a> {
    pub shell: Shell<'a>,
    pub search: &'a str,
    pub accounts: Vec<AccountRow<'a>>,
    pub plans: &'a [&'a str],
    pub older: Option<&'a str>,
    pub refused: Option<RefusedAccount<'a>>,
    pub is_recent: bool,
}

impl Accounts<'_> {
    fn refused_at(&self, account: &AccountRow<'_>) -> Option<RefusedAccount<'_>> {
        self.refused.filter(|refused| refused.account_id == account.id)
    }
}

/// A takedown that was sent without a valid reason.
#[derive(Debug, Clone, Copy)]
pub struct Refused<'a> {
    pub site_id: &'a str,
    pub reason: &'a str,
}

#[derive(Debug, Template)]
#[template(path = "operator_reports.html")]
pub struct Reports<'a> {
    pub shell: Shell<'a>,
    pub cases: &'a [ReportCase],
    /// The most recently closed reports.
    pub closed: &'a [ReportedPage],
    /// Whether the list starts with the page that has been waiting longest.
    pub is_first: bool,
    /// The link to the next page of the list.
    pub next: Option<&'a str>,
    pub refused: Option<Refused<'a>>,
    pub is_recent: bool,
}

/// The path of the stylesheet of these pages.
fn sheet() -> String {
    OPERATOR_CSS.path()
}

impl Reports<'_> {
    /// The reason that was refused for this page.
    fn refused_at(&self, case: &ReportCase) -> Option<&str> {
        self.refused.filter(|refused| refused.site_id == case.site.id).map(|refused| refused.reason)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
fn at(epoch: &i64) -> Moment {
    Moment(*epoch)
}

fn title(case: &ReportCase) -> &str {
    if case.site.title.is_empty() { "Untitled page" } else { &case.site.title }
}

/// The visibility of a page, for its badge.
fn reach(case: &ReportCase) -> &'static str {
    match case.site.visibility {
        Visibility::Unlisted => "unlisted",
        Visibility::Public => "public",
        Visibility::Burn => "view once",
    }
}

fn is_live(case: &ReportCase) -> bool {
    case.site.state == State::Live
}

fn is_burning(case: &ReportCase) -> bool {
    case.site.visibility == Visibility::Burn
}

fn size(case: &ReportCase) -> Size {
    Size(case.site.byte_size)
}

// Rendering writes into a String and cannot fail.

pub fn overview(page: &Overview<'_>) -> Html {
    Html(page.render().unwrap_or_default())
}

pub fn accounts(page: &Accounts<'_>) -> Html {
    Html(page.render().unwrap_or_default())
}

pub fn reports(page: &Reports<'_>) -> Html {
    Html(page.render().unwrap_or_default())
}
