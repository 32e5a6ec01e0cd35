//! `/dashboard/domains`: a domain is added, explained, verified, moved and deleted by forms, and only by its owner.

use crate::domains::{NAME, with_dns};
use crate::harness::{DAY, DnsFault, DnsServer, Form, Node, Person, Setup, on_each_database, page};
use crate::moderation::suspension::key_of;
use serde_json::Value;
use std::net::Ipv4Addr;

const HERE: &str = "/dashboard/domains";

fn at(form: &str) -> String {
    format!("{HERE}/{NAME}{form}")
}

async fn publish(node: &Node, person: &Person<'_>, title: &str) -> Value {
    let key = key_of(node, person).await;
    node.publish_as(&key, Form::file("a.html", page(title))).await
}

async fn add(person: &Person<'_>, hostname: &str, site: &Value) -> String {
    let fields = [("hostname", hostname), ("site", site["id"].as_str().unwrap()), ("primary", "yes")];
    let added = person.submit(HERE, &fields).await.expect(303);
    added.header("location").to_owned()
}

/// What the record of a domain must lead to, as its page says.
async fn target(person: &Person<'_>, hostname: &str) -> String {
    let text = person.get(&format!("{HERE}/{hostname}")).await.expect(200).text();
    let (_, rest) = text.split_once("<code id=\"record-0-value\">").unwrap();
    rest.split('<').next().unwrap().to_owned()
}

async fn check(person: &Person<'_>) -> String {
    let sent = person.submit(&at("/check"), &[]).await.expect(303);
    assert_eq!(sent.header("location"), at("?done=domain-checked#outcome"));
    person.get(sent.header("location")).await.expect(200).text()
}

/// Whether the page has a chip with this text.
fn has_chip(html: &str, text: &str) -> bool {
    html.contains(&format!("\">{text}</li>")) || html.contains(&format!("\">{text}</span>"))
}

#[tokio::test]
async fn a_domain_is_added_explained_verified_and_deleted() {
    let dns = DnsServer::start().await;
    on_each_database(
        || with_dns(&dns),
        async |node| {
            dns.clear(NAME);
            let ada = node.newcomer_on("solo").await;
            let site = publish(node, &ada, "Quarterly report").await;
            let empty = ada.get(HERE).await.expect(200).text();
            assert!(empty.contains("No domains yet") && empty.contains(">Quarterly report</option>"));
            let location = add(&ada, "Reports.CUSTOMER.example.", &site).await;
            assert_eq!(location, at("?done=domain-added#outcome"));
            let shown = ada.get(&location).await.expect(200).text();
            assert!(shown.contains("Domain added.") && has_chip(&shown, "Pending"), "{shown}");
            assert!(shown.contains("Not checked yet.") && shown.contains(" data-waiting"));
            let target = target(&ada, NAME).await;

            let waiting = check(&ada).await;
            assert!(waiting.contains("No record yet.") && has_chip(&waiting, "Pending"), "{waiting}");
            dns.fails(NAME, DnsFault::ServFail);
            let unknown = check(&ada).await;
            assert!(unknown.contains("could not be checked") && has_chip(&unknown, "Pending"), "{unknown}");
            dns.clear(NAME);
            dns.cname(NAME, "other.example");
            let wrong = check(&ada).await;
            assert!(wrong.contains("We found a CNAME to other.example"), "{wrong}");
            assert!(
                has_chip(&wrong, "Needs attention") && wrong.contains(" data-waiting"),
                "it is checked again"
            );
            dns.cname(NAME, &target);
            let right = check(&ada).await;
            assert!(has_chip(&right, "Verified") && has_chip(&right, "Main address"), "{right}");
            let list = ada.get(HERE).await.expect(200).text();
            assert!(
                list.contains(&format!("href=\"{HERE}/{NAME}\"")) && has_chip(&list, "Verified"),
                "{list}"
            );
            let own = format!("/dashboard/pages/{}", site["id"].as_str().unwrap());
            let own = ada.get(&own).await.expect(200).text();
            assert!(own.contains(&format!("href=\"{HERE}/{NAME}\"")) && has_chip(&own, "Verified"), "{own}");

            let gone = ada.submit(&at("/delete"), &[]).await.expect(303);
            assert_eq!(gone.header("location"), "/dashboard/domains?done=domain-deleted#outcome");
            ada.get(&at("")).await.expect(404);
            for form in ["/check", "/page", "/primary", "/delete"] {
                ada.submit(&at(form), &[("site", site["id"].as_str().unwrap())]).await.expect(404);
            }
            assert_eq!(node.count("SELECT COUNT(*) FROM custom_domains").await, 0);
        },
    )
    .await;
}

