//! Gates, share links, burn pages and their cookies at custom domains.

use crate::access::email_gate::{ANN, ask, enter, with_mail};
use crate::access::gates::{PASSWORD, guess, locked, open};
use crate::access::share_tokens::{share, text};
use crate::domains::served_names::{change, domain, serve, serve_as_primary};
use crate::harness::{Form, MailServer, Mood, Node, Seen, Setup, code_in, on_each_database, page, zip};
use dropleaf_core::custom_domain::DomainStatus;
use dropleaf_store::custom_domains;
use serde_json::json;

const NAME: &str = "reports.example.com";
const OTHER: &str = "other.example.com";

fn origin(root: &str) -> &str {
    root.trim_end_matches('/')
}

#[tokio::test]
async fn password_gate_opens_its_own_name_and_no_other() {
    on_each_database(Setup::new, async |node| {
        let (site, neighbour) = (locked(node, "Inside").await, locked(node, "Neighbour").await);
        let (root, other) = (serve(node, NAME, &site).await, serve(node, OTHER, &neighbour).await);
        let gate = node.get(&format!("{root}deep?x=1")).browser().send().await.expect(401);
        assert!(gate.text().contains("action=\"/_dropleaf/gate\"") && !gate.text().contains("Inside"));
        assert!(gate.text().contains("href=\"/_dropleaf/report\""));
        let shared = node.base_url();
        for foreign in [origin(&other), &shared, "https://reports.example.com", "null"] {
            let form = guess(node, &root, PASSWORD).header("origin", foreign);
            form.send().await.expect(403);
        }
        let form = node.post(&format!("{root}_dropleaf/gate"));
        let form = form.fields(&[("password", PASSWORD), ("to", "/deep?x=1")]).browser();
        let opened =
            form.header("origin", origin(&root)).header("sec-fetch-site", "same-origin").send().await;
        let opened = opened.expect(303);
        assert_eq!(opened.header("location"), "/deep?x=1");
        let cookie = opened.cookie();
        let seen = node.get(&root).cookie(&cookie).send().await.expect(200);
        assert_eq!(seen.header("cross-origin-resource-policy"), "same-origin");
        assert_eq!(seen.header("cache-control"), "no-store");
        // The pass is bound to the site, in case a browser is made to send it to another name.
        node.get(&other).cookie(&cookie).send().await.expect(401);
        let basic = crate::access::gates::basic(PASSWORD);
        node.get(&root).header("authorization", &basic).send().await.expect(200);
        // When the name moves to another site of its owner, the cookies of the first one open nothing.
        let before = domain(node, NAME, &site, DomainStatus::Verified).await;
        let after = domain(node, NAME, &neighbour, DomainStatus::Verified).await;
        change(node, vec![custom_domains::update(&before, &after)]).await;
        node.get(&root).cookie(&cookie).send().await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn cookies_are_bound_to_the_host_over_https_and_browsers_take_them_over_http() {
    let setup = || {
        let setup = Setup::new().set("base_url", "https://api.example.org");
        setup.set("site_url", "https://pages.example.net")
    };
    let node = setup().start().await;
    let form = Form::file("a.html", page("A")).field("password", PASSWORD);
    let ask = node.post("/sites").host("api.example.org").key(&node.key);
    let site = ask.form(form).send().await.expect(201).json();
    assert_eq!(serve(&node, NAME, &site).await, format!("https://{NAME}/"));
    let ask = node.post("/_dropleaf/gate").host(NAME).fields(&[("password", PASSWORD)]);
    let opened = ask.header("origin", &format!("https://{NAME}")).send().await.expect(303);
    let cookie = opened.header("set-cookie");
    assert!(cookie.starts_with("__Host-g="), "{cookie}");
    assert!(cookie.contains("; Path=/;") && cookie.ends_with("; HttpOnly; SameSite=Lax; Secure"), "{cookie}");
    assert!(!cookie.contains("Domain"), "{cookie}");
    assert_eq!(
        opened.header("strict-transport-security"),
        "max-age=31536000",
        "not for the owner's other hosts"
    );
    node.get("/").host(NAME).cookie(&opened.cookie()).send().await.expect(200);
    // A page on a sibling host can set a cookie for both, but not one with the prefix.
    let planted = opened.cookie().replace("__Host-", "");
    node.get("/").host(NAME).cookie(&planted).send().await.expect(401);

    // Over http only names of this machine may set `Secure` cookies.
    let node = Node::start().await;
    let site = locked(&node, "Local").await;
    let root = serve(&node, NAME, &site).await;
    let opened = guess(&node, &root, PASSWORD).send().await.expect(303);
    let cookie = opened.header("set-cookie");
    assert!(cookie.starts_with("g=") && !cookie.contains("Secure"), "{cookie}");
    node.get(&root).cookie(&opened.cookie()).send().await.expect(200);
}

#[tokio::test]
async fn email_gate_sends_a_code_for_the_page_at_its_name() {
    let mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).start().await;
    let site = crate::access::email_gate::gated(&node, "Members").await;
    let root = serve(&node, NAME, &site).await;
    let gate = node.get(&root).browser().send().await.expect(401);
    assert!(gate.text().contains("action=\"/_dropleaf/code\""), "{}", gate.text());
    ask(&node, &root, ANN).header("origin", origin(&root)).send().await.expect(200);
    let Seen::Letter { text, .. } = mail.next().await else { panic!("an email") };
    let opened = enter(&node, &root, ANN, &code_in(&text)).send().await.expect(303);
    assert_eq!(opened.header("location"), "/");
    node.get(&root).cookie(&opened.cookie()).send().await.expect(200);
}

#[tokio::test]
async fn share_link_of_a_page_with_a_primary_domain_opens_the_gate_there() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node, "Shared").await;
        let root = serve_as_primary(node, NAME, &site).await;
        let link = share(node, &site, json!({})).await;
        let url = text(&link, "url");
        assert_eq!(url, format!("{root}?t={}", text(&link, "token")));
        assert_eq!(node.get(url).send().await.expect(200).text(), page("Shared"));
        let sent = node.get(&format!("{url}&x=1")).browser().send().await.expect(303);
        assert_eq!(sent.header("location"), "/?x=1");
        let cookie = sent.cookie();
        assert_eq!(node.get(&root).browser().cookie(&cookie).send().await.expect(200).text(), page("Shared"));
        node.get(&root).browser().send().await.expect(401);
        // The path of a link cannot lead to another host.
        let sent =
            node.get(&format!("{root}/evil.example/?t={}", text(&link, "token"))).browser().send().await;
        assert_eq!(sent.expect(303).header("location"), "/.//evil.example/");
    })
    .await;
}

