//! Evidence of pages that were taken down: sealed, opened with a reason, erased in time; nothing else is kept.

use crate::harness::{
    DAY, Database, Dropleaf, Form, NOW, Node, Setup, noise, on_each_database, page, s3_url, site_path, zip,
};
use dropleaf_core::Code;
use flate2::read::DeflateDecoder;
use futures_util::TryStreamExt;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use tempfile::TempDir;

const MANIFEST: &str = "_dropleaf/manifest.json";

fn text<'a>(site: &'a Value, field: &str) -> &'a str {
    site[field].as_str().unwrap()
}

async fn take_down(node: &Node, site: &Value) {
    node.app().take_down("ada", text(site, "id"), "a false bank").await.unwrap();
}

async fn open(node: &Node, site: &Value) -> Vec<u8> {
    let opened = node.app().open_evidence("ada", text(site, "id"), "the police asks").await.unwrap();
    let pieces: Vec<_> = opened.stream.try_collect().await.unwrap();
    pieces.concat()
}

/// The files of an archive, read by its central directory.
fn unzip(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let short = |at: usize| usize::from(u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap()));
    let long = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let end = bytes.len() - 22;
    assert_eq!(long(end), 0x0605_4b50);
    let (mut at, mut files) = (long(end + 16), BTreeMap::new());
    for _ in 0..short(end + 10) {
        assert_eq!(long(at), 0x0201_4b50);
        let (packed, size, name_len, head) = (long(at + 20), long(at + 24), short(at + 28), long(at + 42));
        let name = String::from_utf8(bytes[at + 46..at + 46 + name_len].to_vec()).unwrap();
        let start = head + 30 + short(head + 26) + short(head + 28);
        let mut body = Vec::new();
        DeflateDecoder::new(&bytes[start..start + packed]).read_to_end(&mut body).unwrap();
        let mut crc = flate2::Crc::new();
        crc.update(&body);
        assert_eq!((body.len(), crc.sum() as usize), (size, long(at + 16)), "{name}");
        assert!(files.insert(name, body).is_none(), "each name once");
        at += 46 + name_len;
    }
    files
}

fn manifest(files: &BTreeMap<String, Vec<u8>>) -> Value {
    serde_json::from_slice(&files[MANIFEST]).unwrap()
}

/// A reported page with three versions.
async fn bad_page(node: &Node) -> (Value, Vec<u8>) {
    let picture = noise("picture", 300_000);
    let picture_text: String = picture.iter().map(|byte| char::from(*byte)).collect();
    let first = zip(&[
        ("index.html", &page("One")),
        ("manifest.json", "{}"),
        ("a.txt", "same"),
        ("p.bin", &picture_text),
    ]);
    let site = node.publish(Form::file("s.zip", first)).await;
    let second = zip(&[("index.html", &page("Two")), ("manifest.json", "[]"), ("p.bin", &picture_text)]);
    let put = |form: Form| node.put(&site_path(&site)).key(&node.key).form(form);
    put(Form::file("s.zip", second)).send().await.expect(200);
    put(Form::file("a.md", "# Three\n")).send().await.expect(200);
    let report = format!("{}_dropleaf/report", text(&site, "url"));
    node.post(&report).fields(&[("reason", "phishing"), ("comment", "It asks")]).send().await.expect(200);
    (site, picture_text.into_bytes())
}

