//! `/dashboard/domains/{hostname}`: the DNS records of a domain, what is left to do, and its settings. The part with the state
//! refreshes itself while something is under way.

use super::badge::Badge;
use super::domains::{CertificateRow, DomainPlan, PageChoice, status_badge};
use super::figures;
use super::{Attempt, Section, Shell};
use crate::Html;
use crate::assets::{DOMAINS_CSS, PAGES_CSS, REFRESH_JS};
use askama::Template;
use dropleaf_core::certificate::CertificateState;
use dropleaf_core::custom_domain::{CustomDomain, DnsRecord, DomainProblem, DomainStatus};

#[derive(Debug)]
pub struct DomainPage<'a> {
    pub shell: Shell<'a>,
    pub domain: &'a CustomDomain,
    pub url: &'a str,
    /// The records of which one proves the name, the recommended one first.
    pub records: &'a [DnsRecord],
    /// The registered domain, in whose zone the records are entered.
    pub zone: &'a str,
    /// The addresses of this server, for a name that cannot have a CNAME record. Empty if they are not known.
    pub addresses: &'a [String],
    /// The name that leads to this server, if its addresses are not known.
    pub site_host: &'a str,
    pub certificate: CertificateRow<'a>,
    /// The page that it shows; `None` if that no longer exists.
    pub page: Option<&'a PageChoice>,
    /// The live pages, newest first.
    pub pages: &'a [PageChoice],
    pub plan: DomainPlan,
    pub attempt: Attempt,
}

/// A record as it is entered.
#[derive(Debug, PartialEq, Eq)]
struct RecordRow<'a> {
    /// Tells the copy buttons of several records apart.
    id: String,
    kind: &'a str,
    name: &'a str,
    /// The name without the zone, as many providers want it.
    short_name: &'a str,
    value: &'a str,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Done,
    Current,
    Failed,
    Later,
}

impl Step {
    const fn class(self) -> &'static str {
        match self {
            Self::Done => "done-step",
            Self::Current => "current-step",
            Self::Failed => "failed-step",
            Self::Later => "later-step",
        }
    }

    /// For people who do not see the mark.
    const fn label(self) -> &'static str {
        match self {
            Self::Done => "Done: ",
            Self::Current => "In progress: ",
            Self::Failed => "Needs attention: ",
            Self::Later => "Later: ",
        }
    }
}

#[derive(Template)]
#[template(path = "dashboard/domain.html")]
struct DomainTemplate<'a> {
    shell: Shell<'a>,
    page: &'a DomainPage<'a>,
    domain: &'a CustomDomain,
    attempt: &'a Attempt,
    /// As people read it.
    name: String,
    badge: Badge,
    pages_css: String,
    domains_css: String,
    refresh_js: String,
}

pub fn domain(page: &DomainPage<'_>) -> Html {
    let view = DomainTemplate {
        shell: page.shell,
        page,
        domain: page.domain,
        attempt: &page.attempt,
        name: page.domain.hostname.unicode(),
        badge: status_badge(page.domain),
        pages_css: PAGES_CSS.path(),
        domains_css: DOMAINS_CSS.path(),
        refresh_js: REFRESH_JS.path(),
    };
    // Rendering writes into a String and cannot fail.
    Html(view.render().unwrap_or_default())
}

impl DomainTemplate<'_> {
    fn is_verified(&self) -> bool {
        self.domain.status == DomainStatus::Verified
    }

    /// Whether something happens soon without the person: the page then refreshes itself.
    fn is_waiting(&self) -> bool {
        match self.domain.status {
            DomainStatus::Pending | DomainStatus::Failed => self.next_check().is_some(),
            DomainStatus::Verified => self.page.certificate.state == CertificateState::Pending,
        }
    }

    fn problem(&self) -> Option<DomainProblem> {
        self.domain.problem(self.page.plan.is_included())
    }

    fn needs_plan(&self) -> bool {
        self.problem() == Some(DomainProblem::Plan)
    }

    fn record_step(&self) -> Step {
        match (self.domain.status, self.problem()) {
            (DomainStatus::Verified, None | Some(DomainProblem::Plan)) => Step::Done,
            // It may be there already; first the plan has to include domains.
            (_, Some(DomainProblem::Plan)) => Step::Later,
            _ => Step::Current,
        }
    }

    fn check_step(&self) -> Step {
        match (self.domain.status, self.domain.failing_since) {
            (DomainStatus::Verified, None) => Step::Done,
            (DomainStatus::Verified, Some(_)) | (DomainStatus::Failed, _) => Step::Failed,
            (DomainStatus::Pending, _) if self.domain.last_checked_at.is_some() => Step::Current,
            (DomainStatus::Pending, _) => Step::Later,
        }
    }

    fn certificate_step(&self) -> Step {
        if !self.is_verified() {
            return Step::Later;
        }
        match self.page.certificate.state {
            CertificateState::Issued | CertificateState::External => Step::Done,
            CertificateState::None | CertificateState::Pending => Step::Current,
            CertificateState::Failed => Step::Failed,
        }
    }

    fn next_check(&self) -> Option<i64> {
        self.domain.next_automatic_check()
    }

    /// Until when a verified name works although its checks fail.
    fn works_until(&self) -> Option<i64> {
        self.domain.works_until()
    }

    fn record(&self, at: usize) -> Option<RecordRow<'_>> {
        self.page.records.get(at).map(|record| RecordRow {
            id: format!("record-{at}"),
            kind: record.kind,
            name: &record.name,
            short_name: short_name(&record.name, self.page.zone),
            value: &record.value,
        })
    }

    /// Whether there is a page that it could show instead.
    fn has_other_pages(&self) -> bool {
        self.page.pages.iter().any(|choice| choice.id != self.domain.site_id)
    }

    fn is_apex(&self) -> bool {
        self.domain.hostname.is_apex()
    }

    /// The records that lead visitors of an apex to this server.
    fn address_records(&self) -> Vec<RecordRow<'_>> {
        let name = self.domain.hostname.as_str();
        let addresses = self.page.addresses.iter().enumerate();
        addresses
            .map(|(at, value)| {
                let kind = if value.contains(':') { "AAAA" } else { "A" };
                RecordRow { id: format!("address-{at}"), kind, name, short_name: "@", value }
            })
            .collect()
    }
}

/// The name without the zone; `@` for the zone itself.
fn short_name<'a>(name: &'a str, zone: &str) -> &'a str {
    let rest = name.strip_suffix(zone).map(|rest| rest.strip_suffix('.').unwrap_or(rest));
    match rest {
        Some("") => "@",
        Some(rest) => rest,
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shortened_to_what_providers_ask_for() {
        for (name, short) in [
            ("reports.example.com", "reports"),
            ("_dropleaf.reports.example.com", "_dropleaf.reports"),
            ("example.com", "@"),
            ("other.example", "other.example"),
        ] {
            assert_eq!(short_name(name, "example.com"), short);
        }
    }
}
