//! Signals after publishing: what puts a page before the operator, what does not, and that a decision lasts.

use crate::fixture::{DAY, Fixture, HOUR, fresh};
use dropleaf_app::{Caller, PageKey, Upload};
use dropleaf_core::attention::{AttentionRules, OnSignal, Signal};
use dropleaf_core::options::UploadOptions;
use dropleaf_core::report::{Reason, ReportContent};
use dropleaf_core::site::Site;
use std::net::IpAddr;

const SIGN_IN: &str = "<h1>Members</h1><form><label>Password <input type=password name=p></label></form>";
const ARTICLE: &str = "<h1>Pears</h1><p>All about pears.</p>";

fn rules(on_signal: OnSignal) -> AttentionRules {
    AttentionRules { on_signal, reports: 2, views: 3, views_seconds: 2 * HOUR, copies: 2 }
}

async fn open(on_signal: OnSignal) -> Fixture {
    Fixture::open_where(|settings| settings.safety.attention = rules(on_signal)).await
}

fn network(number: u8) -> IpAddr {
    [198, 51, 100, number].into()
}

async fn publish_from(fixture: &Fixture, who: Option<usize>, html: &str, ip: IpAddr) -> Site {
    let caller = Caller { ip: Some(ip), ..fixture.caller(who) };
    let upload = Upload::html(html.to_owned());
    let create = fixture.app.create_site(&caller, upload, UploadOptions::default(), None, |_| Vec::new());
    fresh(Box::pin(create).await.unwrap()).site
}

async fn publish(fixture: &Fixture, who: Option<usize>, html: &str) -> Site {
    publish_from(fixture, who, html, network(1)).await
}

async fn view(fixture: &Fixture, site: &Site, times: usize) {
    for _ in 0..times {
        fixture.app.count_view(site);
    }
    fixture.app.flush_views().await.unwrap();
}

async fn report(fixture: &Fixture, site: &Site, ip: IpAddr) {
    let content = ReportContent { reason: Reason::Phishing, comment: None, contact: None };
    fixture.app.report_page(site, Some(ip), content).await.unwrap();
}

/// The signals that wait for the operator, by site.
async fn waiting(fixture: &Fixture) -> Vec<(String, Signal)> {
    let reports = fixture.app.list_reports(true, 100).await.unwrap();
    let signals = reports.into_iter().filter_map(|page| Some((page.report.site_id, page.report.signal?)));
    let mut signals: Vec<_> = signals.collect();
    signals.sort_by(|(one, _), (other, _)| one.cmp(other));
    signals
}

/// How many pages this sweep puts before the operator.
async fn sweep(fixture: &Fixture) -> usize {
    fixture.app.sweep().await.unwrap().raised
}

async fn is_warned(fixture: &Fixture, site: &Site) -> bool {
    let key = PageKey::token(&site.token).unwrap();
    let page = fixture.app.open_page(&key).await.unwrap().unwrap();
    fixture.app.warns_before(&page.site)
}

#[tokio::test]
async fn many_views_of_a_young_page_that_asks_for_a_password_are_a_signal_once() {
    let fixture = open(OnSignal::Operator).await;
    let site = publish(&fixture, None, SIGN_IN).await;
    view(&fixture, &site, 2).await;
    assert_eq!(sweep(&fixture).await, 0, "one below the threshold");
    view(&fixture, &site, 1).await;
    assert_eq!(sweep(&fixture).await, 1);
    assert_eq!(waiting(&fixture).await, [(site.id.clone(), Signal::ManyViews)]);
    let cases = fixture.app.list_cases(None, 10).await.unwrap();
    let said = cases[0].reports[0].content.comment.as_deref().unwrap();
    assert_eq!(said, "It asks for a password and had 3 views within a minute.");
    assert!(cases[0].reasons.is_empty(), "no viewer reported it");
    view(&fixture, &site, 5).await;
    assert_eq!(sweep(&fixture).await, 0);
    assert!(!is_warned(&fixture, &site).await);
}

#[tokio::test]
async fn owned_old_and_harmless_pages_may_be_viewed_often() {
    let fixture = open(OnSignal::Interstitial).await;
    let owned = publish(&fixture, Some(0), SIGN_IN).await;
    let harmless = publish(&fixture, None, ARTICLE).await;
    let old = publish(&fixture, None, SIGN_IN).await;
    for site in [&owned, &harmless] {
        view(&fixture, site, 9).await;
    }
    fixture.clock.advance(2 * HOUR);
    view(&fixture, &old, 9).await;
    assert_eq!(sweep(&fixture).await, 0);
    assert!(waiting(&fixture).await.is_empty());
    view(&fixture, &harmless, 9).await;
    assert_eq!(sweep(&fixture).await, 0);
}

