//! Burn after read: who sees the page, and that no one sees it twice. The table of docs/security.md. Spec §1.3, §3.

use crate::harness::{Answer, Ask, Database, Form, Node, Setup, on_each_database, page, site_path};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

const AGENTS: [&str; 6] = [
    "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
    "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
    "facebookexternalhit/1.1",
    "WhatsApp/2.23.20.0",
    "TelegramBot (like TwitterBot)",
    "SomeScanner/1.0",
];

pub(crate) fn burning(title: &str) -> Form {
    Form::file("page.html", page(title)).field("burn_after_read", "true")
}

pub(crate) async fn published(node: &Node, title: &str) -> (Value, String) {
    let site = node.publish(burning(title)).await;
    let url = site["url"].as_str().unwrap().to_owned();
    (site, url)
}

#[track_caller]
pub(crate) fn is_reveal(answer: &Answer, title: &str) {
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("accept-ranges"), "none");
    assert!(answer.header("content-security-policy").starts_with("default-src 'none'; style-src 'sha256-"));
    assert_eq!(answer.header("x-frame-options"), "DENY");
    assert!(!answer.text().contains(title), "nothing of the page may be shown");
    assert!(!answer.has("etag"));
}

/// The page's own host, where a browser is redirected.
pub(crate) async fn own_host(node: &Node, url: &str) -> String {
    node.get(url).browser().send().await.expect(307).header("location").to_owned()
}

/// Opens the reveal page and returns its cookie.
pub(crate) async fn asked(node: &Node, own: &str) -> String {
    let answer = node.get(own).browser().send().await;
    is_reveal(&answer, "<<nothing>>");
    let cookie = answer.header("set-cookie");
    assert!(cookie.starts_with("__Host-v="), "{cookie}");
    assert!(cookie.ends_with("; HttpOnly; SameSite=Lax; Secure"), "{cookie}");
    cookie.split(';').next().unwrap().to_owned()
}

/// Presses the button of the reveal page.
pub(crate) fn press(node: &Node, own: &str, cookie: &str) -> Ask {
    let origin = own.split("/p/").next().unwrap();
    node.post(&format!("{own}_dropleaf/reveal"))
        .browser()
        .header("sec-fetch-site", "same-origin")
        .header("origin", origin)
        .header("cookie", cookie)
}

#[tokio::test]
async fn what_nobody_decided_to_see_burns_nothing() {
    on_each_database(Setup::new, async |node| {
        let (_, url) = published(node, "Unseen").await;
        let own = own_host(node, &url).await;
        for target in [&url, &own] {
            is_reveal(&node.head(target).send().await, "Unseen");
            is_reveal(&node.ask(Method::OPTIONS, target).send().await, "Unseen");
            for agent in AGENTS {
                is_reveal(&node.get(target).header("user-agent", agent).send().await, "Unseen");
            }
            for mode in ["no-cors", "cors", "same-origin", "websocket"] {
                is_reveal(&node.get(target).header("sec-fetch-mode", mode).send().await, "Unseen");
            }
            is_reveal(&node.get(target).header("sec-fetch-dest", "image").send().await, "Unseen");
            for (name, value) in [
                ("sec-purpose", "prefetch"),
                ("sec-purpose", "prefetch;prerender"),
                ("purpose", "prefetch"),
                ("x-moz", "prefetch"),
            ] {
                for ask in [node.get(target), node.get(target).browser()] {
                    let answer = ask.header(name, value).send().await.expect(503);
                    assert_eq!(answer.header("cache-control"), "no-store");
                    assert!(!answer.text().contains("Unseen"));
                }
            }
        }
        is_reveal(&node.get(&own).browser().send().await, "Unseen");
        let range = node.get(&url).header("range", "bytes=0-3").send().await.expect(200);
        assert_eq!(range.text(), page("Unseen"), "after all this it is still there, and sent whole");
    })
    .await;
}

