//! The pages about custom domains: hostile text stays text, each state says what to do, and impossible actions are not offered.

use super::pages_tests::{NOW, assert_sound, shell};
use super::{
    Attempt, CertificateRow, DomainOffer, DomainPage, DomainPlan, DomainRow, DomainsPage, PageChoice,
    RefusedForm, Shell, UnlockOffer, UnlockState, domain, domains,
};
use crate::Moment;
use crate::tests::HOSTILE;
use dropleaf_core::certificate::CertificateState;
use dropleaf_core::custom_domain::{CustomDomain, DnsRecord, DomainStatus};
use dropleaf_core::hostname::Hostname;
use dropleaf_core::unlock::Sku;

const ADD: &str = "action=\"/dashboard/domains#outcome\"";

fn row(name: &str, status: DomainStatus) -> CustomDomain {
    CustomDomain {
        hostname: Hostname::parse_stored(name.to_owned()),
        account_id: "acct_1".into(),
        site_id: "site_1".into(),
        status,
        is_primary: false,
        created_at: NOW,
        verified_at: (status == DomainStatus::Verified).then_some(NOW),
        last_checked_at: Some(NOW),
        last_error: None,
        failing_since: None,
        next_check_at: NOW,
        notice: None,
    }
}

fn certificate(state: CertificateState) -> CertificateRow<'static> {
    CertificateRow { state, expires: Some(Moment(NOW)), problem: Some(HOSTILE) }
}

fn choices() -> Vec<PageChoice> {
    ["site_1", HOSTILE].map(|id| PageChoice { id: id.into(), title: HOSTILE.into() }).to_vec()
}

fn for_sale(balance_minor: i64, accepts_cards: bool) -> DomainPlan {
    let unlock = UnlockOffer { sku: Sku::CustomDomain, price_minor: 200, state: UnlockState::Inactive };
    DomainPlan::ForSale(DomainOffer { unlock, balance_minor, accepts_cards })
}

fn refused(form: &'static str, field: &'static str) -> Attempt {
    let typed = [("hostname".to_owned(), HOSTILE.to_owned()), ("site".to_owned(), HOSTILE.to_owned())];
    Attempt(Some(RefusedForm {
        form,
        field,
        message: HOSTILE.into(),
        reasons: Vec::new(),
        appeal: None,
        typed: typed.to_vec(),
    }))
}

fn list(all: &[CustomDomain], plan: DomainPlan, pages: &[PageChoice], attempt: Attempt) -> String {
    let rows = all.iter().map(|domain| DomainRow {
        domain,
        certificate: certificate(CertificateState::Issued),
        page: pages.first(),
    });
    let html = domains(&DomainsPage {
        shell: shell(),
        domains: rows.collect(),
        plan,
        plan_name: HOSTILE,
        pages,
        selected: "site_1",
        attempt,
    });
    assert_sound(&html.0);
    html.0
}

fn one(shown: &CustomDomain, state: CertificateState, attempt: Attempt) -> String {
    shown_to(shell(), shown, state, attempt, &["192.0.2.1".to_owned(), "2001:db8::1".to_owned()])
}

fn shown_to(
    shell: Shell<'_>,
    shown: &CustomDomain,
    state: CertificateState,
    attempt: Attempt,
    addresses: &[String],
) -> String {
    let record = |kind| DnsRecord { kind, name: shown.hostname.to_string(), value: HOSTILE.into() };
    let pages = choices();
    let html = domain(&DomainPage {
        shell,
        domain: shown,
        url: HOSTILE,
        records: &[record("CNAME"), record("TXT")],
        zone: HOSTILE,
        addresses,
        site_host: HOSTILE,
        certificate: certificate(state),
        page: pages.first(),
        pages: &pages,
        plan: DomainPlan::Included,
        attempt,
    });
    assert_sound(&html.0);
    html.0
}

#[test]
fn hostile_text_stays_text_in_every_state_and_refusal() {
    use CertificateState::{External, Failed, Issued, None, Pending};
    for name in [HOSTILE, "example.com", "reports.example.com"] {
        for status in [DomainStatus::Pending, DomainStatus::Verified, DomainStatus::Failed] {
            for state in [None, Pending, Issued, Failed, External] {
                let failing = CustomDomain {
                    last_error: Some(HOSTILE.into()),
                    failing_since: Some(NOW),
                    ..row(name, status)
                };
                one(&failing, state, Attempt::default());
                list(&[failing], DomainPlan::Included, &choices(), Attempt::default());
            }
        }
    }
    let pending = row("reports.example.com", DomainStatus::Pending);
    for (form, field) in
        [("page", ""), ("check", ""), ("move", ""), ("move", "site"), ("primary", ""), ("delete", "")]
    {
        assert!(one(&pending, None, refused(form, field)).contains("role=\"alert\""), "{form}");
    }
    for field in ["", "hostname", "site"] {
        let html = list(&[], DomainPlan::Included, &choices(), refused("add", field));
        assert!(html.contains("role=\"alert\""), "{field}");
    }
}

