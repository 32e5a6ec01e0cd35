//! `dropleaf edit`, with `diff` and `versions`, against a running server.

use super::pages_cli::{machine, text};
use crate::harness::{Form, HARVEST, Node, page, zip};
use serde_json::Value;

#[tokio::test(flavor = "multi_thread")]
async fn text_of_a_page_is_replaced_compared_and_listed() {
    let node = Node::start().await;
    let (_home, dropleaf) = machine(&node);
    let site = node.publish(Form::file("a.html", "<!doctype html>\n<title>T</title>\n<p>draft</p>\n")).await;
    let id = text(&site, "id");
    let tried = dropleaf.run(&["edit", id, "--find", "draft", "--replace", "final", "--dry-run"]);
    assert!(tried.status.success(), "{tried:?}");
    let said = String::from_utf8_lossy(&tried.stderr).into_owned();
    assert!(said.contains("+<p>final</p>") && said.contains("Nothing was changed."), "{said}");
    assert_eq!(node.read_site(&site).await["version"], 1);
    let edited = dropleaf.run(&["edit", text(&site, "url"), "--find", "draft", "--replace", "-$& final"]);
    assert_eq!(String::from_utf8_lossy(&edited.stdout).trim_end(), text(&site, "url"), "{edited:?}");
    assert!(String::from_utf8_lossy(&edited.stderr).contains("Published as version 2."), "{edited:?}");
    let shown = dropleaf.prints(&["diff", id]);
    assert!(shown.contains("-<p>draft</p>\n+<p>-$& final</p>\n"), "{shown}");
    let versions = dropleaf.prints(&["versions", id]);
    assert_eq!(versions.lines().count(), 3, "{versions}");
    let json: Value = serde_json::from_str(&dropleaf.prints(&[
        "edit",
        id,
        "--find",
        "<title>",
        "--replace",
        "<title>A ",
        "--find",
        "</p>",
        "--replace",
        "!</p>",
        "--json",
    ]))
    .unwrap();
    assert_eq!((&json["version"], &json["title"]), (&3.into(), &"A T".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_archives_are_named_and_refusals_have_their_exit_codes() {
    let node = Node::start().await;
    let (_home, dropleaf) = machine(&node);
    let index = page("Site");
    let files = [("index.html", index.as_str()), ("a.css", "p { color: red; fill: red }\n")];
    let site = node.publish(Form::file("s.zip", zip(&files))).await;
    let id = text(&site, "id");
    let edit = |more: &[&str]| dropleaf.run(&[&["edit", id][..], more].concat());
    let twice = edit(&["--file", "a.css", "--find", "red", "--replace", "green"]);
    assert_eq!(twice.status.code(), Some(1), "{twice:?}");
    assert!(String::from_utf8_lossy(&twice.stderr).contains("occurs 2 times"), "{twice:?}");
    let phishing = edit(&["--find", "<title>Site</title>", "--replace", HARVEST]);
    assert_eq!(phishing.status.code(), Some(3), "{phishing:?}");
    let unpaired = edit(&["--find", "a", "--find", "b", "--replace", "c"]);
    assert_eq!(unpaired.status.code(), Some(2), "{unpaired:?}");
    assert_eq!(node.read_site(&site).await["version"], 1, "nothing was changed");
    let all = edit(&["--file", "a.css", "--find", "red", "--replace", "green", "--all"]);
    assert!(all.status.success(), "{all:?}");
    let shown = dropleaf.prints(&["diff", id, "1", "2"]);
    assert!(shown.contains("+p { color: green; fill: green }"), "{shown}");
}
