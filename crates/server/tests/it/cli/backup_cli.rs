//! `dropleaf backup` on a running server, `dropleaf backup restore` into a new folder.

use crate::harness::{Database, Dropleaf, Form, Node, Setup, noise, page, site_path};
use serde_json::{Value, json};
use tempfile::TempDir;

async fn fill(node: &Node) -> (Vec<(Value, Vec<u8>)>, Value) {
    let mut pages = Vec::new();
    for n in 0..5 {
        let body = page(&format!("Page {n}")).into_bytes();
        pages.push((node.publish(Form::file("a.html", &body)).await, body));
    }
    let large = noise("backed up", 300_000);
    pages.push((node.publish(Form::file("x", &large).field("e2e", "true")).await, large));
    let named = node.publish(Form::file("a.html", page("Named")).field("slug", "kept-name")).await;
    pages.push((named, page("Named").into_bytes()));
    let deleted = node.publish_page("Deleted").await;
    node.delete(&site_path(&deleted)).key(&node.key).send().await.expect(200);
    (pages, deleted)
}

async fn is_all_there(node: &Node, key: &str, pages: &[(Value, Vec<u8>)], deleted: &Value) {
    for (site, body) in pages {
        let path = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
        assert!(node.get(&path).send().await.expect(200).body == *body, "{}", site["title"]);
        let read = node.get(&site_path(site)).key(key).send().await.expect(200).json();
        for field in ["id", "slug", "title", "version", "byte_size", "updated_at"] {
            assert_eq!(read[field], site[field], "{field}");
        }
    }
    let back = node.post(&format!("{}/restore", site_path(deleted))).key(key).send().await;
    back.expect(200);
}

#[tokio::test]
async fn backup_of_a_running_server_restored_elsewhere_serves_the_same_bytes() {
    let node = Node::start().await;
    let (pages, deleted) = fill(&node).await;
    let (work, fresh) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let dropleaf = Dropleaf::in_dir(work.path());
    let data = node.data_dir().display().to_string();
    dropleaf.prints(&["backup", "copy", "--data-dir", &data]);
    let later = node.publish_page("After the backup").await;
    node.get(later["url"].as_str().unwrap()).send().await.expect(200);

    let target = fresh.path().join("data").display().to_string();
    dropleaf.prints(&["backup", "restore", "copy", "--data-dir", &target]);
    std::fs::copy(node.data_dir().join("secret.key"), fresh.path().join("data/secret.key")).unwrap();
    let restored = Setup::new().start_in(fresh).await;
    is_all_there(&restored, &node.key, &pages, &deleted).await;
    let path = format!("/p/{}/", later["unlisted_token"].as_str().unwrap());
    restored.get(&path).send().await.expect(404);
    assert!(restored.key.is_empty(), "the operator was restored, not recreated");
}

#[tokio::test]
async fn restore_into_a_service_that_holds_pages_needs_a_word() {
    let node = Node::start().await;
    let (pages, deleted) = fill(&node).await;
    let work = TempDir::new().unwrap();
    let dropleaf = Dropleaf::in_dir(work.path());
    let data = node.data_dir().display().to_string();
    dropleaf.prints(&["backup", "copy", "--data-dir", &data]);
    node.patch_site(&pages[0].0, json!({"password": "changed since"})).await.expect(200);
    let key = node.key.clone();
    let dir = node.stop().await;
    dropleaf.complains(&["backup", "restore", "copy", "--data-dir", &data]);
    dropleaf.prints(&["backup", "restore", "copy", "--replace", "--data-dir", &data]);
    let node = Setup::new().start_in(dir).await;
    is_all_there(&node, &key, &pages, &deleted).await;
}

#[tokio::test]
async fn backup_goes_into_an_empty_folder_only() {
    let node = Node::start().await;
    let work = TempDir::new().unwrap();
    let dropleaf = Dropleaf::in_dir(work.path());
    let data = node.data_dir().display().to_string();
    std::fs::create_dir(work.path().join("full")).unwrap();
    std::fs::write(work.path().join("full/mine.txt"), "precious").unwrap();
    dropleaf.complains(&["backup", "full", "--data-dir", &data]);
    assert_eq!(std::fs::read_to_string(work.path().join("full/mine.txt")).unwrap(), "precious");
    dropleaf.complains(&[
        "backup",
        "restore",
        "none",
        "--data-dir",
        &work.path().join("x").display().to_string(),
    ]);
}

#[tokio::test]
async fn backup_moves_a_service_from_one_postgres_to_another() {
    let (source, target) = (Database::postgres().await, Database::postgres().await);
    let node = Setup::new().database(source.clone()).start().await;
    let (pages, deleted) = fill(&node).await;
    let work = TempDir::new().unwrap();
    let dropleaf = Dropleaf::in_dir(work.path());
    let (Database::Postgres(from), Database::Postgres(to)) = (&source, &target) else {
        panic!("both are PostgreSQL")
    };
    let data = node.data_dir().display().to_string();
    dropleaf.prints(&["backup", "copy", "--data-dir", &data, "--database-url", from]);
    let fresh = TempDir::new().unwrap();
    let new_data = fresh.path().join("data").display().to_string();
    dropleaf.prints(&["backup", "restore", "copy", "--data-dir", &new_data, "--database-url", to]);
    let restored = Setup::new().database(target.clone()).start_in(fresh).await;
    is_all_there(&restored, &node.key, &pages, &deleted).await;
    node.stop().await;
    restored.stop().await;
    source.remove().await;
    target.remove().await;
}
