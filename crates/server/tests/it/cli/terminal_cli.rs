//! Commands in a pseudo-terminal: tables that fit, colours, and questions.

use super::pages_cli::{machine, text};
use crate::harness::{Dropleaf, Form, HARVEST, Node, page, site_path};
use tempfile::TempDir;

const LONG: &str = "A title that is much longer than any column of a narrow terminal can be";

/// The text without the codes of colours.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, code)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = code.split_once('m').map_or("", |(_, after)| after);
    }
    plain + rest
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_fit_the_terminal_and_are_coloured() {
    let node = Node::start().await;
    let (_home, dropleaf) = machine(&node);
    node.publish_page(LONG).await;
    for columns in [100, 80, 40] {
        let (code, screen) = dropleaf.on_terminal(columns, &["list"], "");
        assert_eq!(code, 0, "{screen}");
        assert!(screen.contains("\u{1b}["), "coloured: {screen:?}");
        let shown = plain(&screen);
        assert!(shown.lines().all(|line| line.chars().count() <= usize::from(columns)), "{columns}: {shown}");
        assert!(shown.contains('…') && shown.contains(" ago"), "{columns}: {shown}");
    }
    let (_, wide) = dropleaf.on_terminal(250, &["list"], "");
    assert!(wide.contains(LONG), "{wide}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_colour_means_no_colour_and_json_has_none() {
    let node = Node::start().await;
    let site = node.publish_page("Plain").await;
    let id = text(&site, "id");
    let changed = Form::file("a.html", format!("{}\n<p>\u{202e}gpj.exe", page("Plain")));
    node.put(&site_path(&site)).key(&node.key).form(changed).send().await.expect(200);
    let (_home, dropleaf) = machine(&node);
    let (code, screen) = dropleaf.on_terminal(80, &["diff", id], "");
    assert!(code == 0 && screen.contains("\u{1b}[32m+") && !screen.contains('\u{202e}'), "{screen:?}");
    for args in [
        &["list", "--json"][..],
        &["info", id, "--json"],
        &["versions", id, "--json"],
        &["diff", id, "--json"],
    ] {
        let (code, screen) = dropleaf.on_terminal(80, args, "");
        assert!(code == 0 && !screen.contains('\u{1b}'), "{args:?}: {screen:?}");
        serde_json::from_str::<serde_json::Value>(&screen).unwrap();
    }
    let (_home, dropleaf) = machine(&node);
    let dropleaf = dropleaf.env("NO_COLOR", "1");
    for args in [&["list"][..], &["info", id], &["versions", id], &["diff", id], &["--help"]] {
        let (code, screen) = dropleaf.on_terminal(80, args, "");
        assert!(code == 0 && !screen.contains('\u{1b}'), "{args:?}: {screen:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn delete_asks_and_only_yes_deletes() {
    let node = Node::start().await;
    let (_home, dropleaf) = machine(&node);
    let site = node.publish_page("Asked about").await;
    let (id, url) = (text(&site, "id"), text(&site, "url"));
    for no in ["n\n", "\n", "yep\n"] {
        let (code, screen) = dropleaf.on_terminal(80, &["delete", id], no);
        assert!(code == 1 && screen.contains("Delete \"Asked about\""), "{screen}");
        assert!(screen.contains("[y/N]") && screen.contains("nothing was changed"), "{screen}");
        node.get(url).send().await.expect(200);
    }
    let (code, screen) = dropleaf.on_terminal(80, &["delete", id], "y\n");
    assert!(code == 0 && screen.contains("To undo, until 2023-12-14 00:00 UTC"), "{screen}");
    node.get(url).send().await.expect(410);
}

#[test]
fn check_prints_for_people_and_the_help_has_headings() {
    let dir = TempDir::new().unwrap();
    std::fs::write(dir.path().join("good.html"), page("Fine")).unwrap();
    std::fs::write(dir.path().join("bad.html"), HARVEST).unwrap();
    let dropleaf = Dropleaf::in_dir(dir.path());
    let (code, screen) = dropleaf.on_terminal(100, &["check", "good.html", "bad.html"], "");
    assert!(code == 3 && screen.contains("good.html: \u{1b}[32maccepted\u{1b}[0m"), "{screen:?}");
    assert!(screen.contains("bad.html: \u{1b}[31mrefused") && screen.contains("bad.html:3: "), "{screen:?}");
    let output = dropleaf.run(&["check", "good.html", "bad.html"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, plain(&screen).split("dropleaf: ").next().unwrap(), "the same without colours");

    let (code, help) = dropleaf.on_terminal(100, &["--help"], "");
    assert_eq!(code, 0);
    let help = plain(&help);
    for heading in ["Publish", "Pages", "Account", "Server", "Moderation", "Options"] {
        assert!(help.contains(&format!("\n{heading}:\n")), "{heading}: {help}");
    }
}
