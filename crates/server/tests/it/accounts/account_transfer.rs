//! Export of one account and its import on another server, with either database.

use crate::harness::mcp_line::comment;
use crate::harness::{Database, Form, HARVEST, Node, Setup, noise, page, pdf, s3_url, site_path, zip};
use dropleaf_app::{COMMAND_LINE, IdempotentResult, ImportTarget, Imported};
use dropleaf_core::Error;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Cursor, Read, Seek, Write};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

const OWNER: &str = "owner@example.org";

/// An account with a page of each kind, in each state that an export contains.
async fn populate(node: &Node) -> (String, Vec<Value>) {
    let account = node.app().create_account(OWNER, Some("pro"), false).await.unwrap();
    let IdempotentResult::New(key) =
        node.app().create_key(&account, None, None, |_| Vec::new()).await.unwrap()
    else {
        panic!("a new key is no repeat");
    };
    let key = key.secret;
    let mut sites = Vec::new();
    let index = page("Archive");
    let archive = zip(&[("index.html", index.as_str()), ("a/b.css", "p{}"), ("deep/other.html", "<p>x")]);
    for form in [
        Form::file("report.html", page("Report")).field("slug", "yearly-report").field("agentation", "true"),
        Form::file("notes.md", "# Notes\n\n| a |\n|---|\n| 1 |\n").field("password", "open sesame"),
        Form::file("docs.zip", zip(&[("README.md", "# Docs\n\n[next](next.md)\n"), ("next.md", "# Next\n")])),
        Form::file("site.zip", archive).field("csp_strict", "true"),
        Form::file("paper.pdf", pdf()).field("email_gate_domain", "example.org"),
        Form::file("table.csv", "a,b\n1,2\n"),
        Form::file("x", noise("secret", 200_000)).field("e2e", "true"),
        Form::file("once.html", page("Once")).field("burn_after_read", "true"),
        Form::file("short.html", page("Short")).field("expires_in_hours", "48").field("show_changes", "true"),
    ] {
        sites.push(node.publish_as(&key, form).await);
    }
    let report = &sites[0];
    let put = node.put(&site_path(report)).key(&key).form(Form::file("v2.html", page("Report 2")));
    put.send().await.expect(200);
    let back = node.post(&format!("{}/rollback", site_path(report))).key(&key);
    back.json(&json!({"version": 1})).send().await.expect(200);
    comment(node, report, "Please fix the title").await;
    let path = format!("{}/feedback", site_path(report));
    let heard = node.get(&path).key(&key).send().await.expect(200).json();
    let thread = format!("{path}/{}", heard["feedback"][0]["id"].as_str().unwrap());
    let said = json!({"text": "Which title?", "resolve": true});
    node.post(&format!("{thread}/replies")).key(&key).json(&said).send().await.expect(201);
    node.post(&format!("{thread}/reopen")).key(&key).send().await.expect(200);
    let link = node.post(&format!("{}/share-tokens", site_path(&sites[1]))).key(&key);
    link.json(&json!({"note": "for Ann", "max_uses": 3})).send().await.expect(201);
    node.patch("/me").key(&key).json(&json!({"notify": "daily"})).send().await.expect(200);
    let gone = node.publish_as(&key, Form::file("gone.html", page("Gone"))).await;
    node.delete(&site_path(&gone)).key(&key).send().await.expect(200);
    (key, sites)
}

async fn export(node: &Node) -> Vec<u8> {
    let account = node.app().get_account_by_email(OWNER).await.unwrap();
    let mut file = tempfile::tempfile().unwrap();
    let to = file.try_clone().unwrap();
    Box::pin(node.app().export_account(COMMAND_LINE, &account, to, |_| {})).await.unwrap();
    file.rewind().unwrap();
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

async fn import(node: &Node, bytes: &[u8], target: &ImportTarget) -> Result<Imported, Error> {
    node.app().import_account(COMMAND_LINE, file_of(bytes), target, |_| {}).await
}

fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}

/// A new account on the plan of the old one.
fn on_pro() -> ImportTarget {
    ImportTarget { email: None, plan: Some("pro".into()) }
}

/// A key for the imported account.
async fn key_of(node: &Node, imported: &Imported) -> String {
    match node.app().create_key(&imported.account, None, None, |_| Vec::new()).await.unwrap() {
        IdempotentResult::New(key) => key.secret,
        IdempotentResult::Replayed { .. } => panic!("a new key is no repeat"),
    }
}

