//! `?t=`: opening share links, and their end. Spec §3 Share token, security: `?t=`.

use crate::access::share_tokens::{listed, locked, opens, share, text};
use crate::harness::{Answer, Form, HOUR, NOW, Node, Setup, on_each_database, page};
use serde_json::{Value, json};

/// The same address on the page's own host, where a browser is redirected.
async fn own_address(node: &Node, url: &str) -> String {
    let sent = node.get(url).browser().send().await.expect(307);
    sent.header("location").to_owned()
}

/// The name and value of the cookie that a response sets.
fn cookie(answer: &Answer) -> String {
    answer.header("set-cookie").split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn plain_client_is_answered_directly_and_the_open_is_counted() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node).await;
        let made = share(node, &site, json!({})).await;
        let url = text(&made, "url");
        node.get(text(&site, "url")).header("accept", "application/json").send().await.expect(401);
        node.clock.advance(5);
        assert!(opens(&node.get(url).send().await));
        assert!(opens(&node.get(&format!("{url}&x=1")).send().await));
        let head = node.head(url).send().await.expect(200);
        assert!(!head.has("set-cookie"));
        let item = &listed(node, &site).await[0];
        assert_eq!((&item["uses"], &item["last_used_at"]), (&json!(2), &json!(NOW + 5)));
    })
    .await;
}

#[tokio::test]
async fn browser_is_sent_on_without_the_token_and_a_cookie_opens_the_page() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node).await;
        let made = share(node, &site, json!({})).await;
        let own = own_address(node, &format!("{}&b=%20x&a=1&t=5", text(&made, "url"))).await;
        assert!(own.contains("?t=shr_"), "the token travels to the page's own host");
        let sent = node.get(&own).browser().send().await.expect(303);
        let path = own.splitn(4, '/').nth(3).unwrap().split('?').next().unwrap();
        assert_eq!(sent.header("location"), format!("/{path}?b=%20x&a=1&t=5"));
        assert_eq!(sent.header("cache-control"), "no-store");
        assert_eq!(sent.header("referrer-policy"), "no-referrer");
        let given = sent.header("set-cookie");
        assert!(given.starts_with("__Host-s=share_"), "{given}");
        for part in ["; Path=/", "; Max-Age=43200", "; HttpOnly", "; SameSite=Lax", "; Secure"] {
            assert!(given.contains(part), "{given}");
        }
        assert!(!given.contains(text(&made, "token")), "the cookie does not hold the token");
        let clean = own.split('?').next().unwrap();
        let with = |value: &str| node.get(clean).browser().header("cookie", value);
        assert!(opens(&with(&cookie(&sent)).send().await));
        with("__Host-s=nothing").send().await.expect(401);
        let forged = cookie(&sent).replace(".1", ".2");
        with(&forged).send().await.expect(401);
        assert_eq!(listed(node, &site).await[0]["uses"], 1, "looking around uses nothing up");
        node.clock.advance(12 * HOUR);
        with(&cookie(&sent)).send().await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn invalid_token_is_the_gate_and_no_oracle() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node).await;
        let other = locked(node).await;
        let foreign = share(node, &other, json!({})).await;
        let base = text(&site, "url");
        let gate = node.get(base).send().await.expect(401);
        for token in [text(&foreign, "token"), "shr_AAAAAAAAAAAAAAAAAAAAAA"] {
            let answer = node.get(&format!("{base}?t={token}")).send().await;
            assert_eq!((answer.status, &answer.body), (gate.status, &gate.body));
            let own = own_address(node, &format!("{base}?t={token}&x=1")).await;
            let sent = node.get(&own).browser().send().await.expect(303);
            assert!(sent.header("location").ends_with("/?x=1") && !sent.has("set-cookie"));
        }
        for ignored in ["shr_short", "5", ""] {
            let own = own_address(node, &format!("{base}?t={ignored}")).await;
            node.get(&own).browser().send().await.expect(401);
        }
        assert_eq!(listed(node, &other).await[0]["uses"], 0);
    })
    .await;
}

#[tokio::test]
async fn cookie_of_one_page_opens_no_other() {
    let node = Node::start().await;
    let (site, other) = (locked(&node).await, locked(&node).await);
    let made = share(&node, &site, json!({})).await;
    let own = own_address(&node, text(&made, "url")).await;
    let sent = node.get(&own).browser().send().await.expect(303);
    let elsewhere = own_address(&node, text(&other, "url")).await;
    node.get(&elsewhere).browser().header("cookie", &cookie(&sent)).send().await.expect(401);
}