#[tokio::test]
async fn content_is_sealed_with_all_its_versions_and_erased_where_it_was() {
    on_each_database(Setup::new, async |node| {
        let (site, picture) = bad_page(node).await;
        let link = node.post(&format!("{}/share-tokens", site_path(&site))).key(&node.key);
        link.json(&json!({})).send().await.expect(201);
        node.clock.advance(5);
        take_down(node, &site).await;
        let url = text(&site, "url");
        node.get(url).header("accept", "application/json").send().await.refused(410, "taken_down");
        for (table, rows) in [
            ("SELECT COUNT(*) FROM site_versions", 0),
            ("SELECT COUNT(*) FROM share_tokens", 0),
            ("SELECT COUNT(*) FROM bundles WHERE kind <> 'evidence'", 0),
            ("SELECT COUNT(*) FROM bundles", 1),
            ("SELECT COUNT(*) FROM blobs", 1),
            ("SELECT COUNT(*) FROM evidence WHERE bundle_id IS NOT NULL", 1),
        ] {
            assert_eq!(node.count(table).await, rows, "{table}");
        }
        let files = unzip(&open(node, &site).await);
        let names: Vec<_> = files.keys().map(String::as_str).collect();
        let expected = [
            MANIFEST,
            "_dropleaf/source.md",
            "_dropleaf/versions/1/a.txt",
            "_dropleaf/versions/1/index.html",
            "_dropleaf/versions/1/manifest.json",
            "_dropleaf/versions/2/index.html",
            "_dropleaf/versions/2/manifest.json",
            "_dropleaf/versions/2/p.bin",
            "index.html",
        ];
        assert_eq!(names, expected, "each body once");
        assert_eq!(files["_dropleaf/source.md"], b"# Three\n");
        assert_eq!(files["_dropleaf/versions/1/index.html"], page("One").as_bytes());
        assert!(files["_dropleaf/versions/2/p.bin"] == picture);
        let told = manifest(&files);
        assert_eq!((&told["site_id"], &told["token"]), (&site["id"], &site["unlisted_token"]));
        assert_eq!((&told["reason"], &told["title"]), (&json!("a false bank"), &json!("Three")));
        assert_eq!(told["versions"].as_array().unwrap().len(), 3);
        let p = told["versions"][2]["files"].as_array().unwrap().iter().find(|file| file["path"] == "p.bin");
        assert_eq!(p.unwrap()["archived_as"], "_dropleaf/versions/2/p.bin");
        assert_eq!(
            (&told["reports"][0]["reason"], &told["reports"][0]["comment"]),
            (&json!("phishing"), &json!("It asks"))
        );
        let lines = node.app().list_audit_about(text(&site, "id"), 10).await.unwrap();
        let opened = lines.iter().find(|line| line.action.as_str() == "open_evidence").unwrap();
        assert_eq!((opened.actor.as_str(), opened.reason.as_deref()), ("ada", Some("the police asks")));
    })
    .await;
}

#[tokio::test]
async fn manifest_tells_when_it_was_taken_down_not_when_it_ended() {
    on_each_database(Setup::new, async |node| {
        let (site, _) = bad_page(node).await;
        node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
        node.clock.advance(3600);
        take_down(node, &site).await;
        let told = manifest(&unzip(&open(node, &site).await));
        assert_eq!(told["taken_down_at"], NOW + 3600);
        assert_eq!((&told["reports_total"], told["reports"].as_array().unwrap().len()), (&json!(1), 1));
    })
    .await;
}

#[tokio::test]
async fn nothing_of_the_content_can_be_read_without_the_key() {
    let node = Setup::new().set("storage.inline_bytes", "0").start().await;
    let words = "These words stand in the page and nowhere else. ".repeat(400);
    let site = node.publish(Form::file("a.html", format!("<p>{words}</p>"))).await;
    take_down(&node, &site).await;
    let sealed: Vec<_> = walk(&node.data_dir().join("blobs"));
    assert_eq!(sealed.len(), 1);
    let bytes = fs::read(&sealed[0]).unwrap();
    assert!(bytes.starts_with(b"dlseal1\n"));
    assert!(!bytes.windows(11).any(|window| window == b"These words"));
    assert!(unzip(&open(&node, &site).await)["index.html"].len() > 15_000);
    // A changed byte is detected, and unverified bytes are not sent.
    let mut changed = bytes.clone();
    changed[40] ^= 1;
    fs::write(&sealed[0], &changed).unwrap();
    let opened = node.app().open_evidence("ada", text(&site, "id"), "again").await.unwrap();
    assert!(opened.stream.try_collect::<Vec<_>>().await.is_err());
}

fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[tokio::test]
async fn evidence_is_erased_when_its_time_is_over_or_on_command() {
    on_each_database(Setup::new, async |node| {
        let (first, second) = (node.publish_page("First").await, node.publish_page("Second").await);
        take_down(node, &first).await;
        take_down(node, &second).await;
        node.clock.advance(89 * DAY);
        node.app().sweep().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM bundles").await, 2);
        let silent = node.app().erase_evidence("ada", text(&second, "id"), " ").await.unwrap_err();
        assert_eq!(silent.code, Code::InvalidField);
        node.app().erase_evidence("ada", text(&second, "id"), "a judge says so").await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM blobs").await, 1);
        node.clock.advance(2 * DAY);
        for _ in 0..2 {
            node.app().sweep().await.unwrap();
        }
        assert_eq!(node.count("SELECT COUNT(*) FROM bundles").await, 0);
        assert_eq!(node.count("SELECT COUNT(*) FROM blobs").await, 0);
        assert_eq!(node.count("SELECT COUNT(*) FROM evidence WHERE erased_at IS NOT NULL").await, 2);
        let lines = node.app().list_audit(10).await.unwrap();
        let mut erased: Vec<_> = lines
            .iter()
            .filter(|line| line.action.as_str() == "erase_evidence")
            .map(|line| (line.actor.as_str(), line.subject.as_str(), line.reason.as_deref().unwrap()))
            .collect();
        erased.sort_unstable();
        let first_line = ("dropleaf", text(&first, "id"), "retention period ended");
        assert_eq!(erased, [("ada", text(&second, "id"), "a judge says so"), first_line]);
        let gone = node.app().open_evidence("ada", text(&first, "id"), "x").await.unwrap_err();
        assert_eq!(gone.code, Code::NotFound);
        node.get(text(&first, "url")).send().await.expect(410);
    })
    .await;
}

