//! `dropleaf download` and `dropleaf diff` against a running server.

use crate::harness::{Dropleaf, Form, Node, page, site_path, zip};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

fn client(node: &Node, work: &TempDir) -> Dropleaf {
    Dropleaf::in_dir(work.path()).env("DROPLEAF_URL", &node.base_url()).env("DROPLEAF_API_KEY", &node.key)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_and_an_archive_are_saved_and_never_overwritten_unasked() {
    let node = Node::start().await;
    let file = node.publish(Form::file("notes.md", "# Notes\n")).await;
    let files = [("index.html", page("Zip")), ("css/a.css", "p{}".to_owned())];
    let files = files.each_ref().map(|(name, body)| (*name, body.as_str()));
    let archive = node.publish(Form::file("s.zip", zip(&files)).field("slug", "my-site")).await;
    let work = TempDir::new().unwrap();
    let dropleaf = client(&node, &work);
    let url = file["url"].as_str().unwrap().to_owned();
    let id = archive["id"].as_str().unwrap().to_owned();
    let dir = work.path().to_owned();
    blocking(move || {
        assert_eq!(dropleaf.prints(&["download", &url]), "notes.md\n");
        assert_eq!(fs::read_to_string(dir.join("notes.md")).unwrap(), "# Notes\n");
        fs::write(dir.join("notes.md"), "mine").unwrap();
        let refused = dropleaf.run(&["download", &url]);
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        assert_eq!(fs::read_to_string(dir.join("notes.md")).unwrap(), "mine");
        let unnamed = dropleaf.run(&["download", &url, "--force"]);
        assert_eq!(unnamed.status.code(), Some(2), "the server names the file: {unnamed:?}");
        assert_eq!(fs::read_to_string(dir.join("notes.md")).unwrap(), "mine");
        dropleaf.prints(&["download", &url, "--force", "--output", "notes.md"]);
        assert_eq!(fs::read_to_string(dir.join("notes.md")).unwrap(), "# Notes\n");

        assert_eq!(dropleaf.prints(&["download", &id]), "my-site\n");
        assert_eq!(fs::read_to_string(dir.join("my-site/css/a.css")).unwrap(), "p{}");
        fs::remove_dir_all(dir.join("my-site/css")).unwrap();
        fs::remove_file(dir.join("my-site/index.html")).unwrap();
        let folder = dropleaf.run(&["download", &id]);
        assert_eq!(folder.status.code(), Some(2), "nothing is added to a folder: {folder:?}");
        dropleaf.prints(&["download", &id, "-o", "my-site"]);
        let twice = dropleaf.run(&["download", &id, "-o", "my-site"]);
        assert_eq!(twice.status.code(), Some(2), "{twice:?}");
        let shown: Value =
            serde_json::from_str(&dropleaf.prints(&["download", &id, "--zip", "--json"])).unwrap();
        assert_eq!((&shown["path"], &shown["is_archive"]), (&"my-site.zip".into(), &true.into()));
        dropleaf.prints(&["download", &id, "-o", "elsewhere"]);
        assert_eq!(fs::read_to_string(dir.join("elsewhere/index.html")).unwrap(), page("Zip"));
        let unknown = dropleaf.run(&["download", &id, "--version", "9"]);
        assert_eq!(unknown.status.code(), Some(1), "{unknown:?}");
        let left: Vec<_> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 4, "temporary files stay: {left:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_and_local_files_are_compared() {
    let node = Node::start().await;
    let old = [("index.html", "<p>one\n"), ("a.css", "p{}\n"), ("old.txt", "x\n")];
    let site = node.publish(Form::file("s.zip", zip(&old))).await;
    let new = [("index.html", "<p>two\n"), ("a.css", "p{}\n"), ("new.txt", "y\n")];
    let put = node.put(&site_path(&site)).key(&node.key).form(Form::file("s.zip", zip(&new)));
    put.send().await.expect(200);
    let work = TempDir::new().unwrap();
    let dropleaf = client(&node, &work);
    let id = site["id"].as_str().unwrap().to_owned();
    let dir = work.path().to_owned();
    blocking(move || {
        let shown = dropleaf.prints(&["diff", &id]);
        assert!(shown.contains("--- a/index.html\n+++ b/index.html\n"), "{shown}");
        assert!(shown.contains("-<p>one\n+<p>two\n") && !shown.contains("a.css"), "{shown}");
        assert!(shown.contains("--- /dev/null\n+++ b/new.txt\n"), "{shown}");
        assert!(shown.contains("--- a/old.txt\n+++ /dev/null\n"), "{shown}");
        assert!(!shown.contains('\u{1b}'), "colours only on a terminal: {shown:?}");
        assert_eq!(dropleaf.prints(&["diff", &id, "1", "2"]), shown);
        assert_eq!(dropleaf.prints(&["diff", &id, "2", "2"]), "");
        let json: Value = serde_json::from_str(&dropleaf.prints(&["diff", &id, "1", "--json"])).unwrap();
        assert_eq!(json["files"].as_array().unwrap().len(), 3);

        fs::create_dir(dir.join("site")).unwrap();
        for (name, body) in new {
            fs::write(dir.join("site").join(name), body).unwrap();
        }
        fs::write(dir.join("site/.env"), "SECRET=1").unwrap();
        assert_eq!(dropleaf.prints(&["diff", &id, "site"]), "");
        fs::write(dir.join("site/a.css"), "b{}\n").unwrap();
        let shown = dropleaf.prints(&["diff", &id, "site"]);
        assert!(shown.contains("-p{}\n+b{}\n"), "{shown}");
        let wrong = dropleaf.run(&["diff", &id, "site", "2"]);
        assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");

        // Local files are those that publishing would send.
        fs::write(dir.join("site/a.css"), "p{}\n").unwrap();
        fs::write(dir.join("site/.gitignore"), "*.log\n").unwrap();
        fs::write(dir.join("site/.dropleafignore"), "drafts/\n").unwrap();
        fs::write(dir.join("site/debug.log"), "x").unwrap();
        fs::create_dir(dir.join("site/drafts")).unwrap();
        fs::write(dir.join("site/drafts/a.html"), "x").unwrap();
        assert_eq!(dropleaf.prints(&["diff", &id, "site"]), "");
        fs::create_dir(dir.join("outer")).unwrap();
        fs::rename(dir.join("site"), dir.join("outer/site")).unwrap();
        assert_eq!(
            dropleaf.prints(&["diff", &id, "outer"]),
            "",
            "the folder around all files does not count"
        );
        let inner = new.map(|(name, body)| (format!("site/{name}"), body));
        let mut all = vec![("site/", ""), ("site/.DS_Store", "x"), ("__MACOSX/x", "x")];
        all.extend(inner.iter().map(|(name, body)| (name.as_str(), *body)));
        fs::write(dir.join("site.zip"), zip(&all)).unwrap();
        assert_eq!(dropleaf.prints(&["diff", &id, "site.zip"]), "");
        fs::write(dir.join("bad.zip"), "no archive").unwrap();
        let bad = dropleaf.complains(&["diff", &id, "bad.zip"]);
        assert!(bad.contains("cannot compare `bad.zip`") && !bad.contains("server"), "{bad}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_without_an_older_version_fails_in_the_same_way_everywhere() {
    let node = Node::start().await;
    let site = node.publish_page("Only one").await;
    let work = TempDir::new().unwrap();
    let dropleaf = client(&node, &work);
    let id = site["id"].as_str().unwrap().to_owned();
    blocking(move || {
        for command in ["diff", "rollback"] {
            let failed = dropleaf.run(&[command, &id]);
            assert_eq!(failed.status.code(), Some(1), "{command}: {failed:?}");
            let text = String::from_utf8_lossy(&failed.stderr).into_owned();
            assert!(text.contains("there is no older version"), "{command}: {text}");
        }
    })
    .await;
}
