//! The record of published pages: its permissions, what it forgets, and that concurrent writers lose nothing.

use dropleaf_client::{Gate, PublishedPage, PublishedPages, RecordError};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;

fn page(path: &str, id: &str) -> PublishedPage {
    PublishedPage {
        server: "http://a".into(),
        path: path.into(),
        id: id.into(),
        url: format!("http://a/p/{id}/"),
        claim_token: None,
        expires_at: None,
        secret: None,
        gates: Vec::new(),
    }
}

#[test]
fn page_is_found_by_server_and_path_and_the_file_is_private() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("dropleaf/published.json");
    let pages = PublishedPages::at(file.clone());
    assert_eq!(pages.find("http://a", "/x").unwrap(), None);
    pages.keep(page("/x", "site_1"), 0).unwrap();
    pages.keep(page("/y", "site_2"), 0).unwrap();
    pages.keep(page("/x", "site_3"), 0).unwrap();
    assert_eq!(pages.find("http://a", "/x").unwrap().unwrap().id, "site_3");
    assert_eq!(pages.find("http://a", "/y").unwrap().unwrap().id, "site_2");
    assert_eq!(pages.find("http://b", "/x").unwrap(), None);
    assert_eq!(pages.find_id("http://a", "site_2").unwrap().unwrap().path, "/y");
    assert_eq!(pages.find_id("http://b", "site_2").unwrap(), None);
    assert_eq!(pages.find_id("http://a", "site_1").unwrap(), None);
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(&dir.path().join("dropleaf"))), (0o600, 0o700));
    assert!(!fs::read_to_string(&file).unwrap().contains("site_1"), "what cannot be claimed is forgotten");
}

#[test]
fn gates_are_recorded_and_records_without_them_are_read() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("published.json");
    let pages = PublishedPages::at(file.clone());
    pages.keep(page("/open", "site_1"), 0).unwrap();
    assert!(!fs::read_to_string(&file).unwrap().contains("gates"));
    pages
        .keep(PublishedPage { gates: vec![Gate::Password, Gate::Email], ..page("/x", "site_2") }, 0)
        .unwrap();
    assert!(pages.find("http://a", "/open").unwrap().unwrap().gates.is_empty());
    assert_eq!(pages.find("http://a", "/x").unwrap().unwrap().gates, [Gate::Password, Gate::Email]);
}

#[test]
fn claim_token_of_a_replaced_page_is_kept_until_it_expires() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("published.json");
    let pages = PublishedPages::at(file.clone());
    let anonymous =
        PublishedPage { claim_token: Some("clm_old".into()), expires_at: Some(100), ..page("/x", "site_1") };
    assert!(!format!("{anonymous:?}").contains("clm_old"));
    pages.keep(anonymous, 0).unwrap();
    pages.keep(page("/x", "site_2"), 50).unwrap();
    assert!(fs::read_to_string(&file).unwrap().contains("clm_old"));
    pages.keep(page("/z", "site_3"), 100).unwrap();
    assert!(!fs::read_to_string(&file).unwrap().contains("clm_old"));
}

#[test]
fn oldest_pages_are_forgotten() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("published.json");
    let entries: Vec<PublishedPage> =
        (0..2000).map(|n| page(&format!("/{n}"), &format!("site_{n}"))).collect();
    let text = serde_json::json!({"version": 1, "pages": entries}).to_string();
    fs::write(&file, text).unwrap();
    let pages = PublishedPages::at(file);
    pages.keep(page("/new", "site_new"), 0).unwrap();
    assert_eq!(pages.find("http://a", "/0").unwrap(), None);
    assert!(pages.find("http://a", "/1").unwrap().is_some());
    assert!(pages.find("http://a", "/new").unwrap().is_some());
}

#[test]
fn concurrent_writers_lose_nothing() {
    let dir = TempDir::new().unwrap();
    let pages = PublishedPages::at(dir.path().join("published.json"));
    std::thread::scope(|scope| {
        for writer in 0..4 {
            // A handle of its own, as in another process: the lock belongs to the open file.
            let pages = pages.clone();
            scope.spawn(move || {
                for n in 0..10 {
                    pages.keep(page(&format!("/{writer}/{n}"), &format!("site_{writer}_{n}")), 0).unwrap();
                }
            });
        }
    });
    for writer in 0..4 {
        for n in 0..10 {
            assert!(pages.find("http://a", &format!("/{writer}/{n}")).unwrap().is_some(), "{writer} {n}");
        }
    }
}

#[test]
fn file_that_cannot_be_read_is_not_overwritten() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("published.json");
    let pages = PublishedPages::at(file.clone());
    for (text, is_newer) in [("{", false), ("{\"version\": 2}", true)] {
        fs::write(&file, text).unwrap();
        let error = pages.keep(page("/x", "site_1"), 0).unwrap_err();
        assert_eq!(matches!(error, RecordError::Newer { .. }), is_newer, "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}