#[tokio::test]
async fn expired_token_opens_nothing_and_revokes_earlier_access() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node).await;
        let made = share(node, &site, json!({"expires_in": 60})).await;
        let own = own_address(node, text(&made, "url")).await;
        let sent = node.get(&own).browser().send().await.expect(303);
        assert!(sent.header("set-cookie").contains("; Max-Age=60;"));
        let clean = own.split('?').next().unwrap();
        node.clock.advance(59);
        assert!(opens(&node.get(text(&made, "url")).send().await));
        assert!(opens(&node.get(clean).header("cookie", &cookie(&sent)).send().await));
        node.clock.advance(1);
        node.get(text(&made, "url")).send().await.expect(401);
        node.get(clean).header("cookie", &cookie(&sent)).send().await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn revoked_token_stops_at_once_for_links_and_cookies() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node).await;
        for by in ["id", "token"] {
            let made = share(node, &site, json!({})).await;
            let own = own_address(node, text(&made, "url")).await;
            let sent = node.get(&own).browser().send().await.expect(303);
            let clean = own.split('?').next().unwrap();
            assert!(opens(&node.get(clean).header("cookie", &cookie(&sent)).send().await));
            let path = format!("/share-tokens/{}", text(&made, by));
            let revoked = node.delete(&path).key(&node.key).send().await.expect(200).json();
            assert_eq!(revoked, json!({"ok": true}));
            node.get(text(&made, "url")).send().await.expect(401);
            node.get(clean).header("cookie", &cookie(&sent)).send().await.expect(401);
            assert!(listed(node, &site).await.is_empty());
            node.delete(&path).key(&node.key).send().await.refused(404, "not_found");
        }
    })
    .await;
}

#[tokio::test]
async fn last_use_is_given_out_once_among_racers() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node).await;
        let made = share(node, &site, json!({"max_uses": 3})).await;
        let asks = (0..24).map(|_| node.get(text(&made, "url")).send());
        let answers = futures_util::future::join_all(asks).await;
        assert_eq!(answers.iter().filter(|answer| opens(answer)).count(), 3);
        assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 401)));
        let item = &listed(node, &site).await[0];
        assert_eq!((&item["uses"], &item["max_uses"]), (&json!(3), &json!(3)));
    })
    .await;
}

#[tokio::test]
async fn cookie_still_opens_when_the_uses_are_used_up() {
    let node = Node::start().await;
    let site = locked(&node).await;
    let made = share(&node, &site, json!({"max_uses": 1})).await;
    let own = own_address(&node, text(&made, "url")).await;
    let sent = node.get(&own).browser().send().await.expect(303);
    node.get(text(&made, "url")).send().await.expect(401);
    let clean = own.split('?').next().unwrap();
    assert!(opens(&node.get(clean).header("cookie", &cookie(&sent)).send().await));
    // The link again in the same browser: no use is left to count, and the cookie stays.
    let again = node.get(&own).browser().header("cookie", &cookie(&sent)).send().await.expect(303);
    assert!(!again.has("set-cookie"));
}

#[tokio::test]
async fn previews_and_guesses_use_nothing_up() {
    let node = Node::start().await;
    let site = locked(&node).await;
    let made = share(&node, &site, json!({"max_uses": 1})).await;
    let url = text(&made, "url");
    let own = own_address(&node, url).await;
    for agent in ["Slackbot-LinkExpanding 1.0", "Mozilla/5.0 (compatible; Discordbot/2.0)", "WhatsApp/2.23"] {
        node.get(&own).header("user-agent", agent).send().await.expect(401);
    }
    node.get(&own).browser().header("sec-purpose", "prefetch;prerender").send().await.expect(401);
    node.head(url).send().await.expect(200);
    node.head(&own).browser().send().await.expect(303);
    assert_eq!(listed(&node, &site).await[0]["uses"], 0);
    assert!(opens(&node.get(url).send().await));
}

#[tokio::test]
async fn email_gate_stays_shut_unless_the_owner_said_otherwise() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node).await;
        node.patch_site(&site, json!({"email_gate_domain": "example.com"})).await.expect(200);
        let plain = share(node, &site, json!({})).await;
        let through = share(node, &site, json!({"bypass_email_gate": true})).await;
        let ask = |made: &Value| node.get(text(made, "url")).header("accept", "application/json");
        let refused = ask(&plain).send().await.expect(401);
        assert_eq!(refused.json()["error"], "email_required");
        assert!(opens(&ask(&through).send().await));
    })
    .await;
}

#[tokio::test]
async fn page_without_a_gate_takes_the_token_out_of_the_address_too() {
    let node = Node::start().await;
    let site = locked(&node).await;
    let made = share(&node, &site, json!({})).await;
    node.patch_site(&site, json!({"password": null})).await.expect(200);
    let own = own_address(&node, &format!("{}&x=1", text(&made, "url"))).await;
    let sent = node.get(&own).browser().send().await.expect(303);
    assert!(sent.header("location").ends_with("/?x=1") && !sent.has("set-cookie"));
    assert!(opens(&node.get(text(&made, "url")).send().await));
    // A page's own `t` parameter is left alone.
    let plain = own_address(&node, &format!("{}?t=5", text(&site, "url"))).await;
    assert!(opens(&node.get(&plain).browser().send().await));
}

#[tokio::test]
async fn path_that_looks_like_a_host_does_not_lead_away() {
    let node = Node::start().await;
    let site = node.publish(Form::file("a.html", page("x")).field("slug", "no-way-out")).await;
    let ask = node.get("//evil.example/?t=shr_AAAAAAAAAAAAAAAAAAAAAA");
    let host = text(&site, "url").strip_prefix("http://").unwrap().trim_end_matches('/');
    let sent = ask.host(host).browser().send().await.expect(303);
    assert_eq!(sent.header("location"), "/.//evil.example/");
}