/// Everything that must be the same: settings, and the bytes of every version.
async fn compare(from: &Node, from_key: &str, to: &Node, to_key: &str, sites: &[Value]) {
    for site in sites {
        let path = site_path(site);
        let before = from.get(&path).key(from_key).send().await.expect(200).json();
        let after = to.get(&path).key(to_key).send().await.expect(200).json();
        for field in [
            "id",
            "unlisted_token",
            "slug",
            "visibility",
            "title",
            "version",
            "byte_size",
            "created_at",
            "updated_at",
            "expires_at",
            "agentation",
            "live",
            "show_changes",
            "csp_strict",
            "e2e",
            "spa",
            "password_protected",
            "email_gate_domain",
            "view_count",
        ] {
            assert_eq!(before[field], after[field], "{field} of {}", before["title"]);
        }
        let list = format!("{path}/versions");
        let versions = from.get(&list).key(from_key).send().await.expect(200).json();
        assert_eq!(to.get(&list).key(to_key).send().await.expect(200).json(), versions);
        for version in versions["versions"].as_array().unwrap() {
            let file = format!("{path}/download?version={}", version["version"]);
            let (old, new) =
                (from.get(&file).key(from_key).send().await, to.get(&file).key(to_key).send().await);
            assert!(old.expect(200).body == new.expect(200).body, "{file}");
        }
        let content = format!("{path}/content");
        let (old, new) =
            (from.get(&content).key(from_key).send().await, to.get(&content).key(to_key).send().await);
        assert!(old.expect(200).body == new.expect(200).body, "{content}");
    }
}

async fn moves(from: Setup, to: Setup) {
    let from = from.start().await;
    let (key, sites) = populate(&from).await;
    let bytes = export(&from).await;
    let to = to.start().await;
    let imported = import(&to, &bytes, &on_pro()).await.unwrap();
    assert_eq!((imported.pages, imported.versions, imported.feedback), (9, 11, 1));
    assert_eq!((imported.account.email.as_deref(), imported.account.plan.as_str()), (Some(OWNER), "pro"));
    assert_eq!(imported.account.active_pages, 9);
    let new_key = key_of(&to, &imported).await;
    compare(&from, &key, &to, &new_key, &sites).await;
    assert_eq!(to.get("/me").key(&new_key).send().await.expect(200).json()["notify"], "daily");
    let old_feedback =
        from.get(&format!("{}/feedback", site_path(&sites[0]))).key(&key).send().await.expect(200).json();
    let feedback =
        to.get(&format!("{}/feedback", site_path(&sites[0]))).key(&new_key).send().await.expect(200).json();
    assert_eq!(feedback["feedback"][0]["comment"], old_feedback["feedback"][0]["comment"]);
    let texts = |list: &Value| {
        (list["feedback"][0]["state"].clone(), list["feedback"][0]["replies"][0]["text"].clone())
    };
    assert_eq!(texts(&feedback), texts(&old_feedback));
    assert_eq!(texts(&feedback), (json!("reopened"), json!("Which title?")));

    // The page with a password stays shut: neither nothing nor the old password opens it.
    let locked = format!("/p/{}/", sites[1]["unlisted_token"].as_str().unwrap());
    to.get(&locked).send().await.expect(401);
    to.post(&locked).fields(&[("password", "open sesame")]).send().await.expect(401);
    let set = to.patch(&site_path(&sites[1])).key(&new_key).json(&json!({"password": "new sesame"}));
    set.send().await.expect(200);
    // Its share link has the same settings and a new address.
    let links = to
        .get(&format!("{}/share-tokens", site_path(&sites[1])))
        .key(&new_key)
        .send()
        .await
        .expect(200)
        .json();
    assert_eq!(
        (&links["tokens"][0]["note"], &links["tokens"][0]["max_uses"]),
        (&json!("for Ann"), &json!(3))
    );
    // The keys of the old server do not work here, and nothing of the import is left over.
    to.get("/me").key(&key).send().await.expect(401);
    assert_eq!(to.count("SELECT COUNT(*) FROM accounts WHERE email IS NULL").await, 0);
    assert_eq!(to.count("SELECT COUNT(*) FROM leases WHERE name = 'import'").await, 0);
    from.stop().await;
    to.stop().await;
}

