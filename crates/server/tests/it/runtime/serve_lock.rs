//! `dropleaf serve` on the data of a running server is refused, while other commands work.

use crate::harness::Dropleaf;
use dropleaf::config::{Layers, Sources};
use dropleaf::serve;
use tempfile::TempDir;

#[tokio::test(flavor = "multi_thread")]
async fn second_server_on_the_same_data_is_refused_and_a_backup_is_not() {
    let work = TempDir::new().unwrap();
    let data = work.path().join("data").display().to_string();
    let settings =
        [("data_dir", data.as_str()), ("listen", "localhost:0"), ("base_url", "http://localhost:8080")];
    let flags = settings.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let config =
        || Layers::load(&Sources { flags: flags.clone(), ..Sources::default() }).unwrap().config().unwrap();
    let running = serve::start(config()).await.unwrap();
    let dropleaf = Dropleaf::in_dir(work.path());
    let said = dropleaf.complains(&["serve", "--listen", "localhost:0", "--data-dir", &data]);
    assert!(said.contains("another dropleaf server is running here"), "{said}");
    let elsewhere = work.path().join("elsewhere").display().to_string();
    let database = format!("sqlite:{data}/dropleaf.db");
    let same_database =
        ["serve", "--listen", "localhost:0", "--data-dir", &elsewhere, "--database-url", &database];
    assert!(dropleaf.complains(&same_database).contains("another dropleaf server is running here"));
    dropleaf.prints(&["backup", "copy", "--data-dir", &data]);
    running.stop().await;
    let again = serve::start(config()).await.expect("the lock ends with the server");
    again.stop().await;
}
