//! Every form of the pages for people, as listed in the sources: each is refused unless the browser says that one of
//! our pages sent it, and none breaks on odd names. New routes are tested here automatically.

use crate::harness::{Form, Node, Person, Setup, on_each_database, page};
use std::fs;
use std::path::{Path, PathBuf};

/// Forms that carry a file.
const UPLOADS: [&str; 4] =
    ["/dashboard/upload", "/dashboard/appeal", "/dashboard/pages/{id}/content", "/drop"];
/// Forms whose address is the secret, or that do nothing in a person's name: they need our origin, but no cookie and so no
/// token.
const WITHOUT_TOKEN: [&str; 3] = ["/drop", "/pay/sandbox/{checkout}", "/pay/{slug}"];
/// Routers without cookies: they need a key or nothing.
const WITHOUT_COOKIES: [&str; 5] =
    ["api/mod.rs", "guides/mod.rs", "mcp/mod.rs", "metrics_page.rs", "pay/mod.rs"];

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/http")
}

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The arguments of each `.route(…)` in a text without white space.
fn arguments(text: &str) -> Vec<&str> {
    let calls = text.split(".route(").skip(1);
    calls
        .map(|call| {
            let mut depth = 1;
            let end = call.find(|c| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                depth == 0
            });
            &call[..end.unwrap()]
        })
        .collect()
}

/// The paths that accept forms.
pub(crate) fn forms() -> Vec<String> {
    let mut all = Vec::new();
    files(&sources(), &mut all);
    let mut found = Vec::new();
    for file in all {
        let name = file.strip_prefix(sources()).unwrap().to_str().unwrap().to_owned();
        let text: String = fs::read_to_string(&file).unwrap().split_whitespace().collect();
        for other in [".nest(", ".route_service(", ".nest_service(", ".fallback_service("] {
            assert!(!text.contains(other), "{name}: this test cannot read {other}…)");
        }
        if !text.contains(".route(") || WITHOUT_COOKIES.contains(&name.as_str()) {
            continue;
        }
        let pages = match name.as_str() {
            // Its other router is the API for programs.
            "oauth/mod.rs" => text.split_once("fnpages()").unwrap().1,
            _ => text.as_str(),
        };
        for route in arguments(pages) {
            let (path, methods) = route.split_once(',').unwrap();
            let path = match path.trim_matches('"') {
                "HERE" => text.split_once("constHERE:&str=\"").unwrap().1.split('"').next().unwrap(),
                path => path,
            };
            assert!(path.starts_with('/'), "{name}: this test cannot read the path {path}");
            // A catch-all route is a 404 whatever is sent.
            if path.ends_with("{*rest}") && methods.starts_with("any(nowhere") {
                continue;
            }
            for verb in ["put(", "patch(", "delete(", "any(", "on(", "head(", "options("] {
                let used = methods.starts_with(verb) || methods.contains(&format!(".{verb}"));
                assert!(!used, "{name}: forms are sent with POST, but {path} has {verb}…)");
            }
            if methods.starts_with("post(") || methods.contains(").post(") {
                found.push(path.to_owned());
            } else {
                assert!(methods.starts_with("get("), "{name}: this test cannot read {methods}");
            }
        }
    }
    found.sort();
    found
}

/// The path with this id, and this name in place of every other parameter.
fn filled_in(path: &str, id: &str, name: &str) -> String {
    let others = ["{link}", "{item}", "{checkout}", "{slug}", "{sku}", "{hostname}"];
    others.iter().fold(path.replace("{id}", id), |path, parameter| path.replace(parameter, name))
}

/// An operator's browser that has also opened the sign-in page, and the form token for this path.
async fn browser<'a>(node: &'a Node, path: &str) -> (Person<'a>, String) {
    let person = node.operator().await;
    let signed = person.token();
    person.get("/login?again=1").await.expect(200);
    let token = if path.starts_with("/login") { person.token() } else { signed };
    (person, token)
}

#[test]
fn every_router_of_the_pages_is_read() {
    let found = forms();
    for known in ["/login", "/logout", "/device", "/oauth/consent", "/dashboard/keys", "/operator/takedown"] {
        assert!(found.iter().any(|path| path == known), "{known} is missing in {found:?}");
    }
    for upload in UPLOADS {
        assert!(found.iter().any(|path| path == upload), "{upload}");
    }
    let source = fs::read_to_string(sources().join("routes.rs")).unwrap();
    let people = source.split_once("fn people(").unwrap().1.split("\n}").next().unwrap();
    let merged: Vec<&str> = people.lines().filter_map(|line| line.trim().strip_prefix(".merge(")).collect();
    assert!(people.contains("always.merge(pay_link::routes())"));
    let read = ["sign_in::routes())", "oauth::pages())", "dashboard::routes())", "operator::routes())"];
    assert_eq!(merged, read, "a router that this test does not know");
}