#[tokio::test]
async fn an_account_moves_from_sqlite_to_postgres_and_s3_byte_for_byte() {
    let database = Database::postgres().await;
    let to =
        Setup::new().database(database.clone()).set("blobs_url", s3_url()).set("storage.inline_bytes", "100");
    moves(Setup::new(), to).await;
    database.remove().await;
}

#[tokio::test]
async fn an_account_moves_from_postgres_to_sqlite_byte_for_byte() {
    let database = Database::postgres().await;
    moves(Setup::new().database(database.clone()), Setup::new()).await;
    database.remove().await;
}

#[tokio::test]
async fn no_secret_is_part_of_an_export() {
    let node = Node::start().await;
    let (key, sites) = populate(&node).await;
    let link =
        node.get(&format!("{}/share-tokens", site_path(&sites[1]))).key(&key).send().await.expect(200).json();
    let secret = link["tokens"][0]["token"].as_str().unwrap_or("shr_").to_owned();
    for (name, body) in entries(&export(&node).await) {
        let text = String::from_utf8_lossy(&body).into_owned();
        for word in [key.as_str(), secret.as_str(), "$argon2", "open sesame", "stk_live_", "shr_"] {
            assert!(!text.contains(word), "{name} contains {word}");
        }
    }
}

#[tokio::test]
async fn an_import_into_a_used_server_overwrites_nothing() {
    let node = Node::start().await;
    let (key, sites) = populate(&node).await;
    let bytes = export(&node).await;
    let taken = import(&node, &bytes, &ImportTarget::default()).await.unwrap_err();
    assert_eq!(taken.code.as_str(), "conflict");
    let target = ImportTarget { email: Some("second@example.org".into()), plan: Some("pro".into()) };
    let imported = import(&node, &bytes, &target).await.unwrap();
    assert_eq!(imported.pages, 9);
    assert!(
        imported.warnings.iter().any(|warning| warning.contains("slug yearly-report is taken")),
        "{:?}",
        imported.warnings
    );
    assert!(
        imported.warnings.iter().any(|warning| warning.contains("its link is in use")),
        "{:?}",
        imported.warnings
    );
    compare(&node, &key, &node, &key, &sites).await;
    let second = key_of(&node, &imported).await;
    let list = node.get("/sites").key(&second).send().await.expect(200).json();
    assert_eq!(list["sites"].as_array().unwrap().len(), 9);
    assert!(list["sites"].as_array().unwrap().iter().all(|site| site["slug"].is_null()));
    // Once more, into the account that exists now.
    let again = import(&node, &bytes, &target).await.unwrap();
    assert_eq!((again.account.id, again.account.active_pages), (imported.account.id, 18));
}

fn entries(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut files = BTreeMap::new();
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).unwrap();
        let mut body = Vec::new();
        entry.read_to_end(&mut body).unwrap();
        files.insert(entry.name().unwrap().into_owned(), body);
    }
    files
}

