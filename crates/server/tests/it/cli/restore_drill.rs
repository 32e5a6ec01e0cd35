//! The restore drill of docs/backup.md: a server is filled, backed up into a bucket while writes go on, killed, and restored
//! elsewhere. Every page that was acknowledged before the backup comes back byte for byte.

use crate::harness::{Ask, Database, Dropleaf, Form, noise, page, s3_url};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// A server process, killed when it is dropped.
struct Server {
    child: Child,
    base_url: String,
    key: Option<String>,
}

impl Server {
    /// At a first start the message ends with a sign-in link.
    fn start(dropleaf: &Dropleaf, settings: &[String], is_first: bool) -> Self {
        let mut args = vec!["serve", "--listen", "localhost:0"];
        args.extend(settings.iter().map(String::as_str));
        let mut child = dropleaf.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (mut base_url, mut key) = (None, None);
        while let Some(Ok(line)) = lines.next() {
            let line = line.trim();
            if let Some(url) = line.strip_prefix("API and docs") {
                base_url = Some(url.trim().trim_end_matches("/docs").to_owned());
            }
            if line.starts_with("stk_live_") {
                key = Some(line.to_owned());
            }
            if line.starts_with(if is_first { "To create another link" } else { "Data" }) {
                break;
            }
        }
        Self { child, base_url: base_url.expect("the server starts"), key }
    }

    async fn publish(&self, client: &reqwest::Client, n: usize) -> (String, Vec<u8>) {
        let (form, body) = if n.is_multiple_of(3) {
            let body = noise(&format!("drill {n}"), 200_000 + n);
            (Form::file("x", &body).field("e2e", "true"), body)
        } else {
            let body = page(&format!("Page {n}")).into_bytes();
            (Form::file("a.html", &body), body)
        };
        let ask = Ask::new(client.post(format!("{}/sites", self.base_url)));
        let site: Value = ask.key(self.key.as_ref().unwrap()).form(form).send().await.expect(201).json();
        (site["unlisted_token"].as_str().unwrap().to_owned(), body)
    }