#[tokio::test]
async fn burn_page_is_revealed_once_at_its_name() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish(crate::access::burn::burning("Once")).await;
        let root = serve(node, NAME, &site).await;
        let prefetch = node.get(&root).browser().header("sec-purpose", "prefetch").send().await;
        prefetch.expect(503);
        node.head(&root).send().await.expect(200);
        let button = node.get(&root).browser().send().await;
        crate::access::burn::is_reveal(&button, "Once");
        assert!(button.text().contains("action=\"/_dropleaf/reveal\""));
        let cookie = button.cookie();
        let press = |from: &str| {
            let ask = node.post(&format!("{root}_dropleaf/reveal")).browser().header("origin", from);
            ask.cookie(&cookie).send()
        };
        press(&node.base_url()).await.expect(403);
        press("https://evil.example").await.expect(403);
        assert_eq!(press(origin(&root)).await.expect(303).header("location"), "/");
        assert_eq!(node.get(&root).browser().cookie(&cookie).send().await.expect(200).text(), page("Once"));
        for url in [&root, site["url"].as_str().unwrap()] {
            node.get(url).send().await.expect(410);
        }
        node.clock.advance(60);
        node.get(&root).browser().cookie(&cookie).send().await.expect(410);
    })
    .await;
}

#[tokio::test]
async fn owner_is_led_to_a_host_of_ours_and_the_ticket_works_at_the_name_too() {
    let node = Node::start().await;
    let site = locked(&node, "Mine").await;
    let own = site["url"].as_str().unwrap();
    let root = serve_as_primary(&node, NAME, &site).await;
    assert_eq!(node.read_site(&site).await["url"], root);
    let owner = node.operator().await;
    let opening = format!("/dashboard/pages/{}/open", site["id"].as_str().unwrap());
    let to = owner.submit(&opening, &[]).await.expect(303).header("location").to_owned();
    assert!(to.starts_with(&format!("{own}?owner=own_")), "{to}");
    let there = to.replace(own, &root);
    let sent = node.get(&there).browser().send().await.expect(303);
    assert_eq!(sent.header("location"), "/");
    assert_eq!(node.get(&root).cookie(&sent.cookie()).send().await.expect(200).text(), page("Mine"));
    node.get(&there).browser().send().await.expect(303);
}

#[tokio::test]
async fn sandboxed_frames_of_a_gated_page_keep_their_files() {
    let node = Node::start().await;
    let files = zip(&[
        ("index.html", "<p>index<iframe sandbox='allow-scripts' src='sub/frame.html'></iframe>"),
        ("sub/frame.html", "<img src='../a.png'>"),
        ("a.png", "png"),
    ]);
    let site = node.publish(Form::file("s.zip", files).field("password", PASSWORD)).await;
    let root = serve(&node, NAME, &site).await;
    let cookie = open(&node, &root).await;
    let frame = node.get(&format!("{root}sub/frame.html")).browser().header("sec-fetch-dest", "iframe");
    let led = frame.header("sec-fetch-site", "same-origin").cookie(&cookie).send().await.expect(307);
    let path = led.header("location").to_owned();
    assert!(path.starts_with("/_dropleaf/frame/"), "{path}");
    let image = format!("{}{}", origin(&root), path.replace("sub/frame.html", "a.png"));
    assert_eq!(node.get(&image).send().await.expect(200).text(), "png");
}

#[tokio::test]
async fn too_many_cookies_are_refused_and_not_cleared_for_the_owners_whole_domain() {
    let node = Node::start().await;
    let site = node.publish_page("Visited").await;
    let root = serve(&node, NAME, &site).await;
    let cookies = format!("session={}", "x".repeat(40_000));
    let refused = node.get(&root).browser().cookie(&cookies).send().await.expect(431);
    assert!(!refused.has("clear-site-data"));
    assert!(refused.text().contains("Delete the cookies of this site") && !refused.text().contains("xxx"));
}