#[tokio::test]
async fn take_down_that_stopped_half_way_is_finished_by_the_sweep() {
    on_each_database(Setup::new, async |node| {
        let (site, _) = bad_page(node).await;
        let spool = node.data_dir().join("spool");
        // Without a writable spool folder the page is taken down and its content waits.
        fs::remove_dir_all(&spool).unwrap();
        take_down(node, &site).await;
        node.get(text(&site, "url")).send().await.expect(410);
        assert_eq!(node.count("SELECT COUNT(*) FROM evidence").await, 0);
        assert_eq!(node.count("SELECT COUNT(*) FROM unwanted").await, 1, "but it is not wanted again");
        assert_eq!(node.count("SELECT COUNT(*) FROM site_versions").await, 3);
        node.app().sweep().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM evidence").await, 0, "still nowhere to write to");
        fs::create_dir(&spool).unwrap();
        node.app().sweep().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM evidence").await, 1);
        assert_eq!(node.count("SELECT COUNT(*) FROM site_versions").await, 0);
        assert_eq!(node.count("SELECT COUNT(*) FROM bundles").await, 1);
        assert_eq!(manifest(&unzip(&open(node, &site).await))["reason"], "a false bank");
    })
    .await;
}

#[tokio::test]
async fn page_to_be_read_once_and_a_service_without_evidence_keep_marks_only() {
    on_each_database(
        || Setup::new().set("retention.evidence_days", "0"),
        async |node| {
            let site = node.publish_page("Not kept").await;
            take_down(node, &site).await;
            assert_eq!(node.count("SELECT COUNT(*) FROM evidence").await, 0);
            assert_eq!(node.count("SELECT COUNT(*) FROM bundles").await, 0);
            assert_eq!(node.count("SELECT COUNT(*) FROM unwanted").await, 1);
        },
    )
    .await;
    let node = Node::start().await;
    let words = "A letter that may be read once, by one person, and then never again. ".repeat(20);
    let burn = Form::file("a.html", format!("<p>{words}</p>")).field("burn_after_read", "true");
    let site = node.publish(burn).await;
    take_down(&node, &site).await;
    assert_eq!(node.count("SELECT COUNT(*) FROM evidence").await, 0);
    assert_eq!(node.count("SELECT COUNT(*) FROM bundles").await, 0);
    assert!(node.count("SELECT COUNT(*) FROM unwanted_marks").await > 0);
}

#[tokio::test]
async fn evidence_lives_on_s3_as_well() {
    for database in [Database::Sqlite, Database::postgres().await] {
        let setup = Setup::new().set("blobs_url", s3_url()).set("storage.inline_bytes", "0");
        let node = setup.database(database.clone()).start().await;
        let (site, picture) = bad_page(&node).await;
        take_down(&node, &site).await;
        assert_eq!(node.count("SELECT COUNT(*) FROM blobs WHERE object_key IS NOT NULL").await, 1);
        assert!(unzip(&open(&node, &site).await)["_dropleaf/versions/2/p.bin"] == picture);
        node.app().erase_evidence("ada", text(&site, "id"), "done").await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM blobs").await, 0);
        node.stop().await;
        database.remove().await;
    }
}

#[tokio::test]
async fn command_line_lists_opens_and_erases() {
    let node = Node::start().await;
    let site = node.publish_page("Bad").await;
    let data = node.data_dir().display().to_string();
    let dropleaf = Dropleaf::in_dir(node.dir.path())
        .env("DROPLEAF_DATA_DIR", &data)
        .env("DROPLEAF_BASE_URL", &node.base_url());
    assert!(dropleaf.prints(&["evidence", "--list"]).contains("No stored evidence"));
    dropleaf.prints(&["takedown", text(&site, "id"), "--reason", "phishing"]);
    assert!(dropleaf.prints(&["evidence", "--list"]).contains(text(&site, "id")));
    let listed: Value = serde_json::from_str(&dropleaf.prints(&["evidence", "--list", "--json"])).unwrap();
    assert_eq!(listed["evidence"][0]["site_id"], site["id"]);
    let url = text(&site, "url");
    assert!(dropleaf.complains(&["evidence", url, "--out", "e.zip"]).contains("--reason"));
    dropleaf.complains(&["evidence", "no-such-page", "--reason", "x", "--out", "none.zip"]);
    assert!(!node.dir.path().join("none.zip").exists());
    let said = dropleaf.prints(&["evidence", url, "--reason", "court order 7", "--out", "e.zip"]);
    assert!(said.starts_with(text(&site, "id")), "{said}");
    let files = unzip(&fs::read(node.dir.path().join("e.zip")).unwrap());
    assert_eq!(files["index.html"], page("Bad").as_bytes());
    assert!(dropleaf.complains(&["evidence", url, "--reason", "x", "--out", "e.zip"]).contains("e.zip"));
    let audit = dropleaf.prints(&["audit", "--subject", text(&site, "id")]);
    assert!(audit.contains("court order 7") && audit.matches("open_evidence").count() == 1, "{audit}");
    dropleaf.prints(&["evidence", url, "--erase", "--reason", "no longer needed"]);
    dropleaf.complains(&["evidence", url, "--reason", "x", "--out", "late.zip"]);
    assert!(dropleaf.prints(&["evidence", "--list"]).contains("erased "));
}

