//! Each planted fault is found and its fix named: DNS, certificates, proxies.

use super::tests::{DAY, NOW, is};
use super::*;
use std::net::IpAddr;

const CLAIMED: &str = "192.0.2.77";

fn ips(list: &[&str]) -> Vec<IpAddr> {
    list.iter().map(|ip| ip.parse().unwrap()).collect()
}

#[test]
fn names_without_records() {
    let name = |addresses: Addresses| {
        dns(&[NameFacts { setting: "base_url", host: "api.example.com".into(), is_fixed: false, addresses }])
    };
    is(&name(Ok(ips(&["203.0.113.1"]))), Status::Ok, "");
    is(&name(Ok(Vec::new())), Status::Problem, "A record");
    is(&name(Err("no answer".into())), Status::NotChecked, "dns.servers");
}

#[test]
fn a_missing_wildcard() {
    let facts = WildcardFacts {
        site_host: "pages.example.net".into(),
        is_needed: true,
        is_local: false,
        random: Ok(ips(&["203.0.113.1"])),
        own: ips(&["203.0.113.1", "203.0.113.2"]),
    };
    is(&wildcard_dns(&facts), Status::Ok, "");
    let missing = WildcardFacts { random: Ok(Vec::new()), ..facts.clone() };
    is(&wildcard_dns(&missing), Status::Problem, "`*.pages.example.net`");
    is(&wildcard_dns(&WildcardFacts { is_needed: false, ..missing }), Status::Ok, "");
    is(
        &wildcard_dns(&WildcardFacts { random: Ok(ips(&["198.51.100.1"])), ..facts }),
        Status::Warning,
        "203.0.113.1",
    );
}

fn arrived(peer: &str, forwarded_for: &[&str]) -> Arrived {
    Arrived {
        host: "api.example.com".into(),
        has_tls: false,
        peer: peer.parse().unwrap(),
        forwarded_for: forwarded_for.iter().map(|line| (*line).to_owned()).collect(),
        forwarded_proto: None,
        has_via: false,
        version: "1".into(),
        open_files: None,
    }
}

#[test]
fn a_server_that_only_this_machine_can_reach() {
    let facts = Reachability {
        listen: "127.0.0.1:8080".into(),
        listens_on_loopback: true,
        url: "https://api.example.com".into(),
        is_local: false,
        ends_tls: false,
        addresses: ips(&["203.0.113.1"]),
        has_address: false,
        self_check: SelfCheck::Unreachable("refused".into()),
    };
    is(&reachability(&facts), Status::Problem, "listen = \"0.0.0.0:8080\"");
    is(
        &reachability(&Reachability { ends_tls: true, ..facts.clone() }),
        Status::Problem,
        "listen = \"0.0.0.0:443\"",
    );
    let outside = Reachability { listens_on_loopback: false, ..facts.clone() };
    is(&reachability(&outside), Status::NotChecked, "curl -i https://api.example.com/healthz");
    let answered = SelfCheck::Answered(arrived("127.0.0.1:4000", &[]));
    is(&reachability(&Reachability { self_check: answered, ..facts.clone() }), Status::Ok, "");
    is(&reachability(&Reachability { is_local: true, ..facts }), Status::Ok, "");
}

#[test]
fn certificates_that_clients_refuse() {
    use CertificateSource::{Acme, Files, Proxy};
    let good = Presented {
        not_before: NOW - 10 * DAY,
        not_after: NOW + 80 * DAY,
        covers_name: true,
        untrusted: None,
    };
    let with = |presented: Presented, source| {
        let names = [NamedCertificate { name: "api.example.com".into(), presented: Ok(presented) }];
        certificates(&names, source, NOW, true)
    };
    is(&with(good.clone(), Proxy), Status::Ok, "");
    let expired = Presented { not_after: NOW - DAY, ..good.clone() };
    is(&with(expired.clone(), Files), Status::Problem, "tls.cert_file");
    is(&with(expired.clone(), Acme), Status::Problem, "dropleaf certs renew");
    is(&with(expired, Proxy), Status::Problem, "reverse proxy");
    is(&with(Presented { not_before: NOW + DAY, ..good.clone() }, Files), Status::Problem, "timedatectl");
    is(
        &with(Presented { covers_name: false, ..good.clone() }, Files),
        Status::Problem,
        "covers api.example.com",
    );
    is(
        &with(Presented { untrusted: Some("unknown issuer".into()), ..good.clone() }, Files),
        Status::Problem,
        "fullchain.pem",
    );
    is(
        &with(Presented { not_after: NOW + 10 * DAY, not_before: NOW - 80 * DAY, ..good }, Files),
        Status::Warning,
        "tls.cert_file",
    );
    let silent = [NamedCertificate { name: "*.pages.example.net".into(), presented: Err("refused".into()) }];
    is(&certificates(&silent, Acme, NOW, true), Status::Problem, "tls.acme.dns_hook");
    is(&certificates(&silent, Files, NOW, false), Status::NotChecked, "");
    is(&certificates(&[], Proxy, NOW, true), Status::Ok, "");
}