fn pack(files: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, body) in files {
        zip.start_file(name.as_str(), SimpleFileOptions::default()).unwrap();
        zip.write_all(body).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Writes the checksums of all files into the manifest, as a forger would.
fn reseal(files: &mut BTreeMap<String, Vec<u8>>) {
    let mut manifest: Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
    let list: Vec<Value> = files
        .iter()
        .filter(|(name, _)| *name != "manifest.json")
        .map(|(name, body)| json!({"name": name, "size": body.len(), "blake3": blake3::hash(body).to_hex().as_str()}))
        .collect();
    manifest["files"] = json!(list);
    files.insert("manifest.json".into(), manifest.to_string().into_bytes());
}

/// Changes the record of the only page.
fn change_page(files: &mut BTreeMap<String, Vec<u8>>, change: impl FnOnce(&mut Value)) {
    let name = files.keys().find(|name| name.starts_with("pages/")).unwrap().clone();
    let mut page: Value = serde_json::from_slice(&files[&name]).unwrap();
    change(&mut page);
    files.insert(name, page.to_string().into_bytes());
    reseal(files);
}

/// Replaces the body of the only version.
fn change_body(files: &mut BTreeMap<String, Vec<u8>>, body: &[u8]) {
    files.retain(|name, _| !name.starts_with("bodies/"));
    let hash = blake3::hash(body).to_hex();
    files.insert(format!("bodies/{hash}"), body.to_vec());
    change_page(files, |page| {
        page["versions"][0]["files"][0]["blake3"] = json!(hash.as_str());
        page["versions"][0]["files"][0]["size"] = json!(body.len());
    });
}

type Forgery = fn(&mut BTreeMap<String, Vec<u8>>);

const FORGERIES: &[(&str, &str, Forgery)] = &[
    ("traversal in the archive", "forbidden_name", |files| {
        files.insert("../../etc/passwd".into(), b"x".to_vec());
    }),
    ("a file that is not listed", "invalid_archive", |files| {
        files.insert(format!("bodies/{}", blake3::hash(b"x").to_hex()), b"x".to_vec());
    }),
    ("no manifest", "invalid_archive", |files| {
        files.remove("manifest.json");
    }),
    ("a changed body", "invalid_archive", |files| {
        let name = files.keys().find(|name| name.starts_with("bodies/")).unwrap().clone();
        files.get_mut(&name).unwrap().push(b'x');
    }),
    ("a body under the name of another", "invalid_archive", |files| {
        let name = files.keys().find(|name| name.starts_with("bodies/")).unwrap().clone();
        files.insert(name, page("Forged").into_bytes());
        reseal(files);
    }),
    ("another format version", "invalid_archive", |files| {
        let text = String::from_utf8(files["manifest.json"].clone()).unwrap();
        files.insert("manifest.json".into(), text.replacen("\"version\":1", "\"version\":2", 1).into_bytes());
    }),
    ("an unknown field", "invalid_archive", |files| {
        change_page(files, |page| page["is_operator"] = json!(true));
    }),
    ("a missing field", "invalid_archive", |files| {
        change_page(files, |page| {
            page.as_object_mut().unwrap().remove("has_password");
        });
    }),
    ("an unknown maker", "invalid_field", |files| {
        change_page(files, |page| page["versions"][0]["made_by"] = json!({"kind": "robot"}));
    }),
    ("a maker with a name of several lines", "invalid_field", |files| {
        change_page(files, |page| {
            page["versions"][0]["made_by"] = json!({"kind": "api_key", "name": "a\nb"});
        });
    }),
    ("an unknown kind", "invalid_field", |files| {
        change_page(files, |page| page["versions"][0]["kind"] = json!("exe"));
    }),
    ("a kind that it is not", "invalid_pdf", |files| {
        change_page(files, |page| page["versions"][0]["kind"] = json!("pdf"));
    }),
    ("a version without bounds", "invalid_field", |files| {
        change_page(files, |page| page["version"] = json!(i64::MAX));
    }),
    ("a time in the far future", "invalid_field", |files| {
        change_page(files, |page| page["updated_at"] = json!(i64::MAX));
    }),
    ("negative views", "invalid_field", |files| change_page(files, |page| page["view_count"] = json!(-1))),
    ("a token of another form", "invalid_field", |files| {
        change_page(files, |page| page["token"] = json!("../x"));
    }),
    ("a reserved slug", "invalid_slug", |files| change_page(files, |page| page["slug"] = json!("www"))),
    ("a public page without a slug", "slug_required", |files| {
        change_page(files, |page| page["visibility"] = json!("public"));
    }),
    ("no version", "invalid_field", |files| change_page(files, |page| page["versions"] = json!([]))),
    ("a body that is not there", "invalid_archive", |files| {
        change_page(files, |page| page["versions"][0]["files"][0]["blake3"] = json!("0".repeat(64)));
    }),
    ("a stated size without bounds", "too_large", |files| {
        change_page(files, |page| page["versions"][0]["files"][0]["size"] = json!(1_u64 << 50));
    }),
    ("traversal in a version", "forbidden_name", |files| {
        change_page(files, |page| {
            let mut file = page["versions"][0]["files"][0].clone();
            page["versions"][0]["kind"] = json!("zip");
            page["versions"][0]["file_name"] = Value::Null;
            page["versions"][0]["files"][0]["path"] = json!("index.html");
            file["path"] = json!("../../out.html");
            page["versions"][0]["files"].as_array_mut().unwrap().push(file);
        });
    }),
    ("a bomb", "too_large", |files| change_body(files, &vec![b' '; 50 << 20])),
    ("phishing", "phishing_blocked", |files| change_body(files, HARVEST.as_bytes())),
    ("a domain of no page", "invalid_field", |files| {
        let mut manifest: Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
        manifest["domains"] =
            json!([{"hostname": "www.example.com", "page": "site_00000000000000000000", "primary": true}]);
        files.insert("manifest.json".into(), manifest.to_string().into_bytes());
    }),
];

#[tokio::test]
async fn hostile_exports_are_refused_and_nothing_is_stored() {
    let from = Node::start().await;
    let account = from.app().create_account(OWNER, Some("pro"), false).await.unwrap();
    let IdempotentResult::New(key) =
        from.app().create_key(&account, None, None, |_| Vec::new()).await.unwrap()
    else {
        panic!("a new key is no repeat");
    };
    from.publish_as(&key.secret, Form::file("page.html", page("Honest"))).await;
    let honest = entries(&export(&from).await);
    let to = Node::start().await;
    let tables = "SELECT (SELECT COUNT(*) FROM accounts) + (SELECT COUNT(*) FROM sites) + (SELECT COUNT(*) FROM blobs) \
                  + (SELECT COUNT(*) FROM bundles) + (SELECT COUNT(*) FROM slugs) + (SELECT COUNT(*) FROM leases \
                  WHERE name = 'import')";
    let before = to.count(tables).await;
    for (what, code, forge) in FORGERIES {
        let mut files = honest.clone();
        forge(&mut files);
        let refused = import(&to, &pack(&files), &ImportTarget::default()).await;
        let error = refused.map(|it| it.pages).expect_err(what);
        assert_eq!(error.code.as_str(), *code, "{what}: {}", error.detail);
        assert_eq!(to.count(tables).await, before, "{what}");
    }
    let cut = pack(&honest);
    let error =
        import(&to, &cut[..cut.len() / 2], &ImportTarget::default()).await.map(|it| it.pages).unwrap_err();
    assert_eq!(error.code.as_str(), "invalid_archive");
    import(&to, &pack(&honest), &ImportTarget::default()).await.unwrap();
}

#[tokio::test]
async fn an_export_chooses_neither_its_plan_nor_how_long_its_pages_live() {
    let from = Node::start().await;
    populate(&from).await;
    let bytes = export(&from).await;
    let to = Node::start().await;
    let unknown = ImportTarget { email: None, plan: Some("unlimited".into()) };
    let refused = import(&to, &bytes, &unknown).await.map(|it| it.pages).unwrap_err();
    assert_eq!(refused.code.as_str(), "invalid_field");
    let imported = import(&to, &bytes, &ImportTarget::default()).await.unwrap();
    assert_eq!(imported.account.plan, "solo", "the default plan, not the one in the export");
    assert!(to.count("SELECT COUNT(*) FROM sites WHERE expires_at IS NULL").await > 0);
    to.app().erase_account(COMMAND_LINE, &imported.account).await.unwrap();

    let free = ImportTarget { email: Some("free@example.org".into()), plan: Some("free".into()) };
    let imported = import(&to, &bytes, &free).await.unwrap();
    assert_eq!(imported.account.plan, "free");
    let shortened = imported.warnings.iter().filter(|warning| warning.contains("expires earlier"));
    assert_eq!(shortened.count(), 8, "all but the page of 48 hours: {:?}", imported.warnings);
    let endless = "SELECT COUNT(*) FROM sites WHERE purged_at IS NULL AND expires_at IS NULL";
    assert_eq!(to.count(endless).await, 0);
}

#[tokio::test]
async fn two_files_of_one_name_are_refused() {
    let from = Node::start().await;
    from.app().create_account(OWNER, Some("pro"), false).await.unwrap();
    let bytes = export(&from).await;
    // The only file is renamed to that of a second entry of the same length.
    let mut zip = ZipWriter::new_append(Cursor::new(bytes)).unwrap();
    zip.start_file("manifest.jsoX", SimpleFileOptions::default()).unwrap();
    zip.write_all(b"{}").unwrap();
    let mut bytes = zip.finish().unwrap().into_inner();
    while let Some(at) = bytes.windows(13).position(|window| window == b"manifest.jsoX") {
        bytes[at + 12] = b'n';
    }
    let to = Node::start().await;
    let error = import(&to, &bytes, &ImportTarget::default()).await.map(|it| it.pages).unwrap_err();
    assert_eq!(error.code.as_str(), "invalid_archive", "{}", error.detail);
}

#[tokio::test]
async fn an_import_that_was_killed_is_undone_by_the_sweep() {
    let from = Node::start().await;
    populate(&from).await;
    let bytes = export(&from).await;
    let to = Node::start().await;
    // What a killed process leaves: the pages belong to an account of the import, and its lease was not released.
    let imported = import(&to, &bytes, &ImportTarget::default()).await.unwrap();
    let id = imported.account.id.as_str();
    to.exec(
        "UPDATE accounts SET email = NULL, suspended_at = 1, suspended_reason = 'x' WHERE id = $1",
        vec![id.into()],
    )
    .await;
    to.exec("INSERT INTO leases (name, holder, until) VALUES ('import', $1, 1)", vec![id.into()]).await;
    to.app().sweep().await.unwrap();
    assert_eq!(to.count("SELECT COUNT(*) FROM blobs").await, 0);
    assert_eq!(to.count("SELECT COUNT(*) FROM sites WHERE purged_at IS NULL").await, 0);
    assert_eq!(to.count("SELECT COUNT(*) FROM leases WHERE name = 'import'").await, 0);
    let again = import(&to, &bytes, &ImportTarget::default()).await.unwrap();
    assert_eq!(again.pages, 9);
    assert!(!again.warnings.iter().any(|warning| warning.contains("in use")), "{:?}", again.warnings);
}

#[tokio::test]
async fn an_import_that_was_paused_beyond_its_lease_does_not_go_on() {
    let from = Node::start().await;
    populate(&from).await;
    let bytes = export(&from).await;
    let to = Node::start().await;
    // As after the process was stopped: by now the sweep of another node may be undoing it.
    let pause = |page: u64| {
        if page == 4 {
            to.clock.advance(901);
        }
    };
    let (file, target) = (file_of(&bytes), ImportTarget::default());
    let refused = to.app().import_account(COMMAND_LINE, file, &target, |progress| pause(progress.done)).await;
    let error = refused.map(|it| it.pages).unwrap_err();
    assert_eq!(error.code.as_str(), "conflict", "{}", error.detail);
    assert!(error.detail.contains("paused for too long"), "{}", error.detail);
    assert_eq!(to.count("SELECT COUNT(*) FROM blobs").await, 0);
    assert_eq!(to.count("SELECT COUNT(*) FROM leases WHERE name = 'import'").await, 0);
    assert_eq!(import(&to, &bytes, &target).await.unwrap().pages, 9);
}

#[tokio::test]
async fn the_commands_export_and_import_on_a_running_server() {
    let (from, to) = (Setup::new().real_time().start().await, Setup::new().real_time().start().await);
    let (_, sites) = populate(&from).await;
    let work = tempfile::tempdir().unwrap();
    let dropleaf = crate::harness::Dropleaf::in_dir(work.path());
    let (old, new) = (from.data_dir().display().to_string(), to.data_dir().display().to_string());
    dropleaf.prints(&["export", OWNER, "account.zip", "--data-dir", &old]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode =
            File::open(work.path().join("account.zip")).unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "others can read the export");
    }
    let twice = dropleaf.run(&["export", OWNER, "account.zip", "--data-dir", &old]);
    assert_eq!(twice.status.code(), Some(2), "{twice:?}");
    let shown = dropleaf.prints(&["export", OWNER, "again.zip", "--json", "--data-dir", &old]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&shown["path"], &shown["pages"]), (&json!("again.zip"), &json!(9)));
    let second = ["import", "again.zip", "--account", "json@example.org", "--plan", "pro", "--json"];
    let shown = dropleaf.prints(&[&second[..], &["--data-dir", &old]].concat());
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&shown["plan"], &shown["pages"]), (&json!("pro"), &json!(9)));
    let id = dropleaf.prints(&["import", "account.zip", "--data-dir", &new]);
    assert!(id.starts_with("acct_"), "{id}");
    let path = format!("/p/{}/", sites[5]["unlisted_token"].as_str().unwrap());
    to.get(&path).send().await.expect(200);
    let conflict = dropleaf.complains(&["import", "account.zip", "--data-dir", &new]);
    assert!(conflict.contains("--account"), "{conflict}");
}
