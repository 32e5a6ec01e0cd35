//! Share links: made, listed, revoked, opened. Spec §2 `ShareToken`, §3 Share token, §4 Share tokens, security: `?t=`.

use crate::harness::{Answer, DAY, Form, HOUR, NOW, Node, Setup, on_each_database, page, site_path};
use serde_json::{Value, json};

const SECRET: &str = "behind the gate";

async fn locked(node: &Node) -> Value {
    node.publish(Form::file("page.html", page(SECRET)).field("password", "hunter2")).await
}

async fn share(node: &Node, site: &Value, wish: Value) -> Value {
    let path = format!("{}/share-tokens", site_path(site));
    node.post(&path).key(&node.key).json(&wish).send().await.expect(201).json()
}

async fn listed(node: &Node, site: &Value) -> Vec<Value> {
    let path = format!("{}/share-tokens", site_path(site));
    let list = node.get(&path).key(&node.key).send().await.expect(200).json();
    list["tokens"].as_array().unwrap().clone()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap()
}

/// The same address on the page's own host, where a browser ends up.
async fn own_address(node: &Node, url: &str) -> String {
    let sent = node.get(url).browser().send().await.expect(307);
    sent.header("location").to_owned()
}

/// The name and value of the cookie an answer sets.
fn cookie(answer: &Answer) -> String {
    answer.header("set-cookie").split(';').next().unwrap().to_owned()
}

fn opens(answer: &Answer) -> bool {
    answer.status == 200 && answer.text().contains(SECRET)
}

#[tokio::test]
async fn token_has_every_field_and_shows_again_in_the_list() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node).await;
        let wish = json!({"note": "for Ada", "expires_in": 3600, "max_uses": 5, "bypass_email_gate": true});
        let mut made = share(node, &site, wish).await;
        let token = text(&made, "token").to_owned();
        assert!(token.starts_with("shr_") && token.len() == 26, "{token}");
        assert_eq!(made["url"], format!("{}?t={token}", text(&site, "url")));
        assert_eq!(made["warnings"], json!([]));
        made.as_object_mut().unwrap().remove("warnings");
        let expected = json!({
            "id": made["id"], "token": token, "site_id": site["id"], "url": made["url"], "note": "for Ada",
            "created_at": NOW, "expires_at": NOW + HOUR, "max_uses": 5, "uses": 0, "last_used_at": null,
            "bypass_email_gate": true,
        });
        assert_eq!(made, expected);
        node.clock.advance(1);
        let bare = share(node, &site, json!({})).await;
        for name in ["note", "expires_at", "max_uses", "last_used_at"] {
            assert_eq!(bare[name], Value::Null, "{name}");
        }
        assert_eq!(bare["bypass_email_gate"], false);
        let list = listed(node, &site).await;
        assert_eq!(list.iter().map(|item| &item["id"]).collect::<Vec<_>>(), [&bare["id"], &made["id"]]);
        assert_eq!(list[1], expected);
    })
    .await;
}

#[tokio::test]
async fn public_page_is_shared_at_its_public_address() {
    let node = Node::start().await;
    let site = node.publish(Form::file("a.html", page("x")).field("slug", "shared-garden")).await;
    let made = share(&node, &site, json!({})).await;
    assert_eq!(made["url"], format!("{}?t={}", text(&site, "url"), text(&made, "token")));
    assert!(text(&made, "url").contains("//shared-garden."));
}

#[tokio::test]
async fn other_names_are_taken_and_unknown_fields_are_warnings() {
    let node = Node::start().await;
    let site = locked(&node).await;
    let made =
        share(&node, &site, json!({"label": "old name", "expires_in_hours": 1.5, "colour": "red"})).await;
    assert_eq!((&made["note"], &made["expires_at"]), (&json!("old name"), &json!(NOW + 5400)));
    assert_eq!(made["warnings"], json!(["The field `colour` is not known and was ignored."]));
    let both = json!({"note": "new", "label": "old", "expires_in": 60, "expires_in_hours": 9});
    let made = share(&node, &site, both).await;
    assert_eq!((&made["note"], &made["expires_at"]), (&json!("new"), &json!(NOW + 60)));
    let never =
        share(&node, &site, json!({"expires_in_hours": "never", "note": null, "max_uses": null})).await;
    assert_eq!(never["expires_at"], Value::Null);
}

