//! Burn after read: the table of docs/security.md, row by row. Spec §1.3, §3.

use crate::harness::{
    Answer, Ask, Database, Form, Node, Setup, noise, on_each_database, page, site_path, zip,
};
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

fn burning(title: &str) -> Form {
    Form::file("page.html", page(title)).field("burn_after_read", "true")
}

async fn published(node: &Node, title: &str) -> (Value, String) {
    let site = node.publish(burning(title)).await;
    let url = site["url"].as_str().unwrap().to_owned();
    (site, url)
}

#[track_caller]
fn is_reveal(answer: &Answer, title: &str) {
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("accept-ranges"), "none");
    assert!(answer.header("content-security-policy").starts_with("default-src 'none'; style-src 'sha256-"));
    assert_eq!(answer.header("x-frame-options"), "DENY");
    assert!(!answer.text().contains(title), "nothing of the page may be shown");
    assert!(!answer.has("etag"));
}

/// The page's own host, as a browser finds it.
async fn own_host(node: &Node, url: &str) -> String {
    node.get(url).browser().send().await.expect(307).header("location").to_owned()
}

/// Opens the reveal page; its cookie.
async fn asked(node: &Node, own: &str) -> String {
    let answer = node.get(own).browser().send().await;
    is_reveal(&answer, "<<nothing>>");
    let cookie = answer.header("set-cookie");
    assert!(cookie.starts_with("__Host-v="), "{cookie}");
    assert!(cookie.ends_with("; HttpOnly; SameSite=Lax; Secure"), "{cookie}");
    cookie.split(';').next().unwrap().to_owned()
}