#[tokio::test]
async fn dismissed_signal_stays_dismissed_for_this_version() {
    let fixture = open(OnSignal::Interstitial).await;
    let site = publish(&fixture, None, SIGN_IN).await;
    view(&fixture, &site, 3).await;
    assert_eq!(sweep(&fixture).await, 1);
    assert!(is_warned(&fixture, &site).await);
    let dismissed = fixture.app.dismiss_reports("op", &site.id, "a demo").await.unwrap();
    assert_eq!(dismissed.count, 1);
    assert!(!is_warned(&fixture, &site).await, "at once");
    for _ in 0..2 {
        view(&fixture, &site, 3).await;
        assert_eq!(sweep(&fixture).await, 0);
    }
    let audit = fixture.app.list_audit_about(&site.id, 10).await.unwrap();
    assert_eq!(audit.len(), 1, "{audit:?}");
}

#[tokio::test]
async fn reports_count_by_network_and_only_while_they_are_open() {
    let fixture = open(OnSignal::Interstitial).await;
    let site = publish(&fixture, Some(0), ARTICLE).await;
    for _ in 0..3 {
        report(&fixture, &site, network(1)).await;
    }
    report(&fixture, &site, "2001:db8:1:2::1".parse().unwrap()).await;
    fixture.app.dismiss_reports("op", &site.id, "").await.unwrap();
    for address in ["2001:db8:1:2::1", "2001:db8:1:3::1"] {
        report(&fixture, &site, address.parse().unwrap()).await;
    }
    assert_eq!(sweep(&fixture).await, 0, "one /48, and what was dismissed does not count");
    report(&fixture, &site, network(2)).await;
    assert_eq!(sweep(&fixture).await, 1);
    assert_eq!(waiting(&fixture).await, [(site.id.clone(), Signal::ManyReports)]);
    assert!(is_warned(&fixture, &site).await);
    fixture.app.take_down("op", &site.id, "phishing").await.unwrap();
    assert!(waiting(&fixture).await.is_empty());
    assert_eq!(sweep(&fixture).await, 0);
}

#[tokio::test]
async fn same_document_from_many_networks_is_a_signal_about_each_copy_until_it_is_dismissed() {
    let fixture = open(OnSignal::Interstitial).await;
    let one = publish_from(&fixture, None, ARTICLE, network(1)).await;
    publish_from(&fixture, None, "<p>Something else</p>", network(9)).await;
    let again = publish_from(&fixture, None, ARTICLE, network(1)).await;
    publish_from(&fixture, Some(0), ARTICLE, network(3)).await;
    assert_eq!(sweep(&fixture).await, 0, "accounts do not count");
    let other = publish_from(&fixture, None, ARTICLE, network(2)).await;
    assert_eq!(sweep(&fixture).await, 3);
    let mut expected = [&one, &again, &other].map(|site| (site.id.clone(), Signal::ManyCopies));
    expected.sort_by(|(one, _), (other, _)| one.cmp(other));
    assert_eq!(waiting(&fixture).await, expected);
    fixture.app.dismiss_reports("op", &one.id, "an example").await.unwrap();
    let late = publish_from(&fixture, None, ARTICLE, network(4)).await;
    assert_eq!(sweep(&fixture).await, 0);
    assert!(is_warned(&fixture, &again).await && !is_warned(&fixture, &late).await);
}

#[tokio::test]
async fn sweep_looks_at_a_bounded_number() {
    let fixture = open(OnSignal::Operator).await;
    let mut sites = Vec::new();
    for number in 0..30 {
        let html = format!("{SIGN_IN}<p>{number}</p>");
        sites.push(publish(&fixture, None, &html).await);
    }
    for site in &sites {
        view(&fixture, site, 3).await;
    }
    assert_eq!((sweep(&fixture).await, sweep(&fixture).await, sweep(&fixture).await), (25, 5, 0));
}

#[tokio::test]
async fn queue_has_a_bounded_number_of_copies_unless_viewers_are_warned() {
    for (on_signal, expected) in [(OnSignal::Operator, [20, 0, 0]), (OnSignal::Interstitial, [20, 4, 0])] {
        let fixture = open(on_signal).await;
        for number in 0..24 {
            publish_from(&fixture, None, ARTICLE, network(number)).await;
        }
        let raised = [sweep(&fixture).await, sweep(&fixture).await, sweep(&fixture).await];
        assert_eq!(raised, expected);
    }
}

#[tokio::test]
async fn nothing_happens_if_it_is_off() {
    let fixture = open(OnSignal::Off).await;
    let site = publish_from(&fixture, None, SIGN_IN, network(1)).await;
    publish_from(&fixture, None, SIGN_IN, network(2)).await;
    view(&fixture, &site, 9).await;
    for number in 0..5 {
        report(&fixture, &site, network(number)).await;
    }
    assert_eq!(sweep(&fixture).await, 0);
    assert!(waiting(&fixture).await.is_empty() && !is_warned(&fixture, &site).await);
}

#[tokio::test]
async fn page_that_ended_meanwhile_is_left_alone() {
    let fixture = open(OnSignal::Operator).await;
    let site = publish(&fixture, None, SIGN_IN).await;
    view(&fixture, &site, 3).await;
    fixture.clock.advance(DAY + 1);
    assert_eq!(sweep(&fixture).await, 0);
    assert!(waiting(&fixture).await.is_empty());
}
