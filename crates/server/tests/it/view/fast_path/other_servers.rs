//! The same for servers and pages of other kinds: with HTTPS, without hosts of their own for pages, at custom domains; pages that
//! are held back, taken down or shown after a warning.

use super::{BROWSER, compare, host_of, own_host, path_of, plain, with};
use crate::domains::served_names::serve;
use crate::harness::{Form, Node, Setup, page, zip};
use serde_json::Value;

type Target = (String, String);

const LINES: [&str; 6] = [
    BROWSER,
    "If-None-Match: *",
    "Accept-Encoding: br",
    "Accept-Encoding: zstd, gzip;q=0.5",
    "Sec-Fetch-Mode: no-cors\r\nSec-Fetch-Site: same-origin",
    "Sec-Fetch-Mode: no-cors\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: script",
];

fn files() -> Form {
    let files = [
        ("index.html", page("Files")),
        ("app.js", "run();".repeat(200)),
        ("a.css", "p{color:red}".repeat(60)),
        ("run.bat", "echo".to_owned()),
        ("sub/index.html", page("Sub")),
        ("404.html", "<p>none".to_owned()),
    ];
    Form::file("s.zip", zip(&files.each_ref().map(|(name, text)| (*name, text.as_str()))))
}

/// The paths of such a page below its root.
fn below(host: &str, root: &str) -> Vec<Target> {
    let names = ["", "app.js", "a.css", "run.bat", "sub", "sub/", "none", "robots.txt", "_dropleaf/report"];
    names.iter().map(|name| (host.to_owned(), format!("{root}{name}"))).collect()
}

/// Asks for each on both paths; returns how many responses the fast path gave.
async fn compare_targets(node: &Node, targets: &[Target]) -> usize {
    // So that rows and files are in memory.
    for (host, path) in targets {
        for coding in ["identity", "gzip", "br", "zstd"] {
            node.get(path).host(host).header("accept-encoding", coding).send().await;
        }
    }
    let sent: Vec<Vec<Vec<u8>>> = targets
        .iter()
        .flat_map(|target| {
            let request = plain(target);
            let more = LINES.map(|lines| vec![with(&request, lines)]);
            [vec![request.into_bytes()]].into_iter().chain(more)
        })
        .collect();
    compare(node, &sent).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_behind_https_gives_the_same_bytes() {
    const HOST: &str = "drop.example.org";
    for (isolation, least) in [("hosts", 40), ("sandbox", 40)] {
        let setup = Setup::new().set("base_url", format!("https://{HOST}")).set("isolation", isolation);
        let node = setup.start().await;
        let publish = async |form: Form| -> Value {
            node.post("/sites").host(HOST).key(&node.key).form(form).send().await.expect(201).json()
        };
        let (site, public) = (publish(files()).await, publish(files().field("slug", "open-files")).await);
        let mut targets = below(HOST, &path_of(&site));
        let led = node.get(&path_of(&site)).host(HOST).browser().send().await;
        if led.status == 307 {
            let own = led.header("location").replace("https://", "http://");
            targets.extend(below(&host_of(&own), &path_of(&site)));
        }
        let url = public["url"].as_str().unwrap().replace("https://", "http://");
        let host = host_of(&url);
        let root = url.strip_prefix(&format!("http://{host}")).unwrap();
        targets.extend(below(&host, root));
        let seen = node.get(&path_of(&site)).host(HOST).send().await.expect(200);
        assert!(seen.has("strict-transport-security"));
        let fast = compare_targets(&node, &targets).await;
        assert!(fast > least, "{isolation}: {fast} responses came from the fast path");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_without_hosts_of_their_own_give_the_same_bytes() {
    let node = Setup::new().set("isolation", "sandbox").start().await;
    let site = node.publish(files()).await;
    let public = node.publish(files().field("slug", "open-files")).await;
    let host = format!("localhost:{}", node.port);
    let strict = node.publish(Form::file("a.html", page("Strict")).field("csp_strict", "true")).await;
    let routes = node.publish(files().field("spa", "true")).await;
    let mut targets = below(&host, &path_of(&site));
    assert!(public["url"].as_str().unwrap().ends_with("/s/open-files/"), "{public}");
    targets.extend(below(&host, "/s/open-files/"));
    targets.extend(below(&host, &path_of(&routes)));
    targets.push((host.clone(), path_of(&strict)));
    targets.extend(["/s/", "/s/none/", "/s/open-files"].map(|path| (host.clone(), path.to_owned())));
    let fast = compare_targets(&node, &targets).await;
    assert!(fast > 40, "{fast} responses came from the fast path");
}

#[tokio::test(flavor = "multi_thread")]
async fn custom_domains_give_the_same_bytes() {
    let node = Node::start().await;
    let mut targets = Vec::new();
    for (name, form) in [
        ("unlisted.example.com", files()),
        ("public.example.com", files().field("slug", "open-files")),
        ("routed.example.com", files().field("spa", "true")),
        ("gated.example.com", files().field("password", "hunter2")),
    ] {
        let site = node.publish(form).await;
        let host = host_of(&serve(&node, name, &site).await);
        targets.extend(below(&host, "/"));
        targets.push((host, path_of(&site)));
    }
    let fast = compare_targets(&node, &targets).await;
    assert!(fast > 40, "{fast} responses came from the fast path");
}

/// Publishes a page, and returns its addresses: shared, and on its own host.
async fn addresses(node: &Node, site: &Value) -> Vec<Target> {
    let shared = format!("localhost:{}", node.port);
    let mut targets = below(&shared, &path_of(site));
    targets.extend(below(&own_host(node, site).await, &path_of(site)));
    targets
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_are_not_shown_are_never_answered_on_the_fast_path() {
    let node = Setup::new().set("safety.attention", "interstitial").start().await;
    let person = node.newcomer_on("pro").await;
    let key = crate::moderation::suspension::key_of(&node, &person).await;
    let suspended = node.publish_as(&key, files()).await;
    let taken = node.publish(files()).await;
    let warned = node.publish(files()).await;
    let ended = node.publish(files()).await;
    let mut targets = Vec::new();
    for site in [&suspended, &taken, &warned, &ended] {
        targets.extend(addresses(&node, site).await);
    }
    let open = compare_targets(&node, &targets).await;
    assert!(open > 40, "{open} responses came from the fast path while all pages were open");
    node.app().suspend_account("operator", &person.account.id, "spam").await.unwrap();
    node.app().take_down("ada", taken["id"].as_str().unwrap(), "fraud").await.unwrap();
    node.exec("UPDATE sites SET warned_at = 1 WHERE id = $1", vec![warned["id"].as_str().unwrap().into()])
        .await;
    node.exec("UPDATE sites SET state = 'expired' WHERE id = $1", vec![ended["id"].as_str().unwrap().into()])
        .await;
    node.clock.advance(1);
    assert_eq!(compare_targets(&node, &targets).await, 0);
}