#[tokio::test]
async fn plain_client_sees_it_once_and_then_it_is_410_and_404() {
    on_each_database(Setup::new, async |node| {
        let (site, url) = published(node, "Once").await;
        let seen = node.get(&url).header("if-none-match", "*").send().await.expect(200);
        assert_eq!(seen.text(), page("Once"));
        for (name, value) in [("cache-control", "no-store"), ("accept-ranges", "none")] {
            assert_eq!(seen.header(name), value);
        }
        assert!(seen.header("content-security-policy").starts_with("sandbox allow-scripts"));
        assert!(!seen.has("etag") && !seen.has("access-control-allow-origin") && !seen.has("set-cookie"));
        let json = |ask: Ask| ask.header("accept", "application/json").send();
        json(node.get(&url)).await.refused(410, "burnt");
        json(node.head(&url)).await.expect(410);
        json(node.ask(Method::OPTIONS, &url)).await.refused(410, "burnt");
        node.get(&url).browser().send().await.expect(410);
        json(node.post(&format!("{url}_dropleaf/reveal"))).await.refused(410, "burnt");
        for ask in [
            node.get(&site_path(&site)),
            node.delete(&site_path(&site)),
            node.patch(&site_path(&site)).json(&json!({"visibility": "unlisted"})),
            node.get(&format!("{}/content", site_path(&site))),
        ] {
            ask.key(&node.key).send().await.refused(404, "not_found");
        }
        node.post(&format!("{}/restore", site_path(&site)))
            .key(&node.key)
            .send()
            .await
            .refused(410, "not_restorable");
        let me = node.get("/me").key(&node.key).send().await.expect(200).json();
        assert_eq!(me["counts"]["active_pages"], 0);
    })
    .await;
}

#[tokio::test]
async fn of_racing_clients_exactly_one_sees_the_page() {
    on_each_database(Setup::new, async |node| {
        for round in 0..5 {
            let title = format!("Race {round}");
            let (_, url) = published(node, &title).await;
            let own = own_host(node, &url).await;
            let cookie = asked(node, &own).await;
            let plain = (0..20).map(|_| async { node.get(&url).send().await.status });
            let pressed = (0..5).map(|n| {
                let stranger = format!("__Host-v={n}AAAAAAAAAAAAAAAAAAAAA");
                let ask = press(node, &own, if n == 0 { &cookie } else { &stranger });
                async { ask.send().await.status }
            });
            let (plain, pressed) = futures_util::future::join(join_all(plain), join_all(pressed)).await;
            let won = plain.iter().filter(|status| **status == 200).count()
                + pressed.iter().filter(|status| **status == 303).count();
            assert_eq!(won, 1, "{plain:?} {pressed:?}");
            assert!(plain.iter().all(|status| [200, 410].contains(status)), "{plain:?}");
            assert!(pressed.iter().all(|status| [303, 410].contains(status)), "{pressed:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn two_nodes_have_one_winner_between_them() {
    let secret = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    let database = Database::postgres().await;
    let setup = || Setup::new().set("secret_key", secret).database(database.clone()).real_time();
    let (first, second) = (setup().start().await, setup().start().await);
    for round in 0..10 {
        let site = first.publish(burning(&format!("Nodes {round}"))).await;
        let path = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
        // Both nodes have the row cached as live.
        for node in [&first, &second] {
            is_reveal(&node.head(&path).send().await, "Nodes");
        }
        let asks = (0..20).map(|n| {
            let ask = if n % 2 == 0 { first.get(&path) } else { second.get(&path) };
            async { ask.send().await.status }
        });
        let seen = join_all(asks).await;
        assert_eq!(seen.iter().filter(|status| **status == 200).count(), 1, "{seen:?}");
        for node in [&first, &second] {
            node.head(&path).send().await.expect(410);
        }
    }
    first.stop().await;
    second.stop().await;
    database.remove().await;
}

pub(crate) fn path_of(url: &str) -> &str {
    &url[url.find("/p/").unwrap()..]
}

#[tokio::test]
async fn existing_page_is_set_to_burn_and_back() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Later").await;
        let url = site["url"].as_str().unwrap();
        node.get(url).send().await.expect(200);
        node.patch_site(&site, json!({"visibility": "burn"})).await.expect(200);
        is_reveal(&node.head(url).send().await, "Later");
        node.patch_site(&site, json!({"visibility": "unlisted"})).await.expect(200);
        for _ in 0..2 {
            assert_eq!(node.get(url).send().await.expect(200).text(), page("Later"));
        }
        node.patch_site(&site, json!({"visibility": "burn"})).await.expect(200);
        assert_eq!(node.get(url).send().await.expect(200).text(), page("Later"));
        node.get(url).send().await.expect(410);
    })
    .await;
}

#[tokio::test]
async fn anonymous_page_burns_and_an_expired_one_cannot() {
    on_each_database(Setup::new, async |node| {
        let publish = async || node.post("/sites").form(burning("Nobody's")).send().await.expect(201).json();
        let url = publish().await["url"].as_str().unwrap().to_owned();
        assert_eq!(node.get(&url).send().await.expect(200).text(), page("Nobody's"));
        node.get(&url).send().await.expect(410);

        let url = publish().await["url"].as_str().unwrap().to_owned();
        node.clock.advance(86_400);
        node.get(&url).header("accept", "application/json").send().await.refused(410, "expired");
        let button = node.post(&format!("{url}_dropleaf/reveal")).header("accept", "application/json");
        button.send().await.refused(410, "expired");
    })
    .await;
}