#[tokio::test]
async fn a_domain_moves_to_another_page_and_stops_being_its_address() {
    let node = Node::start().await;
    let ada = node.newcomer_on("solo").await;
    let (first, second) = (publish(&node, &ada, "First").await, publish(&node, &ada, "Second").await);
    add(&ada, NAME, &first).await;
    let moved = ada.submit(&at("/page"), &[("site", second["id"].as_str().unwrap())]).await.expect(303);
    let shown = ada.get(moved.header("location")).await.expect(200).text();
    assert!(shown.contains("The domain now shows this page.") && shown.contains(">Second</a>"), "{shown}");
    for (sent, button) in [("no", "value=\"yes\""), ("yes", "value=\"no\"")] {
        let saved = ada.submit(&at("/primary"), &[("primary", sent)]).await.expect(303);
        let shown = ada.get(saved.header("location")).await.expect(200).text();
        assert!(shown.contains(&format!("name=\"primary\" {button}")), "{shown}");
    }
    let others = node.newcomer_on("solo").await;
    let foreign = publish(&node, &others, "Foreign").await;
    for site in ["", "nothing", foreign["id"].as_str().unwrap()] {
        let refused = ada.submit(&at("/page"), &[("site", site)]).await.expect(404).text();
        assert!(refused.contains("role=\"alert\"") && refused.contains(">Second</a>"), "{refused}");
    }
}

#[tokio::test]
async fn refused_names_come_back_with_the_reason_and_what_was_typed() {
    let node = Node::start().await;
    let ada = node.newcomer_on("solo").await;
    let site = publish(&node, &ada, "Mine").await;
    let id = site["id"].as_str().unwrap();
    for (typed, why) in [
        ("", "The domain must be"),
        ("localhost", "below a public suffix"),
        ("192.0.2.1", "not an IP address"),
        ("\"><b>x", "The domain must be"),
    ] {
        let text = ada.submit(HERE, &[("hostname", typed), ("site", id)]).await.expect(400).text();
        assert!(text.contains(why) && text.contains("aria-invalid=\"true\""), "{typed}: {text}");
        assert!(!text.contains("<b>x"));
    }
    add(&ada, NAME, &site).await;
    let twice = ada.submit(HERE, &[("hostname", NAME), ("site", id)]).await.expect(409).text();
    assert!(twice.contains("You have already added this domain."), "{twice}");
    let nowhere = ada.submit(HERE, &[("hostname", "a.customer.example"), ("site", "x")]).await.expect(404);
    assert!(nowhere.text().contains("role=\"alert\""));
    let chosen = ada.get(&format!("{HERE}?page={id}")).await.expect(200).text();
    assert!(chosen.contains(&format!("<option value=\"{id}\" selected>")), "{chosen}");
    for other in ["x", "site_00000000000000000000"] {
        ada.get(&format!("{HERE}?page={other}")).await.expect(200);
    }
}

#[tokio::test]
async fn domains_of_others_are_not_there() {
    let node = Node::start().await;
    let (ada, eve) = (node.newcomer_on("solo").await, node.newcomer_on("solo").await);
    let site = publish(&node, &ada, "Mine").await;
    add(&ada, NAME, &site).await;
    eve.get(&at("")).await.expect(404);
    assert!(!eve.get(HERE).await.expect(200).text().contains(NAME));
    for form in ["/check", "/page", "/primary", "/delete"] {
        eve.submit(&at(form), &[("site", "x")]).await.expect(404);
        ada.cannot_be_imitated(&at(form), &[]).await;
    }
    ada.cannot_be_imitated(HERE, &[("hostname", "b.customer.example")]).await;
    assert_eq!(node.count("SELECT COUNT(*) FROM custom_domains").await, 1);
    let out = node.get(&at("")).browser().send().await.expect(303);
    assert!(out.header("location").starts_with("/login?next=%2Fdashboard%2Fdomains%2F"));
}

