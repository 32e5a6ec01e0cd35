//! Which certificate a name gets, and what that costs.

use super::super::test_certificates::{FakeSource, TestCertificate, write};
use super::*;
use dropleaf_core::host::Origin;
use futures_util::future::join_all;
use tempfile::TempDir;

fn hosts() -> Hosts {
    let base = Origin::parse("https://api.example.com").unwrap();
    let site = Origin::parse("https://pages.example.net").unwrap();
    Hosts::new(base, site, "pages.example.net".into(), true)
}

fn acme(source: &Arc<FakeSource>) -> ServedCertificates {
    ServedCertificates::with_source(&hosts(), TlsMode::Acme, None, Arc::clone(source) as _).unwrap()
}

async fn config(certificates: &ServedCertificates, name: &str) -> Option<Arc<ServerConfig>> {
    match certificates.choose(Some(name), false).await {
        Choice::Serve(config) => Some(config),
        _ => None,
    }
}

#[tokio::test]
async fn unknown_names_cost_no_storage_access() {
    let source = FakeSource::serving(&["reports.customer.example"]);
    source.issue("reports.customer.example", "1");
    let certificates = acme(&source);
    for name in
        ["example.com", "other.customer.example", "a.reports.customer.example", "evilpages.example.net"]
    {
        for is_authority in [false, true] {
            let choice = certificates.choose(Some(name), is_authority).await;
            assert!(matches!(choice, Choice::UnknownName), "{name}");
        }
    }
    assert_eq!(source.reads(), 0);
    assert!(config(&certificates, "reports.customer.example").await.is_some());
    assert!(config(&certificates, "reports.customer.example").await.is_some());
    assert_eq!(source.reads(), 1);
}

#[tokio::test]
async fn hosts_of_pages_share_the_wildcard_and_one_lookup() {
    let source = FakeSource::serving(&[]);
    source.issue("*.pages.example.net", "1");
    let certificates = acme(&source);
    let first = config(&certificates, "s-0.pages.example.net").await.unwrap();
    for page in 1..100 {
        let next = config(&certificates, &format!("s-{page}.pages.example.net")).await.unwrap();
        assert!(Arc::ptr_eq(&first, &next));
    }
    assert_eq!(source.reads(), 1);
    assert!(config(&certificates, "a.b.pages.example.net").await.is_none(), "no certificate covers it");
    assert_eq!(source.reads(), 1);
}

#[tokio::test]
async fn own_name_below_the_page_host_prefers_its_own_certificate() {
    let source = FakeSource::serving(&[]);
    source.issue("*.pages.example.net", "1");
    let hosts = hosts().with_agents(Origin::parse("https://www.pages.example.net").unwrap()).unwrap();
    let new =
        || ServedCertificates::with_source(&hosts, TlsMode::Acme, None, Arc::clone(&source) as _).unwrap();
    let certificates = new();
    let wildcard = config(&certificates, "s-1.pages.example.net").await.unwrap();
    assert!(Arc::ptr_eq(&wildcard, &config(&certificates, "www.pages.example.net").await.unwrap()));
    source.issue("www.pages.example.net", "2");
    let certificates = new();
    let wildcard = config(&certificates, "s-1.pages.example.net").await.unwrap();
    assert!(!Arc::ptr_eq(&wildcard, &config(&certificates, "www.pages.example.net").await.unwrap()));
}

#[tokio::test]
async fn without_a_server_name_the_certificate_is_that_of_the_api() {
    let source = FakeSource::serving(&[]);
    source.issue("api.example.com", "1");
    let certificates = acme(&source);
    let Choice::Serve(found) = certificates.choose(None, false).await else { panic!("a certificate") };
    assert!(Arc::ptr_eq(&found, &config(&certificates, "api.example.com").await.unwrap()));
}

#[tokio::test]
async fn concurrent_lookups_of_a_name_share_one_query() {
    let source = FakeSource::serving(&["a.example", "b.example"]);
    source.issue("a.example", "1");
    let certificates = acme(&source);
    let pause = source.pause_reads().await;
    let lookups = join_all((0..50).map(|_| config(&certificates, "a.example")));
    let (found, ()) = futures_util::future::join(lookups, async {
        tokio::task::yield_now().await;
        drop(pause);
    })
    .await;
    assert!(found.iter().all(Option::is_some));
    assert_eq!(source.reads(), 1);
}

#[tokio::test(start_paused = true)]
async fn missing_certificate_is_looked_up_again_after_seconds() {
    let source = FakeSource::serving(&["a.example"]);
    let certificates = acme(&source);
    for _ in 0..100 {
        let choice = certificates.choose(Some("a.example"), false).await;
        assert!(matches!(choice, Choice::NoCertificate));
    }
    assert_eq!(source.reads(), 1);
    source.issue("a.example", "1");
    tokio::time::advance(MISSING_FOR).await;
    assert!(config(&certificates, "a.example").await.is_some());
    assert_eq!(source.reads(), 2);
}

