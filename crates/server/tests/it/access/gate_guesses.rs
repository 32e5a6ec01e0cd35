//! Guessing the password of a page.

use crate::access::gates::{PASSWORD, basic, guess, locked, open, url};
use crate::harness::{Answer, Form, Node, Setup, page};
use serde_json::Value;

fn behind_a_proxy() -> Setup {
    Setup::new().with_rates().set("trusted_proxies", "127.0.0.0/8")
}

async fn guess_from(node: &Node, site: &Value, password: &str, ip: &str) -> Answer {
    guess(node, url(site), password).from(ip).header("accept", "application/json").send().await
}

#[tokio::test]
async fn guesses_are_throttled_before_anything_is_hashed() {
    let node = behind_a_proxy().start().await;
    let site = locked(&node, "Guessed").await;
    let before = node.app().hashed_passwords();
    for _ in 0..5 {
        guess_from(&node, &site, "wrong", "203.0.113.7").await.refused(401, "wrong_password");
    }
    for password in ["wrong", PASSWORD] {
        let refused = guess_from(&node, &site, password, "203.0.113.7").await.refused(429, "rate_limited");
        assert_eq!(refused.header("retry-after"), "10");
    }
    let by_header = node.get(url(&site)).from("203.0.113.7").header("authorization", &basic(PASSWORD));
    by_header.send().await.expect(429);
    assert_eq!(node.app().hashed_passwords() - before, 5, "what is refused is not hashed");
    let page = guess(&node, url(&site), "x").from("203.0.113.7").browser().send().await.expect(429);
    assert!(page.text().contains("Too many attempts. Wait 10 seconds") && page.text().contains("<form"));

    guess_from(&node, &site, PASSWORD, "203.0.113.8").await.expect(303);
    let other = locked(&node, "Other").await;
    guess_from(&node, &other, PASSWORD, "203.0.113.7").await.expect(303);
    node.clock.advance(9);
    assert_eq!(guess_from(&node, &site, "wrong", "203.0.113.7").await.header("retry-after"), "1");
    node.clock.advance(1);
    guess_from(&node, &site, "wrong", "203.0.113.7").await.refused(401, "wrong_password");
    guess_from(&node, &site, "wrong", "203.0.113.7").await.refused(429, "rate_limited");

    for n in 0..5 {
        guess_from(&node, &site, "wrong", &format!("2001:db8:1:2::{n}")).await.expect(401);
    }
    guess_from(&node, &site, "wrong", "2001:db8:1:2:ffff::1").await.expect(429);
    guess_from(&node, &site, "wrong", "2001:db8:1:3::1").await.expect(401);
}

#[tokio::test]
async fn right_passwords_are_not_counted_as_guesses() {
    let node = behind_a_proxy().set("limits.gate_tries_per_minute", "3").start().await;
    let site = locked(&node, "Popular").await;
    for _ in 0..8 {
        guess_from(&node, &site, PASSWORD, "203.0.113.7").await.expect(303);
    }
    for ip in ["198.51.100.1", "198.51.100.2", "198.51.100.3"] {
        guess_from(&node, &site, "wrong", ip).await.expect(401);
    }
    let refused = guess_from(&node, &site, PASSWORD, "198.51.100.4").await.refused(429, "rate_limited");
    assert_eq!(refused.header("ratelimit-policy"), "\"gate_site_minute\";q=3;w=60");
    node.clock.advance(60);
    guess_from(&node, &site, PASSWORD, "198.51.100.4").await.expect(303);
}

#[tokio::test]
async fn every_hash_counts_for_the_network_over_all_pages_the_right_ones_too() {
    let node = behind_a_proxy().set("limits.password_hashes_per_minute", "6").start().await;
    let mut pages = Vec::new();
    for n in 0..8 {
        pages.push(locked(&node, &format!("Page {n}")).await);
    }
    let (first, more) = pages.split_first().unwrap();
    let opened = guess_from(&node, first, PASSWORD, "203.0.113.7").await.expect(303);
    let before = node.app().hashed_passwords();
    for _ in 0..20 {
        // Correct from this network a moment ago: not hashed again, by form or by header.
        guess_from(&node, first, PASSWORD, "203.0.113.7").await.expect(303);
        let by_header = node.get(url(first)).from("203.0.113.7").header("authorization", &basic(PASSWORD));
        by_header.send().await.expect(200);
    }
    assert_eq!(node.app().hashed_passwords(), before);
    for site in &more[..5] {
        guess_from(&node, site, PASSWORD, "203.0.113.7").await.expect(303);
    }
    let refused = guess_from(&node, &more[5], PASSWORD, "203.0.113.7").await.refused(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), "10");
    let by_header = node.get(url(&more[6])).from("203.0.113.7").header("authorization", &basic("wrong"));
    by_header.send().await.expect(429);
    let form = Form::file("a.html", page("Anonymous")).field("password", PASSWORD);
    node.post("/sites").from("203.0.113.7").form(form).send().await.refused(429, "rate_limited");
    assert_eq!(node.app().hashed_passwords() - before, 5, "what is refused is not hashed");

    let shown = node.get(url(first)).from("203.0.113.7").cookie(&opened.cookie()).send().await;
    assert_eq!(shown.expect(200).text(), page("Page 0"), "a pass costs no hash");
    guess_from(&node, &more[5], PASSWORD, "203.0.113.8").await.expect(303);
    locked(&node, "An account has a budget of its own").await;
    node.clock.advance(10);
    guess_from(&node, &more[5], PASSWORD, "203.0.113.7").await.expect(303);
    guess_from(&node, &more[6], PASSWORD, "203.0.113.7").await.expect(429);
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_guesses_are_throttled_and_the_server_goes_on() {
    let node = behind_a_proxy().start().await;
    let (site, open_site) = (locked(&node, "Besieged").await, node.publish_page("Open").await);
    let cookie = open(&node, url(&site)).await;
    let before = node.app().hashed_passwords();
    let guessers = (0..50).map(|n| {
        let (node, site) = (&node, &site);
        async move {
            let mut looked_at = 0;
            for round in 0..200 {
                // A fifth of them share one address, the others come from many.
                let ip = if n < 10 { "203.0.113.7".into() } else { format!("198.51.{n}.{round}") };
                let answer = guess_from(node, site, &format!("guess {n} {round}"), &ip).await;
                assert!(matches!(answer.status, 401 | 429 | 503), "{}", answer.status);
                looked_at += u64::from(answer.status == 401);
            }
            looked_at
        }
    });
    let viewers = async {
        for _ in 0..200 {
            node.get(url(&open_site)).send().await.expect(200);
            node.get(url(&site)).cookie(&cookie).send().await.expect(200);
        }
    };
    let (looked_at, ()) = tokio::join!(futures_util::future::join_all(guessers), viewers);
    let hashed = node.app().hashed_passwords() - before;
    assert_eq!(looked_at.iter().sum::<u64>(), hashed);
    assert!(hashed <= 60, "{hashed} of 10,000 guesses were hashed");
}