#[tokio::test]
async fn a_plan_without_domains_is_offered_the_unlock() {
    let node = Node::start().await;
    let ada = node.newcomer_on("free").await;
    let site = publish(&node, &ada, "Mine").await;
    let offered = ada.get(HERE).await.expect(200).text();
    assert!(offered.contains("The free plan does not include custom domains."), "{offered}");
    assert!(offered.contains("/dashboard/billing/unlocks/custom_domain/card#outcome"));
    assert!(!offered.contains("name=\"hostname\""));
    let fields = [("hostname", NAME), ("site", site["id"].as_str().unwrap())];
    let refused = ada.submit(HERE, &fields).await.expect(402).text();
    assert!(refused.contains("role=\"alert\""), "{refused}");
    node.app().credit_account("test", &ada.account.id, 100_000, "test", None).await.unwrap();
    let covered = ada.get(HERE).await.expect(200).text();
    assert!(covered.contains("href=\"/dashboard/billing/unlocks/custom_domain\""), "{covered}");
    let off = Setup::new().set("payments.mode", "off").start().await;
    let bob = off.newcomer_on("free").await;
    let text = bob.get(HERE).await.expect(200).text();
    assert!(text.contains("Ask the operator") && !text.contains("/dashboard/billing"), "{text}");
}

#[tokio::test]
async fn a_missing_record_names_the_end_of_the_domain() {
    let dns = DnsServer::start().await;
    let node = with_dns(&dns).start().await;
    let ada = node.newcomer_on("solo").await;
    let site = publish(&node, &ada, "Mine").await;
    add(&ada, NAME, &site).await;
    dns.cname(NAME, &target(&ada, NAME).await);
    assert!(has_chip(&check(&ada).await, "Verified"));
    dns.clear(NAME);
    node.clock.advance(DAY);
    assert_eq!(node.app().check_due_domains(std::future::pending()).await.unwrap(), 1);
    let shown = ada.get(&at("")).await.expect(200).text();
    assert!(has_chip(&shown, "Needs attention") && shown.contains("still works until"), "{shown}");
    assert!(shown.contains(">Open page</a>"));
}

#[tokio::test]
async fn a_bare_domain_shows_the_addresses_of_the_server() {
    let dns = DnsServer::start().await;
    // Names below localhost never reach a DNS server.
    let node = with_dns(&dns).set("site_url", "http://pages.dropleaf.example").start().await;
    let ada = node.newcomer_on("solo").await;
    let site = publish(&node, &ada, "Mine").await;
    add(&ada, "customer.example", &site).await;
    let path = format!("{HERE}/customer.example");
    let unknown = ada.get(&path).await.expect(200).text();
    assert!(unknown.contains("with the same address as"), "{unknown}");
    let target = target(&ada, "customer.example").await;
    dns.address_of(&target, Ipv4Addr::new(192, 0, 2, 7));
    let known = ada.get(&path).await.expect(200).text();
    assert!(known.contains("<code id=\"address-0-value\">192.0.2.7</code>"), "{known}");
    let before = dns.questions(&target);
    let state = ada.get(&format!("{path}?live=1")).await.expect(200).text();
    assert!(state.contains("data-live=\"steps\"") && state.contains("data-waiting"));
    assert_eq!(dns.questions(&target), before, "refreshing the state asks nothing");
}

#[tokio::test]
async fn checks_have_a_limit_and_the_page_says_so() {
    let dns = DnsServer::start().await;
    let setup = with_dns(&dns).with_rates().set("limits.domain_checks_per_hour", "2");
    let node = setup.start().await;
    let ada = node.newcomer_on("solo").await;
    let site = publish(&node, &ada, "Mine").await;
    add(&ada, NAME, &site).await;
    for _ in 0..2 {
        check(&ada).await;
    }
    let refused = ada.submit(&at("/check"), &[]).await.expect(429).text();
    let section = refused.split("id=\"status\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(section.contains("role=\"alert\""), "{section}");
}
