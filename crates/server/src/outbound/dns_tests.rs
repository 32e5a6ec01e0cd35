//! The resolver against a small DNS server.

use super::dns::DnsClient;
use super::dns_server::{DnsFault, DnsServer};
use crate::config::DnsSettings;
use dropleaf_app::{DnsFailure, DnsLookup};
use std::net::{IpAddr, Ipv4Addr};

const NAME: &str = "reports.customer.example";

fn client(server: &DnsServer) -> DnsClient {
    let settings = DnsSettings::parse(&[server.address()], 30).unwrap();
    DnsClient::new(&settings).unwrap()
}

#[tokio::test]
async fn records_are_read_and_chains_followed() {
    let server = DnsServer::start().await;
    let dns = client(&server);
    assert_eq!(dns.cname_chain(NAME).await, Ok(vec![]));
    assert_eq!(dns.txt(NAME).await, Ok(vec![]));
    assert_eq!(dns.addresses(NAME).await, Ok(vec![]));
    // A name that was just missing is looked up again: nothing is cached.
    server.cname(NAME, "Alias.Customer.EXAMPLE.");
    server.cname("alias.customer.example", "d-x.pages.example");
    server.address_of("d-x.pages.example", Ipv4Addr::new(192, 0, 2, 1));
    server.txt("_dropleaf.customer.example", "one");
    server.txt("_dropleaf.customer.example", "two");
    let chain = vec!["alias.customer.example".to_owned(), "d-x.pages.example".to_owned()];
    assert_eq!(dns.cname_chain("REPORTS.customer.example.").await, Ok(chain));
    assert_eq!(dns.txt("_dropleaf.customer.example").await, Ok(vec!["one".into(), "two".into()]));
    assert_eq!(dns.txt(NAME).await, Ok(vec![]));
    let found = dns.addresses(NAME).await;
    assert_eq!(found, Ok(vec![IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))]));
    server.clear(NAME);
    assert_eq!(dns.cname_chain(NAME).await, Ok(vec![]));
}

#[tokio::test]
async fn long_chains_and_loops_end() {
    let server = DnsServer::start().await;
    let dns = client(&server);
    server.cname("a.example", "b.example");
    server.cname("b.example", "a.example");
    assert_eq!(dns.cname_chain("a.example").await.unwrap_or_default().len().min(3), 2);
    for at in 0..20 {
        server.cname(&format!("n{at}.example"), &format!("n{}.example", at + 1));
    }
    assert!(dns.cname_chain("n0.example").await.unwrap().len() <= 8);
}

#[tokio::test]
async fn a_failing_server_says_nothing_about_the_name() {
    let server = DnsServer::start().await;
    let dns = client(&server);
    server.cname(NAME, "d-x.pages.example");
    for fault in [DnsFault::ServFail, DnsFault::Refused] {
        server.fails(NAME, fault);
        assert!(matches!(dns.cname_chain(NAME).await, Err(DnsFailure::Temporary(_))), "{fault:?}");
        assert!(matches!(dns.addresses(NAME).await, Err(DnsFailure::Temporary(_))), "{fault:?}");
    }
    let nobody = DnsSettings::parse(&["127.0.0.1:1".into()], 1).unwrap();
    let unreachable = DnsClient::new(&nobody).unwrap().txt(NAME).await;
    assert!(matches!(unreachable, Err(DnsFailure::Temporary(_))), "{unreachable:?}");
}

#[tokio::test]
async fn records_of_other_names_are_not_taken_for_those_of_the_name() {
    let server = DnsServer::start().await;
    let dns = client(&server);
    server.cname(NAME, "d-x.pages.example");
    server.fails(NAME, DnsFault::Lies);
    assert_eq!(dns.cname_chain(NAME).await.unwrap_or_default(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_given_up() {
    let server = DnsServer::start().await;
    server.fails(NAME, DnsFault::Silent);
    let answer = client(&server).txt(NAME).await;
    assert!(matches!(answer, Err(DnsFailure::Temporary(_))), "{answer:?}");
}