#[test]
fn domains_are_added_only_with_a_plan_and_a_page() {
    let empty = list(&[], DomainPlan::Included, &choices(), Attempt::default());
    assert!(empty.contains("No domains yet") && empty.contains(ADD));
    let without_pages = list(&[], DomainPlan::Included, &[], Attempt::default());
    assert!(!without_pages.contains(ADD) && without_pages.contains("/dashboard/upload"));
    let (card, balance) = ("/unlocks/custom_domain/card#outcome", "/unlocks/custom_domain\"");
    for (plan, by_card, by_balance) in [
        (for_sale(0, true), true, false),
        (for_sale(200, true), true, true),
        (for_sale(200, false), false, true),
        (for_sale(0, false), false, false),
        (DomainPlan::Excluded, false, false),
    ] {
        let html = list(&[], plan, &choices(), Attempt::default());
        assert!(!html.contains(ADD), "{plan:?}");
        assert_eq!((html.contains(card), html.contains(balance)), (by_card, by_balance), "{plan:?}");
        assert_eq!(html.contains("Ask the operator"), matches!(plan, DomainPlan::Excluded));
    }
}

#[test]
fn the_page_refreshes_itself_only_while_something_is_under_way() {
    use CertificateState::{External, Failed, Issued, None, Pending};
    for (status, state, waits) in [
        (DomainStatus::Pending, None, true),
        (DomainStatus::Pending, External, true),
        (DomainStatus::Failed, None, true),
        (DomainStatus::Verified, Pending, true),
        (DomainStatus::Verified, Issued, false),
        (DomainStatus::Verified, Failed, false),
        (DomainStatus::Verified, External, false),
    ] {
        let html = one(&row("reports.example.com", status), state, Attempt::default());
        assert_eq!(html.contains(" data-waiting"), waits, "{status:?} {state:?}");
        assert_eq!(html.contains(">Open page</a>"), status == DomainStatus::Verified);
    }
}

#[test]
fn missing_records_name_the_day_on_which_the_domain_stops() {
    let failing = CustomDomain { failing_since: Some(NOW), ..row("a.example.com", DomainStatus::Verified) };
    let html = one(&failing, CertificateState::Issued, Attempt::default());
    assert!(html.contains("Needs attention") && html.contains(&Moment(NOW + 3 * 86_400).to_string()));
    let failed = CustomDomain { status: DomainStatus::Failed, ..failing };
    assert!(!one(&failed, CertificateState::Issued, Attempt::default()).contains("still works until"));
}

#[test]
fn a_bare_domain_gets_addresses_and_other_names_do_not() {
    let apex = one(&row("example.com", DomainStatus::Pending), CertificateState::None, Attempt::default());
    assert!(apex.contains(">A</code>") && apex.contains(">192.0.2.1</code>"));
    assert!(apex.contains(">AAAA</code>") && apex.contains(">2001:db8::1</code>") && apex.contains("ALIAS"));
    let name = row("reports.example.com", DomainStatus::Pending);
    let name = one(&name, CertificateState::None, Attempt::default());
    assert!(!name.contains("192.0.2.1") && name.contains("Cloudflare"));
    let unknown = row("example.com", DomainStatus::Pending);
    let unknown = shown_to(shell(), &unknown, CertificateState::None, Attempt::default(), &[]);
    assert!(unknown.contains("with the same address as"));
}

#[test]
fn suspended_owners_can_only_delete() {
    let suspended = Shell { is_suspended: true, ..shell() };
    let shown = row("reports.example.com", DomainStatus::Verified);
    let html = shown_to(suspended, &shown, CertificateState::Issued, Attempt::default(), &[]);
    for form in ["check", "page", "primary"] {
        assert!(!html.contains(&format!("/dashboard/domains/reports.example.com/{form}#outcome")), "{form}");
    }
    assert!(html.contains("/delete#outcome"));
}