#[tokio::test]
async fn wrong_types_and_senseless_values_are_400() {
    let node = Node::start().await;
    let site = locked(&node).await;
    let path = format!("{}/share-tokens", site_path(&site));
    for bad in [
        json!({"note": 5}),
        json!({"note": "x".repeat(201)}),
        json!({"note": "a\u{0}b"}),
        json!({"expires_in": 0}),
        json!({"expires_in": -60}),
        json!({"expires_in": "60"}),
        json!({"expires_in": 1.5}),
        json!({"expires_in": i64::MAX}),
        json!({"expires_in_hours": 0}),
        json!({"expires_in_hours": "soon"}),
        json!({"max_uses": 0}),
        json!({"max_uses": -1}),
        json!({"max_uses": "3"}),
        json!({"bypass_email_gate": "yes"}),
        json!({"bypass_email_gate": null}),
    ] {
        node.post(&path).key(&node.key).json(&bad).send().await.refused(400, "invalid_field");
    }
    node.post(&path)
        .key(&node.key)
        .body("application/json", "[1]")
        .send()
        .await
        .refused(400, "invalid_request");
    assert!(listed(&node, &site).await.is_empty());
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
async fn expired_token_opens_nothing_and_closes_open_doors() {
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
    // The link again in the same browser: nothing is left to count, and the cookie stays.
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
    // A page's own `t` is its own business.
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

#[tokio::test]
async fn tokens_of_other_people_are_404() {
    let node = Node::start().await;
    let site = locked(&node).await;
    let made = share(&node, &site, json!({})).await;
    let stranger = node.account("solo").await;
    let path = format!("{}/share-tokens", site_path(&site));
    node.get(&path).key(&stranger).send().await.refused(404, "not_found");
    node.post(&path).key(&stranger).json(&json!({})).send().await.refused(404, "not_found");
    for by in ["id", "token"] {
        let revoke = node.delete(&format!("/share-tokens/{}", text(&made, by))).key(&stranger);
        revoke.send().await.refused(404, "not_found");
    }
    for name in ["share_none", "shr_AAAAAAAAAAAAAAAAAAAAAA", "%00"] {
        node.delete(&format!("/share-tokens/{name}")).key(&node.key).send().await.refused(404, "not_found");
    }
    assert!(opens(&node.get(text(&made, "url")).send().await));
    node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
    node.get(&path).key(&node.key).send().await.refused(404, "not_found");
    node.post(&path).key(&node.key).send().await.refused(404, "not_found");
    node.get(text(&made, "url")).send().await.expect(410);
}

#[tokio::test]
async fn expired_page_gets_no_new_token() {
    let node = Node::start().await;
    let site = node.publish(Form::file("a.html", "<p>").field("expires_in_hours", "1")).await;
    node.clock.advance(HOUR);
    let path = format!("{}/share-tokens", site_path(&site));
    node.post(&path).key(&node.key).json(&json!({})).send().await.refused(410, "expired");
    node.get(&path).key(&node.key).send().await.expect(200);
}

#[tokio::test]
async fn repeat_with_the_same_key_makes_one_token() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node).await;
        let path = format!("{}/share-tokens", site_path(&site));
        let ask = |note: &str| {
            let ask = node.post(&path).key(&node.key).header("idempotency-key", "once");
            ask.json(&json!({"note": note})).send()
        };
        let first = ask("a").await.expect(201);
        let again = ask("a").await.expect(201);
        assert_eq!(first.body, again.body);
        ask("b").await.refused(422, "idempotency_mismatch");
        assert_eq!(listed(node, &site).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn tokens_lie_in_the_database_hashed_and_sealed_only() {
    let node = Node::start().await;
    let site = locked(&node).await;
    let made = share(&node, &site, json!({"note": "x"})).await;
    let token = text(&made, "token");
    node.get(text(&made, "url")).send().await.expect(200);
    for name in ["dropleaf.db", "dropleaf.db-wal"] {
        let bytes = std::fs::read(node.data_dir().join(name)).unwrap_or_default();
        assert!(!bytes.windows(token.len()).any(|window| window == token.as_bytes()), "{name}");
    }
    let hashes = node.rows("SELECT token_hash FROM share_tokens", vec![], |row| row.hash(0)).await;
    assert_eq!(hashes, [dropleaf_core::secret::hash(token)]);
}

#[tokio::test]
async fn thousand_tokens_are_enough() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node).await;
        let path = format!("{}/share-tokens", site_path(&site));
        for _ in 0..20 {
            let asks = (0..50).map(|_| node.post(&path).key(&node.key).send());
            for answer in futures_util::future::join_all(asks).await {
                answer.expect(201);
            }
        }
        node.post(&path).key(&node.key).send().await.refused(409, "too_many");
        assert_eq!(listed(node, &site).await.len(), 1000);
    })
    .await;
}

#[tokio::test]
async fn purged_page_leaves_no_token_behind() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node).await;
        share(node, &site, json!({})).await;
        let path = format!("{}?purge=true", site_path(&site));
        node.delete(&path).key(&node.key).send().await.expect(200);
        assert_eq!(node.count("SELECT COUNT(*) FROM share_tokens").await, 0);
        // The tombstone goes a year later, and nothing holds it.
        node.clock.advance(400 * DAY);
        node.app().sweep().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 0);
    })
    .await;
}

#[tokio::test]
async fn tokens_outlive_the_secret_they_were_sealed_under() {
    let secret = |digit: &str| Setup::new().set("secret_key", digit.repeat(64));
    let node = secret("1").start().await;
    let site = locked(&node).await;
    let made = share(&node, &site, json!({})).await;
    let key = node.key.clone();
    let dir = node.stop().await;
    let node = secret("2").start_in(dir).await;
    let list =
        node.get(&format!("{}/share-tokens", site_path(&site))).key(&key).send().await.expect(200).json();
    let id = text(&list["tokens"][0], "id").to_owned();
    assert_eq!((text(&list["tokens"][0], "token"), id.as_str()), (id.as_str(), text(&made, "id")));
    let path = format!("/p/{}/?t={}", text(&site, "unlisted_token"), text(&made, "token"));
    node.get(&path).send().await.expect(200);
    node.delete(&format!("/share-tokens/{id}")).key(&key).send().await.expect(200);
    node.get(&path).send().await.expect(401);
}
