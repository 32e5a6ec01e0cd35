//! Checks that the tests named in docs/spec-map.md for every row of the specification exist.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Functions that run a test on each database.
const ON_EACH_DATABASE: [&str; 8] = [
    "on_each_database(",
    "at_each_till(",
    "for_each_database(",
    "on_each(",
    "for_each_store(",
    "at_each_sandbox(",
    "at_each_card_till(",
    "in [Database::Sqlite, Database::postgres().await]",
];

/// `file::function` of every function below a folder, with its body.
fn functions(dir: &Path, found: &mut HashMap<String, String>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            functions(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let file = if stem == "mod" { dir.file_name().unwrap().to_str().unwrap() } else { stem };
            for function in text.split("fn ").skip(1) {
                let name = function.split(['(', '<']).next().unwrap_or_default();
                found.entry(format!("{file}::{name}")).or_default().push_str(function);
            }
        }
    }
}

/// Everything in backticks that looks like the name of a test.
fn named(page: &str) -> Vec<&str> {
    let word = |text: &str| text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    let is_test = |text: &&str| text.split_once("::").is_some_and(|(file, name)| word(file) && word(name));
    page.split('`').skip(1).step_by(2).filter(is_test).collect()
}

/// Those of all crates.
fn all_functions() -> HashMap<String, String> {
    let mut found = HashMap::new();
    for krate in std::fs::read_dir(root().join("crates")).unwrap() {
        for part in ["src", "tests"] {
            let dir = krate.as_ref().unwrap().path().join(part);
            if dir.is_dir() {
                functions(&dir, &mut found);
            }
        }
    }
    found
}

#[test]
fn every_test_named_in_the_spec_map_exists() {
    let found = all_functions();
    let page = std::fs::read_to_string(root().join("docs/spec-map.md")).unwrap();
    let names = named(&page);
    assert!(names.len() > 100, "the page names {} tests", names.len());
    let missing: Vec<_> = names.iter().filter(|name| !found.contains_key(**name)).collect();
    assert!(missing.is_empty(), "docs/spec-map.md names tests that do not exist: {missing:#?}");
}

#[test]
fn every_row_of_the_spec_map_has_a_test_or_says_why_not() {
    let page = std::fs::read_to_string(root().join("docs/spec-map.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| Row"));
    for row in rows {
        let told = !named(row).is_empty() || row.contains("not built yet") || row.contains("e2e/");
        assert!(told, "neither a test nor a reason: {row}");
    }
}

#[test]
fn rows_that_claim_both_databases_name_a_test_that_runs_on_both() {
    let found = all_functions();
    let page = std::fs::read_to_string(root().join("docs/spec-map.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.contains("both databases"));
    let mut claims = 0;
    for row in rows {
        claims += 1;
        let runs = |name: &&str| {
            found.get(*name).is_some_and(|body| ON_EACH_DATABASE.iter().any(|call| body.contains(call)))
        };
        assert!(named(row).iter().any(runs), "no test of this row runs on both: {row}");
    }
    assert!(claims > 50, "{claims}");
}
