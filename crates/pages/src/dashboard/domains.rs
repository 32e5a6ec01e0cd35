//! `/dashboard/domains`: the custom domains of the account, the form that adds one, and how to get them if the plan has none.

use super::badge::Badge;
use super::billing::{UnlockOffer, dollars};
use super::{Attempt, Section, Shell};
use crate::assets::{DOMAINS_CSS, PAGES_CSS};
use crate::{Html, Moment};
use askama::Template;
use dropleaf_core::certificate::CertificateState;
use dropleaf_core::custom_domain::{CustomDomain, DomainStatus};

/// A page that a domain shows or could show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageChoice {
    pub id: String,
    pub title: String,
}

/// One domain in a list.
#[derive(Debug)]
pub struct DomainRow<'a> {
    pub domain: &'a CustomDomain,
    pub certificate: CertificateRow<'a>,
    /// The page that it shows; `None` if that no longer exists.
    pub page: Option<&'a PageChoice>,
}

/// The certificate of a domain.
#[derive(Debug, Clone, Copy)]
pub struct CertificateRow<'a> {
    pub state: CertificateState,
    pub expires: Option<Moment>,
    pub problem: Option<&'a str>,
}

/// Whether the account can have custom domains, or how it gets them.
#[derive(Debug, Clone, Copy)]
pub enum DomainPlan {
    Included,
    /// The unlock that adds them.
    ForSale(DomainOffer),
    /// Nothing is sold here: only the operator can change the plan.
    Excluded,
}

/// The unlock that adds custom domains, and how it can be paid.
#[derive(Debug, Clone, Copy)]
pub struct DomainOffer {
    pub unlock: UnlockOffer,
    pub balance_minor: i64,
    pub accepts_cards: bool,
}

#[derive(Debug)]
pub struct DomainsPage<'a> {
    pub shell: Shell<'a>,
    pub domains: Vec<DomainRow<'a>>,
    pub plan: DomainPlan,
    pub plan_name: &'a str,
    /// The live pages, newest first.
    pub pages: &'a [PageChoice],
    /// The page that is selected first: the one from which the person came.
    pub selected: &'a str,
    pub attempt: Attempt,
}

#[derive(Template)]
#[template(path = "dashboard/domains.html")]
struct DomainsTemplate<'a> {
    shell: Shell<'a>,
    page: &'a DomainsPage<'a>,
    attempt: &'a Attempt,
    pages_css: String,
    domains_css: String,
}

pub fn domains(page: &DomainsPage<'_>) -> Html {
    let view = DomainsTemplate {
        shell: page.shell,
        page,
        attempt: &page.attempt,
        pages_css: PAGES_CSS.path(),
        domains_css: DOMAINS_CSS.path(),
    };
    // Rendering writes into a String and cannot fail.
    Html(view.render().unwrap_or_default())
}

impl DomainsPage<'_> {
    fn has_verified(&self) -> bool {
        self.domains.iter().any(|row| row.domain.is_verified())
    }
}

/// The chip with the state of a domain. A verified name whose record is missing still works, for a while.
pub(super) fn status_badge(domain: &CustomDomain) -> Badge {
    let (tone, text) = match (domain.status, domain.failing_since) {
        (DomainStatus::Pending, _) => ("", "Pending"),
        (DomainStatus::Verified, None) => ("good", "Verified"),
        (DomainStatus::Verified, Some(_)) | (DomainStatus::Failed, _) => ("bad", "Needs attention"),
    };
    Badge { tone, text: text.into() }
}

impl DomainRow<'_> {
    pub(super) fn badge(&self) -> Badge {
        status_badge(self.domain)
    }

    fn name(&self) -> String {
        self.domain.hostname.unicode()
    }
}

impl CertificateRow<'_> {
    /// The state in a word or two; `None` if there is nothing to say yet.
    fn label(&self) -> Option<&'static str> {
        match self.state {
            CertificateState::None | CertificateState::External => None,
            CertificateState::Pending => Some("certificate being issued"),
            CertificateState::Issued => Some("certificate valid until"),
            CertificateState::Failed => Some("certificate could not be issued"),
        }
    }
}

impl DomainPlan {
    pub(super) const fn is_included(&self) -> bool {
        matches!(self, Self::Included)
    }
}

impl DomainOffer {
    pub(super) fn covers(&self) -> bool {
        self.balance_minor >= self.unlock.price_minor
    }

    pub(super) fn balance(&self) -> String {
        dollars(self.balance_minor)
    }
}
