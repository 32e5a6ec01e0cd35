//! `dropleaf list`, `info`, `open`, `versions`, `rollback`, `delete` and `restore`: the real binary against a running server.

use crate::harness::{Dropleaf, Form, Node, Setup, page, site_path};
use axum::extract::Query;
use serde_json::Value;
use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;

/// A computer with a key for the server.
pub(super) fn machine(node: &Node) -> (TempDir, Dropleaf) {
    let home = TempDir::new().unwrap();
    let dropleaf = Dropleaf::in_dir(home.path())
        .env("HOME", home.path().to_str().unwrap())
        .env("DROPLEAF_URL", &node.base_url())
        .env("DROPLEAF_API_KEY", &node.key);
    (home, dropleaf)
}

pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap()
}

fn json(dropleaf: &Dropleaf, args: &[&str]) -> Value {
    serde_json::from_str(&dropleaf.prints(args)).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn list_shows_every_page_and_json_is_what_the_server_answers() {
    let node = Node::start().await;
    let (_home, dropleaf) = machine(&node);
    assert!(dropleaf.prints(&["list"]).starts_with("No pages."));
    let mut sites = Vec::new();
    for title in ["One", "Two", "Three"] {
        sites.push(node.publish_page(title).await);
        node.clock.advance(60);
    }
    let shown = dropleaf.prints(&["list"]);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines.len() == 4 && lines[0].starts_with("page "), "{shown}");
    for (line, site) in lines[1..].iter().zip(sites.iter().rev()) {
        assert!(line.contains(text(site, "id")) && line.contains(text(site, "title")), "{shown}");
    }
    assert!(
        shown.contains("T00:00:00Z") && !shown.contains('\u{1b}'),
        "absolute times and no colours: {shown}"
    );

    let all = json(&dropleaf, &["list", "--json"]);
    assert_eq!(all["has_more"], false);
    let served = node.get("/sites").key(&node.key).send().await.expect(200).json();
    assert_eq!(all["sites"], served["sites"]);
    let two = json(&dropleaf, &["list", "--json", "--limit", "2"]);
    assert_eq!((two["sites"].as_array().unwrap().len(), &two["has_more"]), (2, &Value::Bool(true)));
    let output = dropleaf.run(&["list", "--limit", "2"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("--limit"), "there are more");
    assert!(dropleaf.prints(&["list", "--state", "expired"]).starts_with("No expired pages."));
    assert_eq!(dropleaf.run(&["list", "--state", "odd"]).status.code(), Some(2));
}

/// A server that returns two of its five pages at a time, and after them an empty part that promises more.
async fn parts(Query(query): Query<HashMap<String, String>>) -> axum::Json<Value> {
    let before: i64 = query.get("before").map_or(5, |text| text.parse().unwrap());
    let count = query["limit"].parse::<i64>().unwrap().min(2).min(before);
    let sites: Vec<Value> = (0..count)
        .map(|at| {
            let id = format!("site_{}", before - at);
            serde_json::json!({"id": id, "url": format!("http://x/p/{id}/"), "title": id, "visibility": "unlisted"})
        })
        .collect();
    let next = before - count;
    axum::Json(serde_json::json!({
        "sites": sites, "has_more": true, "next_before": next, "next_before_id": format!("site_{next}"),
    }))
}

#[tokio::test(flavor = "multi_thread")]
async fn list_reads_part_after_part_and_ends() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = axum::Router::new().route("/sites", axum::routing::get(parts));
    // Ends with the test.
    let mut server = tokio::task::JoinSet::new();
    server.spawn(async move { axum::serve(listener, router).await.unwrap() });
    let home = TempDir::new().unwrap();
    let dropleaf =
        Dropleaf::in_dir(home.path()).env("DROPLEAF_URL", &url).env("DROPLEAF_API_KEY", "stk_live_x");
    let ids = |args: &[&str]| {
        let all = json(&dropleaf, args);
        let ids = all["sites"].as_array().unwrap().iter().map(|site| text(site, "id").to_owned());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(ids(&["list", "--json"]), ["site_5", "site_4", "site_3", "site_2", "site_1"]);
    assert_eq!(ids(&["list", "--json", "--limit", "3"]), ["site_5", "site_4", "site_3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn page_is_found_by_id_slug_token_and_every_url() {
    let node = Node::start().await;
    let (_home, dropleaf) = machine(&node);
    let form = Form::file("a.html", page("Public")).field("slug", "my-report");
    let (public, private) = (node.publish(form).await, node.publish_page("Private").await);
    let url = |site: &Value| text(site, "url").to_owned();
    let dashboard = format!("{}/dashboard/pages/{}", node.base_url(), text(&public, "id"));
    for name in
        [text(&public, "id"), "my-report", &url(&public), &format!("{}deep/x?y#z", url(&public)), &dashboard]
    {
        assert_eq!(json(&dropleaf, &["info", name, "--json"])["id"], public["id"], "{name}");
    }
    for name in [text(&private, "unlisted_token"), &url(&private)] {
        assert_eq!(json(&dropleaf, &["info", name, "--json"])["id"], private["id"], "{name}");
    }
    let complaint = dropleaf.complains(&["info", "https://my-report.example.org/"]);
    assert!(complaint.contains("you have no page at https://my-report.example.org/"), "{complaint}");
    assert_eq!(dropleaf.run(&["info", "ftp://x/p/y/"]).status.code(), Some(2));
    assert_eq!(dropleaf.run(&["info", "nowhere"]).status.code(), Some(1));

    let shown = dropleaf.prints(&["info", "my-report"]);
    for part in
        ["Title    Public", &url(&public), "Slug     my-report", "Access   public", "Expires", "bytes"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn open_starts_the_browser_where_there_is_a_desktop() {
    let node = Node::start().await;
    let (home, dropleaf) = machine(&node);
    let site = node.publish_page("Open me").await;
    let (id, url) = (text(&site, "id"), text(&site, "url"));
    assert_eq!(dropleaf.prints(&["open", id]), format!("{url}\n"), "no desktop: only the URL");
    let (tools, seen) = (home.path().join("tools"), home.path().join("seen"));
    std::fs::create_dir(&tools).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(&seen).status().unwrap();
    assert!(pipe.success());
    let browser = tools.join("xdg-open");
    std::fs::write(&browser, format!("#!/bin/sh\necho \"$1\" > '{}'\n", seen.display())).unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    let reader = std::thread::spawn(move || std::fs::read_to_string(seen).unwrap());
    let desktop = dropleaf.env("DISPLAY", ":0").env("PATH", &format!("{}:/usr/bin:/bin", tools.display()));
    assert_eq!(desktop.prints(&["open", id]), format!("{url}\n"));
    assert_eq!(reader.join().unwrap(), format!("{url}\n"), "the browser got the URL");
}

#[tokio::test(flavor = "multi_thread")]
async fn rollback_goes_back_one_version_or_to_a_named_one() {
    let node = Node::start().await;
    let (_home, dropleaf) = machine(&node);
    let site = node.publish_page("First").await;
    let id = text(&site, "id");
    assert!(dropleaf.complains(&["rollback", id]).contains("there is no older version"));
    for title in ["Second", "Third"] {
        node.clock.advance(60);
        let form = Form::file("page.html", page(title));
        node.put(&site_path(&site)).key(&node.key).form(form).send().await.expect(200);
    }
    let shown = dropleaf.prints(&["versions", id]);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(
        lines[1].contains("Third") && lines[1].ends_with("shown now") && lines[3].contains("First"),
        "{shown}"
    );
    assert_eq!(dropleaf.prints(&["rollback", id]), format!("{}\n", text(&site, "url")));
    assert_eq!(node.read_site(&site).await["title"], "Second");
    // The next one goes further back, not forward again.
    dropleaf.prints(&["rollback", id]);
    assert_eq!(node.read_site(&site).await["title"], "First");
    let third = json(&dropleaf, &["rollback", id, "3", "--json"]);
    assert_eq!((&third["title"], &third["version"]), (&"Third".into(), &6.into()));
    let versions = json(&dropleaf, &["versions", id, "--json"]);
    assert_eq!(versions["versions"][0]["restored_from"], 3);
    assert!(dropleaf.prints(&["versions", id]).contains("shown now, restored version 3"));
    assert_eq!(dropleaf.run(&["rollback", id, "99"]).status.code(), Some(1));
    assert_eq!(dropleaf.run(&["rollback", id, "0"]).status.code(), Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn delete_needs_consent_and_says_how_to_undo_it() {
    let node = Node::start().await;
    let (home, dropleaf) = machine(&node);
    let site = node.publish_page("Going").await;
    let (id, url) = (text(&site, "id"), text(&site, "url"));
    let refused = dropleaf.run(&["delete", id]);
    assert_eq!(refused.status.code(), Some(2), "no terminal and no --yes");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--yes"));
    node.get(url).send().await.expect(200);

    let deleted = dropleaf.run(&["delete", url, "--yes"]);
    assert!(deleted.status.success());
    let hint = String::from_utf8_lossy(&deleted.stderr).into_owned();
    assert!(hint.contains(&format!("dropleaf restore {id}")), "{hint}");
    node.get(url).send().await.expect(410);
    assert_eq!(dropleaf.run(&["info", id]).status.code(), Some(1));
    assert_eq!(dropleaf.prints(&["restore", id]), format!("{url}\n"));
    node.get(url).send().await.expect(200);

    let answer = json(&dropleaf, &["delete", id, "--yes", "--json"]);
    assert!(answer["ok"] == true && answer["restorable_until"].is_i64(), "{answer}");
    assert_eq!(json(&dropleaf, &["restore", url, "--json"])["id"], site["id"]);
    let purged = json(&dropleaf, &["delete", id, "--yes", "--purge", "--json"]);
    assert!(purged["restorable_until"].is_null(), "{purged}");
    assert_eq!(dropleaf.run(&["restore", id]).status.code(), Some(1));

    std::fs::create_dir(home.path().join("copy")).unwrap();
    let complaint = dropleaf.complains(&["restore", "copy"]);
    assert!(complaint.contains("dropleaf backup restore copy"), "{complaint}");
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_public_page_is_restored_by_its_url() {
    let node = Node::start().await;
    let (_home, dropleaf) = machine(&node);
    let site = node.publish(Form::file("a.html", page("Public")).field("slug", "my-report")).await;
    let url = text(&site, "url");
    dropleaf.prints(&["delete", url, "--yes"]);
    assert_eq!(dropleaf.prints(&["restore", url]), format!("{url}\n"));

    // The first part of a custom domain is not the slug of another page.
    let other = node.publish_page("Other").await;
    let domain = serde_json::json!({"hostname": "my-report.customer.example", "site_id": other["id"]});
    node.post("/custom-domains").key(&node.key).json(&domain).send().await.expect(201);
    for page in [url, text(&other, "url")] {
        dropleaf.prints(&["delete", page, "--yes"]);
    }
    let restored = json(&dropleaf, &["restore", "https://my-report.customer.example/", "--json"]);
    assert_eq!(restored["id"], other["id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn exit_codes_tell_scripts_what_went_wrong() {
    let node = Setup::new().start().await;
    let site = node.publish_page("Mine").await;
    let (_home, dropleaf) = machine(&node);
    let home = TempDir::new().unwrap();
    let signed_out = Dropleaf::in_dir(home.path()).env("HOME", home.path().to_str().unwrap());
    let code = |dropleaf: &Dropleaf, args: &[&str]| dropleaf.run(args).status.code().unwrap();
    let id = text(&site, "id");
    let commands: [&[&str]; 8] = [
        &["list"],
        &["info", id],
        &["open", id],
        &["versions", id],
        &["rollback", id],
        &["feedback", id],
        &["share", "list", id],
        &["delete", id, "--yes"],
    ];
    for args in commands {
        assert_eq!(code(&signed_out, args), 4, "not signed in: {args:?}");
    }
    let stranger = node.account("free").await;
    let (_other, other) = machine(&node);
    let other = other.env("DROPLEAF_API_KEY", &stranger);
    for args in &commands[1..] {
        assert_eq!(code(&other, args), 1, "another account: {args:?}");
    }
    let (_wrong, wrong) = machine(&node);
    let wrong = wrong.env("DROPLEAF_API_KEY", "stk_live_wrong");
    let complaint = wrong.complains(&["list"]);
    assert!(complaint.contains("no longer works; run `dropleaf login"), "{complaint}");
    assert_eq!(code(&wrong, &["list"]), 4);
    node.stop().await;
    for args in commands {
        assert_eq!(code(&dropleaf, args), 5, "unreachable: {args:?}");
    }
}
