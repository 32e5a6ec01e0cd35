//! A database that a newer version has upgraded: every command that opens it says so and exits with 6.

use crate::harness::{Database, Dropleaf};
use dropleaf_store::health::latest_schema;
use dropleaf_store::{Db, Stmt};
use tempfile::TempDir;

const COMMANDS: [&[&str]; 9] = [
    &["serve"],
    &["account", "list"],
    &["payments", "list"],
    &["ledger", "audit"],
    &["reports"],
    &["appeals", "list"],
    &["audit"],
    &["backup", "copy"],
    &["export", "owner@example.org", "owner.zip"],
];

async fn refuses(url: &str, dir: &TempDir) {
    dropleaf::tls::install_provider();
    let db = Db::open(url).await.unwrap();
    db.migrate(0).await.unwrap();
    let newer = "INSERT INTO schema_migrations (version, name, applied_at) VALUES (9999, 'future', 0)";
    db.exec(Stmt::new(newer, vec![])).await.unwrap();
    db.close().await;
    let dropleaf =
        Dropleaf::in_dir(dir.path()).env("DROPLEAF_DATABASE_URL", url).env("DROPLEAF_LISTEN", "localhost:0");
    for command in COMMANDS {
        let output = dropleaf.run(command);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(6), "{command:?}: {said}");
        let known = format!("up to {}", latest_schema());
        for part in ["schema version 9999", &known, "start the newer program", "restore a backup"] {
            assert!(said.contains(part), "{command:?}: {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_refuse_a_newer_schema_on_sqlite() {
    let dir = TempDir::new().unwrap();
    refuses(&format!("sqlite:{}", dir.path().join("dropleaf.db").display()), &dir).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_refuse_a_newer_schema_on_postgres() {
    let database = Database::postgres().await;
    let Database::Postgres(url) = &database else { panic!("not PostgreSQL") };
    refuses(url, &TempDir::new().unwrap()).await;
    database.remove().await;
}