/// Presses the button as the reveal page would.
fn press(node: &Node, own: &str, cookie: &str) -> Ask {
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
async fn browser_reveals_by_post_and_may_come_back_for_a_minute() {
    on_each_database(Setup::new, async |node| {
        let (_, url) = published(node, "Minute").await;
        let own = own_host(node, &url).await;
        let cookie = asked(node, &own).await;
        let again = node.get(&own).browser().header("cookie", &cookie).send().await;
        assert!(!again.has("set-cookie"), "a second tab keeps the secret of the first");
        let answer = press(node, &own, &cookie).send().await.expect(303);
        assert!(own.ends_with(answer.header("location")), "{}", answer.header("location"));
        assert_eq!(answer.header("cache-control"), "no-store");

        let look = |cookie: &str| node.get(&own).browser().header("cookie", cookie).send();
        let seen = look(&cookie).await.expect(200);
        assert_eq!(seen.text(), page("Minute"));
        for (name, value) in [
            ("cache-control", "no-store"),
            ("accept-ranges", "none"),
            ("cross-origin-resource-policy", "same-origin"),
            ("content-security-policy", "frame-ancestors 'self'"),
        ] {
            assert_eq!(seen.header(name), value);
        }
        press(node, &own, &cookie).send().await.expect(303);
        node.get(&url).browser().send().await.expect(307);
        look("__Host-v=AAAAAAAAAAAAAAAAAAAAAA").await.expect(410);
        look("other=1").await.expect(410);
        press(node, &own, "__Host-v=AAAAAAAAAAAAAAAAAAAAAA").send().await.expect(410);
        node.get(&url).send().await.expect(410);

        node.clock.advance(59);
        assert_eq!(look(&cookie).await.expect(200).text(), page("Minute"));
        node.clock.advance(1);
        look(&cookie).await.expect(410);
        press(node, &own, &cookie).send().await.expect(410);
    })
    .await;
}

#[tokio::test]
async fn archive_is_open_to_its_viewer_for_ten_minutes_file_by_file() {
    on_each_database(Setup::new, async |node| {
        let archive =
            zip(&[("index.html", &page("Archive")), ("a.js", "run()"), ("docs/index.html", "docs")]);
        let site = node.publish(Form::file("s.zip", archive).field("burn_after_read", "true")).await;
        let url = site["url"].as_str().unwrap();
        let own = own_host(node, url).await;
        let cookie = asked(node, &own).await;
        let file = |name: &str| node.get(&format!("{own}{name}")).header("cookie", &cookie).send();
        for name in ["a.js", "docs/", "index.html"] {
            file(name).await.expect(404);
            node.get(&format!("{url}{name}")).send().await.expect(404);
        }
        press(node, &own, &cookie).send().await.expect(303);
        node.clock.advance(599);
        assert_eq!(file("").await.expect(200).text(), page("Archive"));
        assert_eq!(file("a.js").await.expect(200).text(), "run()");
        assert_eq!(file("docs/").await.expect(200).text(), "docs");
        file("docs").await.expect(308);
        file("nothing").await.expect(404);
        node.get(&format!("{own}a.js")).send().await.expect(410);
        node.clock.advance(1);
        file("a.js").await.expect(410);
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
        // Both know the row as live.
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

#[tokio::test]
async fn strangers_cannot_press_the_button() {
    let node = Node::start().await;
    let (_, url) = published(&node, "Mine").await;
    let own = own_host(&node, &url).await;
    let cookie = asked(&node, &own).await;
    let button = format!("{own}_dropleaf/reveal");
    for (name, value) in [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
    ] {
        let ask = node.post(&button).header(name, value).header("cookie", &cookie);
        ask.header("accept", "application/json").send().await.refused(403, "cross_site");
    }
    assert_eq!(node.get(&button).browser().send().await.expect(303).header("location"), path_of(&own));
    node.put(&button).send().await.expect(405);
    press(&node, &own, &cookie).send().await.expect(303);
}

fn path_of(url: &str) -> &str {
    &url[url.find("/p/").unwrap()..]
}

#[tokio::test]
async fn who_keeps_no_cookie_gets_the_page_at_once() {
    let node = Node::start().await;
    let (_, url) = published(&node, "Direct").await;
    let seen = node.post(&format!("{url}_dropleaf/reveal")).send().await.expect(200);
    assert_eq!(seen.text(), page("Direct"));
    assert!(seen.header("content-security-policy").starts_with("sandbox"));
    node.get(&url).send().await.expect(410);
}

#[tokio::test]
async fn button_without_an_address_works_at_the_root_too() {
    let node = Node::start().await;
    let (_, url) = published(&node, "Root").await;
    let own = own_host(&node, &url).await;
    let cookie = asked(&node, &own).await;
    let ask = node.post(&own).browser().header("sec-fetch-site", "same-origin").header("cookie", &cookie);
    ask.send().await.expect(303);
    let seen = node.get(&own).browser().header("cookie", &cookie).send().await.expect(200);
    assert_eq!(seen.text(), page("Root"));
    let other = node.publish_page("Ordinary").await;
    node.post(other["url"].as_str().unwrap()).send().await.expect(405);
    node.ask(Method::OPTIONS, other["url"].as_str().unwrap()).send().await.expect(405);
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

#[tokio::test]
async fn password_comes_before_the_reveal() {
    let node = Node::start().await;
    let site = node.publish(burning("Locked").field("password", "correct horse")).await;
    let url = site["url"].as_str().unwrap();
    for _ in 0..3 {
        let refused = node.get(url).send().await;
        assert!(refused.status == 401 && !refused.text().contains("Locked"), "{}", refused.status);
        node.post(&format!("{url}_dropleaf/reveal")).send().await.expect(401);
    }
    node.patch_site(&site, json!({"password": null})).await.expect(200);
    assert_eq!(node.get(url).send().await.expect(200).text(), page("Locked"), "nobody could burn it");
}

#[tokio::test]
async fn gate_that_is_answered_twice_does_not_open_the_page() {
    let node = Node::start().await;
    let bytes = crate::harness::noise("sealed", 64);
    let form = Form::file("x", &bytes).field("e2e", "true").field("burn_after_read", "true");
    let site = node.publish(form.field("password", "correct horse")).await;
    let own = own_host(&node, site["url"].as_str().unwrap()).await;
    let send = |cookie: &str| {
        let ask = node.post(&own).browser().header("sec-fetch-site", "same-origin").header("cookie", cookie);
        ask.fields(&[("password", "correct horse")]).send()
    };
    let cookie = send("").await.expect(303).cookie();
    for _ in 0..2 {
        let again = send(&cookie).await.expect(303);
        assert_eq!(again.header("location"), path_of(&own), "the gate was passed already");
    }
    is_reveal(&node.get(&own).browser().header("cookie", &cookie).send().await, "<<nothing>>");
    let reveal = node.post(&own).browser().header("sec-fetch-site", "same-origin").header("cookie", &cookie);
    reveal.send().await.expect(200);
    node.get(&own).browser().header("cookie", &cookie).send().await.expect(410);
}

/// Whether any file below the data folder holds these bytes.
fn on_disk(node: &Node, needle: &[u8]) -> bool {
    fn look(dir: &std::path::Path, needle: &[u8]) -> bool {
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).any(|path| {
            if path.is_dir() {
                return look(&path, needle);
            }
            std::fs::read(&path).unwrap().windows(needle.len()).any(|part| part == needle)
        })
    }
    look(node.data_dir(), needle)
}

const LEFT: [&str; 4] = [
    "SELECT COUNT(*) FROM blobs",
    "SELECT COUNT(*) FROM bundles",
    "SELECT COUNT(*) FROM site_versions",
    "SELECT COUNT(*) FROM burns",
];

#[tokio::test]
async fn bytes_are_erased_when_the_window_is_over() {
    on_each_database(Setup::new, async |node| {
        let text = "<title>tell-tale title</title>the very words to be forgotten";
        let site = node.publish(Form::file("a.html", text).field("burn_after_read", "true")).await;
        let large = noise("burnt", 40_000);
        let put = node.put(&site_path(&site)).key(&node.key);
        put.form(Form::file("x", &large).field("e2e", "true")).send().await.expect(200);
        let own = own_host(node, site["url"].as_str().unwrap()).await;
        let cookie = asked(node, &own).await;
        press(node, &own, &cookie).send().await.expect(303);
        node.clock.advance(59);
        node.app().sweep().await.unwrap();
        let bytes = node.get(&own).header("cookie", &cookie).send().await.expect(200).body;
        assert_eq!(bytes, large);
        node.clock.advance(1);
        node.app().sweep().await.unwrap();
        for sql in LEFT {
            assert_eq!(node.count(sql).await, 0, "{sql}");
        }
        let title = node.rows("SELECT title FROM sites", Vec::new(), |row| Ok(row.text(0)?.to_owned())).await;
        assert_eq!(title, [""]);
        for words in [b"tell-tale title".as_slice(), b"the very words to be forgotten", &large[..64]] {
            assert!(!on_disk(node, words), "neither in the database, nor in its log, nor in a folder");
        }
        node.get(&own).header("cookie", &cookie).send().await.expect(410);
        node.clock.advance(366 * 86_400);
        node.app().sweep().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 0);
    })
    .await;
}

#[tokio::test]
async fn bytes_are_erased_once_a_plain_client_has_them() {
    on_each_database(
        || Setup::new().real_time(),
        async |node| {
            let large = noise("plain", 9_000_000);
            let site =
                node.publish(Form::file("x", &large).field("e2e", "true").field("burn_after_read", "true"));
            let url = site.await["url"].as_str().unwrap().to_owned();
            assert_eq!(node.get(&url).send().await.expect(200).body, large);
            // The server's own loop may have been faster; either way nothing is left.
            let start = std::time::Instant::now();
            while node.count("SELECT COUNT(*) FROM blobs").await > 0 {
                assert!(start.elapsed() < std::time::Duration::from_secs(20), "the bytes are still there");
                tokio::task::yield_now().await;
            }
            assert!(!on_disk(node, &large[..64]));
        },
    )
    .await;
}

#[tokio::test]
async fn start_erases_what_a_crash_left() {
    let node = Node::start().await;
    let (_, url) = published(&node, "Interrupted").await;
    let own = own_host(&node, &url).await;
    let cookie = asked(&node, &own).await;
    press(&node, &own, &cookie).send().await.expect(303);
    let dir = node.stop().await;
    let node = Setup::new().start_in(dir).await;
    assert_eq!(node.get(path_of(&url)).send().await.status, 410);
    node.clock.advance(60);
    node.app().sweep().await.unwrap();
    assert_eq!(node.count("SELECT COUNT(*) FROM blobs").await, 0);
}

#[tokio::test]
async fn bytes_that_another_page_shares_stay() {
    let node = Node::start().await;
    let (_, url) = published(&node, "Twin").await;
    let twin = node.publish_page("Twin").await;
    node.get(&url).send().await.expect(200);
    node.clock.advance(60);
    node.app().sweep().await.unwrap();
    assert_eq!(node.get(twin["url"].as_str().unwrap()).send().await.expect(200).text(), page("Twin"));
}
