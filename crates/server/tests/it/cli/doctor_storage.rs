//! `dropleaf doctor` on planted faults of the database, the files with keys, and backups.

use super::doctor_world::{empty, examine, examine_node};
use crate::harness::{Dropleaf, Setup};
use dropleaf_core::{Clock, SystemClock};
use dropleaf_store::backup_state::destination_id;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_every_user_can_read() {
    let node = Setup::new().real_time().start().await;
    for (path, mode) in [(node.data_dir().to_owned(), 0o755), (node.data_dir().join("secret.key"), 0o644)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let found = examine_node(&node, &[]).await;
    found.finds("key_files", "chmod 700");
    assert!(found.check("key_files")["fix"].as_str().unwrap().contains("secret.key"), "{}", found.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_older_than_the_database() {
    let node = Setup::new().real_time().start().await;
    node.exec(
        "INSERT INTO schema_migrations (version, name, applied_at) VALUES (999, 'later', 0)",
        Vec::new(),
    )
    .await;
    examine_node(&node, &[]).await.finds("schema", "newer");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_another_server_uses() {
    let (dir, dropleaf) = empty();
    let database = dir.path().join("shared.db");
    let lock = std::fs::File::create(dir.path().join("shared.db.lock")).unwrap();
    lock.lock().unwrap();
    let url = format!("sqlite:{}", database.display());
    examine(dropleaf, &[("database_url", &url)]).await.finds("second_server", "database_url");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_database() {
    use std::io::{Seek, SeekFrom, Write};
    let dir = Setup::new().real_time().start().await.stop().await;
    let path = dir.path().join("data/dropleaf.db");
    let size = std::fs::metadata(&path).unwrap().len();
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(8192)).unwrap();
    file.write_all(&vec![0xa5; usize::try_from(size - 8192).unwrap()]).unwrap();
    drop(file);
    let data_dir = dir.path().join("data").display().to_string();
    let found = examine(Dropleaf::in_dir(dir.path()), &[("data_dir", &data_dir)]).await;
    assert_eq!(found.code, Some(3), "{}", found.text);
    let named = |id: &str| found.check(id)["status"] == "problem";
    assert!(named("integrity") || named("database"), "{}", found.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn backups_that_are_not_scheduled_or_late() {
    let node = Setup::new().real_time().start().await;
    let found = examine_node(&node, &[]).await;
    found.is("backup", "warning");
    assert!(found.check("backup")["fix"].as_str().unwrap().contains("docs/backup.md"), "{}", found.text);
    let place = TempDir::new().unwrap();
    let to = format!("file:{}", place.path().display());
    let settings = [("backup.to", to.as_str())];
    examine_node(&node, &settings).await.is("backup", "not_checked");

    let (now, day) = (SystemClock::default().now(), 86_400);
    let insert = "INSERT INTO figures (name, value, at) VALUES ($1, $2, $3)";
    let row = |name: &str, value: i64, at: i64| vec![name.into(), value.into(), at.into()];
    node.exec(insert, row("backup_destination", destination_id(&to), now - 9 * day)).await;
    node.exec(insert, row("backup_succeeded", 1000, now - 3 * day)).await;
    let found = examine_node(&node, &settings).await;
    found.finds("backup", "dropleaf backup");
    // The record of one destination says nothing about another.
    examine_node(&node, &[("backup.to", "file:/nonexistent/elsewhere")]).await.is("backup", "not_checked");
    node.exec("UPDATE figures SET at = $1 WHERE name = 'backup_succeeded'", vec![(now - day).into()]).await;
    examine_node(&node, &settings).await.is("backup", "ok");
}