#[tokio::test(start_paused = true)]
async fn database_that_fails_is_not_asked_at_every_handshake() {
    let source = FakeSource::serving(&["a.example"]);
    source.issue("a.example", "1");
    source.fail(true);
    let certificates = acme(&source);
    for _ in 0..100 {
        assert!(config(&certificates, "a.example").await.is_none());
    }
    assert_eq!(source.reads(), 1);
    source.fail(false);
    tokio::time::advance(FAILED_FOR).await;
    assert!(config(&certificates, "a.example").await.is_some());
}

#[tokio::test]
async fn renewed_certificate_replaces_the_old_one_and_no_other() {
    let source = FakeSource::serving(&["a.example", "b.example", "c.example", "d.example"]);
    for name in ["a.example", "b.example", "c.example"] {
        source.issue(name, "1");
    }
    let certificates = acme(&source);
    certificates.refresh().await.unwrap();
    let [a, b, _c] =
        join_all(["a.example", "b.example", "c.example"].map(|name| config(&certificates, name)))
            .await
            .try_into()
            .unwrap();
    assert!(config(&certificates, "d.example").await.is_none());
    source.issue("a.example", "2");
    source.issue("d.example", "1");
    source.remove("c.example");
    assert!(Arc::ptr_eq(&a.clone().unwrap(), &config(&certificates, "a.example").await.unwrap()));
    certificates.refresh().await.unwrap();
    assert!(!Arc::ptr_eq(&a.unwrap(), &config(&certificates, "a.example").await.unwrap()));
    let reads = source.reads();
    assert!(Arc::ptr_eq(&b.unwrap(), &config(&certificates, "b.example").await.unwrap()));
    assert_eq!(source.reads(), reads);
    assert!(config(&certificates, "c.example").await.is_none());
    assert!(config(&certificates, "d.example").await.is_some(), "the miss is forgotten");
    let a = config(&certificates, "a.example").await.unwrap();
    certificates.invalidate("a.example");
    assert!(!Arc::ptr_eq(&a, &config(&certificates, "a.example").await.unwrap()));
}

#[tokio::test]
async fn lookup_that_began_before_a_renewal_is_not_kept() {
    let source = FakeSource::serving(&["a.example"]);
    source.issue("a.example", "1");
    let certificates = acme(&source);
    certificates.refresh().await.unwrap();
    let pause = source.pause_reads().await;
    let (old, ()) = futures_util::future::join(config(&certificates, "a.example"), async {
        // The lookup has read the old row and is held.
        source.issue("a.example", "2");
        certificates.refresh().await.unwrap();
        drop(pause);
    })
    .await;
    let new = config(&certificates, "a.example").await.unwrap();
    assert!(!Arc::ptr_eq(&old.unwrap(), &new));
    assert!(Arc::ptr_eq(&new, &config(&certificates, "a.example").await.unwrap()));
}

#[tokio::test]
async fn files_are_used_for_the_names_they_cover() {
    let dir = TempDir::new().unwrap();
    write(dir.path(), &TestCertificate::new(&["*.pages.example.net", "alias.example"]));
    let paths = ["cert.pem", "key.pem"].map(|name| dir.path().join(name).display().to_string());
    let source = FakeSource::serving(&["a.example"]);
    source.issue("api.example.com", "1");
    source.issue("*.pages.example.net", "1");
    let new = |mode| {
        let files = Some((paths[0].as_str(), paths[1].as_str()));
        ServedCertificates::with_source(&hosts(), mode, files, Arc::clone(&source) as _).unwrap()
    };
    let certificates = new(TlsMode::Acme);
    let page = config(&certificates, "s-1.pages.example.net").await.unwrap();
    assert!(Arc::ptr_eq(&page, &config(&certificates, "alias.example").await.unwrap()));
    assert_eq!(source.reads(), 0);
    assert!(!Arc::ptr_eq(&page, &config(&certificates, "api.example.com").await.unwrap()));
    assert_eq!(source.reads(), 1);
    let certificates = new(TlsMode::Files);
    let file = config(&certificates, "alias.example").await.unwrap();
    for name in ["api.example.com", "pages.example.net", "a.example"] {
        assert!(
            Arc::ptr_eq(&file, &config(&certificates, name).await.unwrap()),
            "the client decides: {name}"
        );
    }
    assert!(matches!(certificates.choose(Some("b.example"), false).await, Choice::UnknownName));
    assert!(matches!(certificates.choose(Some("a.example"), true).await, Choice::NoCertificate));
    assert_eq!(source.reads(), 1);
}
