//! Files, folders and standard input; what is not sent; and what is refused before anything is sent.

use super::{Machine, page_count, text};
use crate::harness::{Node, Setup, noise, page};
use std::path::Path;

#[tokio::test(flavor = "multi_thread")]
async fn file_folder_and_standard_input_become_pages() {
    let node = Node::start().await;
    let machine = Machine::with_key(&node);
    machine.file("page.html", page("A file"));
    machine.file("site/index.html", page("A folder"));
    machine.file("site/css/a.css", "body{}");
    // The same letter as one character and as two: names are sent as they are.
    machine.file("site/nfc/\u{e9}.txt", "composed");
    machine.file("site/nfd/e\u{301}.txt", "decomposed");
    machine.file("site/\u{6f22}\u{5b57}.txt", "kanji");
    let (links, notes) = machine.publish(&["page.html", "site"]);
    assert_eq!(notes, "");
    let links: Vec<&str> = links.lines().collect();
    assert!(node.get(links[0]).send().await.expect(200).text().contains("A file"));
    assert!(node.get(links[1]).send().await.expect(200).text().contains("A folder"));
    for (path, content) in [
        ("css/a.css", "body{}"),
        ("nfc/%C3%A9.txt", "composed"),
        ("nfd/e%CC%81.txt", "decomposed"),
        ("%E6%BC%A2%E5%AD%97.txt", "kanji"),
    ] {
        let answer = node.get(&format!("{}{path}", links[1])).send().await.expect(200);
        assert_eq!(answer.text(), content, "{path}");
    }

    let output = machine.pipe(&["-"], page("From a pipe").as_bytes());
    let link = text(&output.stdout);
    assert!(node.get(link.trim()).send().await.expect(200).text().contains("From a pipe"), "{link}");
    let output = machine.pipe(&["-"], b"# Notes");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--name notes.md"), "{}", text(&output.stderr));
    let output = machine.pipe(&["-", "--name", "notes.md"], b"# Notes");
    let seen = node.get(text(&output.stdout).trim()).send().await.expect(200).text();
    assert!(seen.contains("<h1") && seen.contains("Notes"), "{seen}");
    assert!(text(&machine.pipe(&["-"], b"").stderr).contains("standard input is empty"));
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_and_links_out_of_the_folder_are_not_sent() {
    let node = Node::start().await;
    let machine = Machine::with_key(&node);
    machine.file("site/index.html", page("Careful"));
    machine.file("site/.env", "SECRET=1");
    machine.file("site/.gitignore", "*.log\n!.env\n");
    machine.file("site/debug.log", "log");
    machine.file("site/draft.html", page("Draft"));
    machine.file("site/.dropleafignore", "draft.html\n");
    machine.file("secret.txt", "secret");
    machine.link(&machine.home.path().join("secret.txt"), "site/out.txt");
    machine.link(Path::new(".env"), "site/env.txt");
    machine.link(Path::new("."), "site/loop");
    let (link, notes) = machine.publish(&["site"]);
    assert!(notes.contains("note: not sent: out.txt (a link that leads out of the folder)"), "{notes}");
    assert!(notes.contains("note: not sent: env.txt (a link to a hidden file)"), "{notes}");
    assert!(notes.contains("note: not sent: loop (a link to a folder)"), "{notes}");
    for name in [".env", "out.txt", "env.txt", "loop/index.html", "debug.log", "draft.html", ".gitignore"] {
        node.get(&format!("{link}{name}")).send().await.expect(404);
    }

    let machine = machine.env("DROPLEAF_URL", "http://localhost:1");
    let (listed, notes) = machine.publish(&["site", "--dry-run"]);
    assert!(listed.ends_with("bytes  index.html") && listed.lines().count() == 1, "{listed}");
    assert!(notes.contains("out.txt") && notes.contains("Nothing was sent"), "{notes}");
    let listed = machine.json(&["site", "--dry-run"]);
    assert_eq!(listed["files"][0]["name"], "index.html");
    assert_eq!(listed["bytes"], listed["files"][0]["size"]);
    assert_eq!(listed["skipped"].as_array().unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn five_thousand_files_are_published_or_refused_before_they_are_sent() {
    let node = Node::start().await;
    let machine = Machine::with_key(&node);
    machine.file("site/index.html", page("Many"));
    for number in 0..4_999 {
        machine.file(&format!("site/{}/{number}.txt", number / 100), format!("file {number}"));
    }
    let (code, said) = machine.refused(&["site"]);
    assert_eq!(code, 1);
    assert!(said.contains("site has 5000 files; the server accepts at most 2000"), "{said}");
    assert_eq!(page_count(&node).await, 0);
    // Without a key the server does not tell its limits, and refuses the archive itself.
    let (_, said) = machine.without_key().refused(&["site"]);
    assert!(said.contains("The archive has 5000 files; the limit is 2000"), "{said}");

    let node = Setup::new().set("limits.files", "6000").start().await;
    let machine = Machine::with_key(&node);
    machine.file("site/index.html", page("Many"));
    for number in 0..4_999 {
        machine.file(&format!("site/{}/{number}.txt", number / 100), format!("file {number}"));
    }
    let (link, _) = machine.publish(&["site"]);
    for number in [0, 2_500, 4_998] {
        let seen = node.get(&format!("{link}{}/{number}.txt", number / 100)).send().await.expect(200);
        assert_eq!(seen.text(), format!("file {number}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_would_refuse_is_not_sent() {
    let node = Setup::new().set("limits.upload_bytes", "2097152").start().await;
    let machine = Machine::with_key(&node);
    machine.file("large.pdf", noise("large", 3 << 20));
    let (_, said) = machine.refused(&["large.pdf"]);
    assert!(said.contains("large.pdf is 3 MiB; the server accepts at most 2 MiB"), "{said}");
    machine.file("site/index.html", page("Large"));
    machine.file("site/noise.bin", noise("large", 3 << 20));
    let (_, said) = machine.refused(&["site"]);
    assert!(said.contains("packed; the server accepts at most 2 MiB"), "{said}");
    std::fs::create_dir(machine.home.path().join("empty")).unwrap();
    machine.file("assets/a.css", "a");
    machine.file("assets/b.css", "b");
    machine.file("empty.html", "");
    for (path, why) in [
        ("empty", "has no files to publish"),
        ("assets", "no index.html"),
        ("missing", "cannot read missing"),
        ("empty.html", "empty.html is empty"),
        ("/dev/null", "neither a file nor a folder"),
    ] {
        let (code, said) = machine.refused(&[path]);
        assert!(code != 0 && said.contains(why), "{path}: {said}");
    }
    let large = noise("input", 3 << 20);
    let output = machine.pipe(&["-", "--name", "a.pdf"], &large);
    assert!(text(&output.stderr).contains("larger than 2 MiB"), "{}", text(&output.stderr));
    assert_eq!(page_count(&node).await, 0);
    for args in [
        &["-", "-"][..],
        &["-", "--watch"],
        &["assets", "--name", "x.md"],
        &["assets", "empty", "--slug", "x"],
        &["assets", "--encrypt"],
        &["assets", "--watch", "--burn"],
        &["assets", "--live", "--burn"],
        &["assets", "--feedback", "--burn"],
        &["assets", "--new", "--update", "x"],
    ] {
        assert_eq!(machine.refused(args).0, 2, "{args:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn password_comes_from_the_environment_or_a_file_and_spa_is_sent() {
    let node = Node::start().await;
    let machine = Machine::with_key(&node);
    machine.file("a.html", page("A"));
    machine.file("b.html", page("B"));
    machine.file("password", "from a file\nsecond line\n");
    machine.file("blank", "\n");
    let (_, said) = machine.refused(&["a.html", "--password-file", "blank"]);
    assert!(said.contains("the password is empty"), "{said}");
    let site = machine.json(&["a.html", "--password-file", "password", "--spa"]);
    assert_eq!((&site["password_protected"], &site["spa"]), (&true.into(), &true.into()));
    // The variable alone protects nothing, so that it cannot be set by accident.
    let machine = machine.env("DROPLEAF_PAGE_PASSWORD", "from the environment");
    assert_eq!(machine.json(&["b.html"])["password_protected"], false);
    let (link, _) = machine.publish(&["b.html", "--password"]);
    node.get(&link).send().await.expect(401);
    let basic = "Basic dXNlcjpmcm9tIHRoZSBlbnZpcm9ubWVudA==";
    node.get(&link).header("authorization", basic).send().await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn live_updates_and_comments_are_turned_on_and_stay_on() {
    let node = Node::start().await;
    let machine = Machine::with_key(&node);
    machine.file("a.html", page("A"));
    let site = machine.json(&["a.html"]);
    assert_eq!((&site["live"], &site["agentation"]), (&false.into(), &false.into()));
    let site = machine.json(&["a.html", "--live", "--feedback"]);
    assert_eq!((&site["live"], &site["agentation"]), (&true.into(), &true.into()));
    let site = machine.json(&["a.html"]);
    assert_eq!(
        (&site["version"], &site["live"], &site["agentation"]),
        (&3.into(), &true.into(), &true.into())
    );
    let stranger = Machine::anonymous(&node.base_url());
    stranger.file("b.html", page("B"));
    let (_, said) = stranger.publish(&["b.html", "--feedback"]);
    assert!(said.contains("Comments are shown on the page."), "{said}");
    stranger.file("c.html", page("C"));
    let (_, said) = stranger.publish(&["c.html"]);
    assert!(said.contains("without an account") && !said.contains("Comments"), "{said}");
}