#[tokio::test]
async fn every_form_needs_our_origin_and_our_token() {
    let node = Node::start().await;
    let site = node.publish_page("x").await;
    let origin = node.base_url();
    for path in forms() {
        let (tab, token) = browser(&node, &path).await;
        let at = filled_in(&path, site["id"].as_str().unwrap(), "x");
        let is_upload = UPLOADS.contains(&path.as_str());
        let filled = |token: Option<&str>| {
            let ask = tab.script(&at).header("accept", "text/html");
            match (token, is_upload) {
                (Some(token), true) => {
                    let form = Form::file("a.html", page("y")).field("form_token", token);
                    ask.form(form).header("x-form-token", token)
                }
                (None, true) => ask.form(Form::file("a.html", page("y"))),
                (Some(token), false) => ask.fields(&[("form_token", token)]).header("x-form-token", token),
                (None, false) => ask.fields(&[]),
            }
        };
        let wrong = "A".repeat(43);
        for (why, ask) in [
            ("no origin", filled(Some(&token))),
            ("another origin", filled(Some(&token)).header("origin", "https://evil.example")),
            (
                "a sibling",
                filled(Some(&token)).header("origin", &origin).header("sec-fetch-site", "same-site"),
            ),
            ("no token", filled(None).header("origin", &origin)),
            ("another token", filled(Some(&wrong)).header("origin", &origin)),
        ] {
            if why.ends_with("token") && WITHOUT_TOKEN.contains(&path.as_str()) {
                continue;
            }
            let answer = ask.send().await;
            assert_eq!(answer.status, 403, "{path}: {why}: {}", answer.text());
        }
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
    assert_eq!(node.count("SELECT COUNT(*) FROM audit").await, 0);
}

#[tokio::test]
async fn nul_in_a_name_is_nobodys_and_breaks_nothing() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("x").await;
        let id = site["id"].as_str().unwrap();
        for path in forms() {
            let (tab, token) = browser(node, &path).await;
            let ids = if path.starts_with("/dashboard/pages/") { id } else { "a%00b" };
            let at = filled_in(&path, ids, "a%00b");
            let all = [
                "page",
                "reason",
                "plan",
                "email",
                "code",
                "token",
                "name",
                "user_code",
                "title",
                "slug",
                "hostname",
                "site",
                "q",
            ];
            let mut fields: Vec<_> = all.map(|name| (name, "a\0b")).to_vec();
            fields.push(("form_token", &token));
            let ask = tab.bare(&at).fields(&fields).header("origin", &node.base_url());
            let answer = ask.header("x-form-token", &token).send().await;
            assert!(answer.status < 500 && answer.status != 403, "{at}: {} {}", answer.status, answer.text());
        }
        for form in [
            Form::file("a\0b.html", page("x")),
            Form::file("a.html", page("a\0b")),
            Form::file("a.html", page("x")).field("title", "a\0b").field("slug", "a\0b"),
        ] {
            let answer = node.post("/sites").key(&node.key).form(form).send().await;
            assert!(answer.status < 500, "{} {}", answer.status, answer.text());
        }
        let (tab, _) = browser(node, "/").await;
        for path in [
            "/operator/accounts?q=%00",
            "/operator/accounts?before=1&before_id=%00",
            "/operator?done=taken-down&page=%00",
            "/dashboard?q=%00",
            "/dashboard?before=1&before_id=%00",
            "/dashboard/domains?page=%00",
            "/dashboard/domains/a%00b",
            "/dashboard/pages/a%00b",
            "/claim/a%00b",
            "/login/link?token=%00",
            "/device?user_code=%00",
            "/oauth/authorize?client_id=%00&response_type=code",
        ] {
            let answer = tab.get(path).await;
            assert!(answer.status < 500, "{path}: {} {}", answer.status, answer.text());
        }
        for (method, path) in [
            (reqwest::Method::DELETE, "/api-keys/a%00b".to_owned()),
            (reqwest::Method::GET, "/sites/a%00b".to_owned()),
            (reqwest::Method::DELETE, format!("/sites/{id}/share-tokens/a%00b")),
            (reqwest::Method::GET, "/p/a%00b/".to_owned()),
            (reqwest::Method::GET, format!("/p/{}/a%00b", site["unlisted_token"].as_str().unwrap())),
        ] {
            let answer = node.ask(method, &path).key(&node.key).send().await;
            assert!((400..500).contains(&answer.status), "{path}: {} {}", answer.status, answer.text());
        }
    })
    .await;
}