    async fn read(&self, client: &reqwest::Client, token: &str) -> (u16, Vec<u8>) {
        let answer = client.get(format!("{}/p/{token}/", self.base_url)).send().await.unwrap();
        (answer.status().as_u16(), answer.bytes().await.unwrap().to_vec())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGKILL, as when a machine fails.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn settings(data: &Path, database: &Database, blobs: Option<&str>) -> Vec<String> {
    let mut all = vec!["--data-dir".to_owned(), data.display().to_string()];
    if let Database::Postgres(url) = database {
        all.extend(["--database-url".to_owned(), url.clone()]);
    }
    if let Some(url) = blobs {
        all.extend(["--blobs-url".to_owned(), url.to_owned()]);
    }
    for setting in ["limits.exempt=127.0.0.0/8,::1/128", "storage.inline_bytes=1000"] {
        all.extend(["--set".to_owned(), setting.to_owned()]);
    }
    all
}

fn with<'a>(first: &[&'a str], rest: &'a [String]) -> Vec<&'a str> {
    first.iter().copied().chain(rest.iter().map(String::as_str)).collect()
}

async fn drill(from: Database, to: Database, blobs: [Option<String>; 2], is_encrypted: bool) {
    let (old, new, work) = (TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut dropleaf = Dropleaf::in_dir(work.path());
    if is_encrypted {
        let file = work.path().join("backup.key");
        std::fs::write(&file, "5a".repeat(32)).unwrap();
        dropleaf = dropleaf.env("DROPLEAF_BACKUP__KEY_FILE", file.to_str().unwrap());
    }
    let place = s3_url();
    let source = settings(&old.path().join("data"), &from, blobs[0].as_deref());
    let server = Server::start(&dropleaf, &source, true);
    ::dropleaf::tls::install_provider();
    let client =
        reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build().unwrap();
    let mut acknowledged = Vec::new();
    for n in 0..12 {
        acknowledged.push(server.publish(&client, n).await);
    }
    let is_done = AtomicBool::new(false);
    let writing = async {
        let mut more = Vec::new();
        while !is_done.load(Ordering::Relaxed) {
            more.push(server.publish(&client, 100 + more.len()).await);
        }
        more
    };
    let backing_up = async {
        let mut command = dropleaf.command(&with(&["backup", &place], &source));
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        is_done.store(true, Ordering::Relaxed);
        output
    };
    let (during, output) = tokio::join!(writing, backing_up);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("written to s3://"), "{said}");
    assert_eq!(said.contains("not encrypted"), !is_encrypted, "{said}");
    assert!(!said.contains("testsecret"), "{said}");
    drop(server);

    dropleaf.prints(&with(&["backup", "verify", &place], &[]));
    let listed: Value =
        serde_json::from_str(&dropleaf.prints(&["backup", "list", &place, "--json"])).unwrap();
    assert_eq!(listed["backups"].as_array().unwrap().len(), 1, "{listed}");
    let data = new.path().join("data");
    let target = settings(&data, &to, blobs[1].as_deref());
    dropleaf.prints(&with(&["backup", "restore", &place], &target));
    // A second restore is refused: the target is no longer empty.
    let refused = dropleaf.run(&with(&["backup", "restore", &place], &target));
    assert_eq!(refused.status.code(), Some(2), "{}", String::from_utf8_lossy(&refused.stderr));
    std::fs::copy(old.path().join("data/secret.key"), data.join("secret.key")).unwrap();
    drop(old);

    let restored = Server::start(&dropleaf, &target, false);
    assert!(restored.key.is_none(), "the operator was restored, not recreated");
    for (token, body) in &acknowledged {
        let (status, bytes) = restored.read(&client, token).await;
        assert!(status == 200 && bytes == *body, "{token}: {status}, {} bytes", bytes.len());
    }
    for (token, body) in &during {
        let (status, bytes) = restored.read(&client, token).await;
        assert!(
            status == 404 || (status == 200 && bytes == *body),
            "{token}: {status}, {} bytes",
            bytes.len()
        );
    }
    drop(restored);
    from.remove().await;
    to.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn restore_drill_from_sqlite_and_a_folder() {
    drill(Database::Sqlite, Database::Sqlite, [None, None], false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn restore_drill_from_postgres_and_s3_encrypted() {
    let (from, to) = (Database::postgres().await, Database::postgres().await);
    drill(from, to, [Some(s3_url()), Some(s3_url())], true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_have_their_exit_codes_and_change_nothing() {
    let work = TempDir::new().unwrap();
    let dropleaf = Dropleaf::in_dir(work.path());
    let data = work.path().join("data");
    let source = settings(&data, &Database::Sqlite, None);
    let server = Server::start(&dropleaf, &source, true);
    ::dropleaf::tls::install_provider();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    server.publish(&client, 0).await;
    let fails = |args: &[&str], code: i32, word: &str| {
        let output = dropleaf.run(&with(args, &source));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(word), "{args:?}: {said}");
    };
    fails(&["backup"], 2, "backup.to");
    fails(&["backup", "ftp://x"], 2, "s3://");
    fails(&["backup", "list", "file:none"], 2, "does not exist");
    fails(&["backup", "list", "none"], 2, "none does not exist");
    fails(&["backup", "list", "data"], 2, "is not a place with backups");
    fails(&["backup", "verify", "none"], 2, "is not a backup");
    let wrong = s3_url().replace("secret_access_key=testsecret", "secret_access_key=wrong");
    fails(&["backup", &wrong], 4, "refuses the credentials");
    fails(
        &[
            "backup",
            "s3://b?endpoint=http://127.0.0.1:1&region=x&access_key_id=a&secret_access_key=b&allow_http=true",
        ],
        5,
        "cannot be used",
    );
    // In a folder: two backups, the second of which has nothing new, then a damaged body.
    dropleaf.prints(&with(&["backup", "file:copies"], &source));
    let again = dropleaf.run(&with(&["backup", "file:copies"], &source));
    assert!(String::from_utf8_lossy(&again.stderr).contains("(0 new"), "{again:?}");
    let shown = dropleaf.prints(&["backup", "list", "copies"]);
    assert_eq!(shown.lines().count(), 3, "{shown}");
    dropleaf.prints(&["backup", "verify", "copies", "--quick"]);
    let share = std::fs::read_dir(work.path().join("copies/bodies")).unwrap().next().unwrap().unwrap().path();
    let body = std::fs::read_dir(share).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&body).unwrap();
    bytes[1000] ^= 1;
    std::fs::write(&body, bytes).unwrap();
    fails(&["backup", "verify", "copies"], 3, "does not match its hash");
    let elsewhere = settings(&work.path().join("new"), &Database::Sqlite, None);
    let refused = dropleaf.run(&with(&["backup", "restore", "file:copies"], &elsewhere));
    assert_eq!(refused.status.code(), Some(3), "{}", String::from_utf8_lossy(&refused.stderr));
    fails(&["backup", "verify", "copies", "--delete-damaged"], 3, "does not match its hash");
    dropleaf.prints(&with(&["backup", "file:copies"], &source));
    dropleaf.prints(&with(&["backup", "restore", "copies"], &elsewhere));
    // One backup of its own folder can be verified too.
    dropleaf.prints(&with(&["backup", "single"], &source));
    dropleaf.prints(&["backup", "verify", "single"]);
    fails(&["backup", "list", "single"], 2, "is one backup");
    std::fs::remove_file(work.path().join("single/manifest.json")).unwrap();
    fails(&["backup", "restore", "single"], 2, "manifest.json");
}

#[tokio::test(flavor = "multi_thread")]
async fn backups_are_described_as_json_and_plain_ones_need_a_flag_if_there_is_a_key() {
    let work = TempDir::new().unwrap();
    let dropleaf = Dropleaf::in_dir(work.path());
    let source = settings(&work.path().join("data"), &Database::Sqlite, None);
    let server = Server::start(&dropleaf, &source, true);
    ::dropleaf::tls::install_provider();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    server.publish(&client, 0).await;
    drop(server);
    let shown = |dropleaf: &Dropleaf, args: &[&str]| -> Value {
        serde_json::from_str(&dropleaf.prints(&with(args, &source))).unwrap()
    };
    let taken = shown(&dropleaf, &["backup", "file:copies", "--json"]);
    assert_eq!((&taken["to"], &taken["backup"]["sites"]), (&"file:copies".into(), &1.into()), "{taken}");
    let listed = shown(&dropleaf, &["backup", "list", "copies", "--json"]);
    assert_eq!(listed["backups"][0], taken["backup"]);
    let (at, iso) = (&taken["backup"]["taken_at"], &taken["backup"]["taken_at_iso"]);
    assert!(at.is_i64() && iso.as_str().is_some_and(|iso| iso.ends_with('Z')), "{taken}");
    let verified = shown(&dropleaf, &["backup", "verify", "copies", "--json"]);
    assert_eq!(verified["backup"], taken["backup"]);
    let single = shown(&dropleaf, &["backup", "single", "--json"]);
    assert_eq!(single["backup"]["large_files"], taken["backup"]["large_files"]);
    assert!(shown(&dropleaf, &["backup", "verify", "single", "--json"])["backup"]["taken_at"].is_i64());

    let key = work.path().join("backup.key");
    std::fs::write(&key, "5a".repeat(32)).unwrap();
    let dropleaf = dropleaf.env("DROPLEAF_BACKUP__KEY_FILE", key.to_str().unwrap());
    let elsewhere = settings(&work.path().join("new"), &Database::Sqlite, None);
    for command in ["verify", "restore"] {
        let refused = dropleaf.run(&with(&["backup", command, "copies"], &elsewhere));
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains("is not encrypted, but a key is configured"), "{said}");
    }
    dropleaf.prints(&with(&["backup", "verify", "copies", "--unencrypted"], &elsewhere));
    let restored =
        dropleaf.prints(&with(&["backup", "restore", "copies", "--unencrypted", "--json"], &elsewhere));
    let restored: Value = serde_json::from_str(&restored).unwrap();
    assert_eq!(restored["backup"], taken["backup"]);
}