#[test]
fn a_public_address_that_does_not_lead_here() {
    let judge = |result: &SelfCheck| public_address(result, "https://api.example.com", "127.0.0.1:8080");
    is(&judge(&SelfCheck::Unreachable("refused".into())), Status::Problem, "forwards to 127.0.0.1:8080");
    is(&judge(&SelfCheck::Foreign { status: 502 }), Status::Problem, "reverse_proxy 127.0.0.1:8080");
    is(&judge(&SelfCheck::Foreign { status: 404 }), Status::Problem, "secret_key");
    is(&judge(&SelfCheck::Stopped), Status::NotChecked, "");
    is(&judge(&SelfCheck::Answered(arrived("127.0.0.1:1", &[]))), Status::Ok, "");
}

#[test]
fn a_proxy_that_changes_the_host() {
    let with = |host_header: &str| {
        let arrived = Arrived { host: host_header.into(), ..arrived("127.0.0.1:1", &[]) };
        host(&SelfCheck::Answered(arrived), "api.example.com", "https")
    };
    is(&with("API.example.com"), Status::Ok, "");
    is(&with("api.example.com:443"), Status::Ok, "");
    is(&with("127.0.0.1:8080"), Status::Problem, "proxy_set_header Host $http_host;");
    let plain = Arrived { forwarded_proto: Some("http".into()), ..arrived("127.0.0.1:1", &[]) };
    is(&host(&SelfCheck::Answered(plain), "api.example.com", "https"), Status::Warning, "HTTPS");
}

fn client(peer: &str, forwarded: &[&str], trusted: &[&str], is_https: bool) -> Finding {
    let result = SelfCheck::Answered(arrived(peer, forwarded));
    let trusted: Vec<ipnet::IpNet> = trusted.iter().map(|net| net.parse().unwrap()).collect();
    client_address(&ClientAddressFacts {
        result: &result,
        local: Some("10.0.0.9:5000".parse().unwrap()),
        claimed: CLAIMED.parse().unwrap(),
        trusted: &trusted,
        is_https,
    })
}

#[test]
fn a_proxy_that_hides_clients_or_lets_them_lie() {
    let both = "192.0.2.77, 10.0.0.9";
    is(&client("10.0.0.9:5000", &[CLAIMED], &[], true), Status::Ok, "");
    is(&client("10.0.0.2:1", &[both], &["10.0.0.2/32"], true), Status::Ok, "");
    is(&client("10.0.0.2:1", &["10.0.0.9"], &["10.0.0.2/32"], true), Status::Ok, "");
    // On the machine of the proxy itself.
    is(&client("10.0.0.2:1", &["192.0.2.77, 10.0.0.2"], &["10.0.0.2/32"], true), Status::Ok, "");
    is(&client("10.0.0.2:1", &[both], &[], true), Status::Problem, "trusted_proxies = [\"10.0.0.2\"]");
    is(&client("10.0.0.2:1", &[], &["10.0.0.2/32"], true), Status::Problem, "X-Forwarded-For $proxy_add");
    is(&client("10.0.0.2:1", &[], &[], true), Status::Problem, "trusted_proxies");
    is(
        &client("10.0.0.2:1", &[CLAIMED], &["10.0.0.2/32"], true),
        Status::Problem,
        "X-Forwarded-For $proxy_add",
    );
    // Behind a router, nothing can be said.
    is(&client("10.0.0.1:1", &[CLAIMED], &[], false), Status::NotChecked, "");
    is(&client("127.0.0.1:1", &[CLAIMED], &[], false), Status::Problem, "trusted_proxies");
}

#[test]
fn a_list_of_proxies_that_trusts_everybody() {
    let judge =
        |list: &[&str]| trusted_proxies(&list.iter().map(|net| net.parse().unwrap()).collect::<Vec<_>>());
    is(&judge(&[]), Status::Ok, "");
    is(&judge(&["127.0.0.1/32", "10.0.0.0/8"]), Status::Ok, "");
    is(&judge(&["0.0.0.0/0"]), Status::Problem, "trusted_proxies");
    is(&judge(&["127.0.0.1/32", "::/0"]), Status::Problem, "trusted_proxies");
}

#[test]
fn a_proxy_that_limits_bodies_and_headers_or_buffers() {
    let limit = 25 << 20;
    is(&upload_size(&Delivery::Complete, limit), Status::Ok, "");
    is(&upload_size(&Delivery::Refused { status: 413 }, limit), Status::Problem, "client_max_body_size 25m;");
    is(&upload_size(&Delivery::Broken("closed".into()), limit), Status::Problem, "client_max_body_size 25m;");
    is(&upload_size(&Delivery::NotSent, limit), Status::NotChecked, "");
    is(&large_headers(&Delivery::Refused { status: 400 }), Status::Warning, "large_client_header_buffers");
    is(&large_headers(&Delivery::Complete), Status::Ok, "");
    is(&streaming(&Delivery::Broken("together".into())), Status::Warning, "proxy_buffering off;");
    is(&streaming(&Delivery::Complete), Status::Ok, "");
}