#[tokio::test]
async fn evidence_comes_back_with_a_backup_and_what_is_unwanted_too() {
    let node = Node::start().await;
    let (site, picture) = bad_page(&node).await;
    take_down(&node, &site).await;
    let (work, fresh) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let dropleaf = Dropleaf::in_dir(work.path());
    dropleaf.prints(&["backup", "copy", "--data-dir", &node.data_dir().display().to_string()]);
    let target = fresh.path().join("data").display().to_string();
    dropleaf.prints(&["backup", "restore", "copy", "--data-dir", &target]);
    fs::copy(node.data_dir().join("secret.key"), fresh.path().join("data/secret.key")).unwrap();
    let restored = Setup::new().start_in(fresh).await;
    assert!(unzip(&open(&restored, &site).await)["_dropleaf/versions/2/p.bin"] == picture);
    for sql in ["SELECT COUNT(*) FROM unwanted_marks", "SELECT COUNT(*) FROM unwanted"] {
        assert_eq!(restored.count(sql).await, node.count(sql).await, "{sql}");
    }
}

#[tokio::test]
async fn lost_body_does_not_keep_a_page_from_being_sealed_and_marked() {
    on_each_database(
        || Setup::new().set("storage.inline_bytes", "0"),
        async |node| {
            let words = "A letter of a captain who owes nobody anything and says so at length. ".repeat(20);
            let (index, lost) =
                (format!("<p>{words}</p>"), format!("<form><input name=x></form>{words} lost"));
            let site =
                node.publish(Form::file("a.zip", zip(&[("index.html", &index), ("b.html", &lost)]))).await;
            let find = "SELECT object_key FROM blobs ORDER BY size_bytes DESC LIMIT 1";
            let key = &node.rows(find, vec![], |row| Ok(row.text(0)?.to_owned())).await[0];
            let files = walk(&node.data_dir().join("blobs"));
            fs::remove_file(files.iter().find(|path| path.ends_with(key)).unwrap()).unwrap();
            take_down(node, &site).await;
            assert_eq!(node.count("SELECT COUNT(*) FROM evidence").await, 1);
            let again = node.post("/sites").key(&node.key).form(Form::file("a.html", index));
            again.send().await.refused(422, "content_blocked");
        },
    )
    .await;
}

#[tokio::test]
async fn page_that_cannot_be_sealed_is_kept_and_holds_up_nobody() {
    on_each_database(Setup::new, async |node| {
        let (stuck, waits) = (node.publish_page("Stuck").await, node.publish_page("Waits").await);
        // As if the process had ended right after hiding each page; the content of one is damaged.
        node.exec("UPDATE sites SET state = 'taken_down', ended_at = created_at", vec![]).await;
        let broken =
            "UPDATE bundles SET kind = 'nothing' WHERE id IN (SELECT bundle_id FROM sites WHERE id = $1)";
        node.exec(broken, vec![text(&stuck, "id").into()]).await;
        node.clock.advance(400 * DAY);
        node.app().sweep().await.unwrap();
        let unsealed = "SELECT COUNT(*) FROM sites WHERE state = 'taken_down' AND purged_at IS NULL";
        assert_eq!(node.count(unsealed).await, 1);
        assert_eq!(node.count("SELECT COUNT(*) FROM site_versions").await, 1);
        assert_eq!(node.count("SELECT COUNT(*) FROM sealing_tries").await, 1);
        assert!(node.app().open_evidence("ada", text(&waits, "id"), "x").await.is_ok());
        node.exec("UPDATE bundles SET kind = 'html' WHERE kind = 'nothing'", vec![]).await;
        node.app().sweep().await.unwrap();
        assert_eq!(node.count(unsealed).await, 0);
        assert_eq!(node.count("SELECT COUNT(*) FROM sealing_tries").await, 0);
        assert!(node.app().open_evidence("ada", text(&stuck, "id"), "x").await.is_ok());
    })
    .await;
}
