//! Compares generated files with their generators. `UPDATE_GENERATED=1` (make generate) writes instead of comparing.

use std::path::PathBuf;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[expect(
    clippy::disallowed_methods,
    reason = "`make generate` says in the environment that it wants to write"
)]
fn writes() -> bool {
    std::env::var("UPDATE_GENERATED").is_ok_and(|value| value == "1")
}

#[track_caller]
fn check(path: &str, text: &str) {
    let file = root().join(path);
    if writes() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == text, "{path} is not what the code says; run `make generate` and commit it");
}

#[test]
fn drift_of_the_openapi_document() {
    check("openapi/openapi.json", &format!("{}\n", dropleaf::http::openapi::text()));
}

#[test]
fn drift_of_the_configuration_page() {
    check("docs/configuration.md", &dropleaf::config::reference::markdown());
}

#[test]
fn drift_of_the_errors_page() {
    check("docs/errors.md", &dropleaf::http::error_reference::markdown());
}
