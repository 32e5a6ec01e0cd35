//! docs/spec-map.md names a test for every row of the specification; this one makes sure that they exist.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// `file::function` of every function below a folder.
fn functions(dir: &Path, found: &mut HashSet<String>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            functions(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let file = if stem == "mod" { dir.file_name().unwrap().to_str().unwrap() } else { stem };
            for name in text.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next()) {
                found.insert(format!("{file}::{name}"));
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

#[test]
fn every_test_named_in_the_spec_map_exists() {
    let mut found = HashSet::new();
    for krate in std::fs::read_dir(root().join("crates")).unwrap() {
        for part in ["src", "tests"] {
            let dir = krate.as_ref().unwrap().path().join(part);
            if dir.is_dir() {
                functions(&dir, &mut found);
            }
        }
    }
    let page = std::fs::read_to_string(root().join("docs/spec-map.md")).unwrap();
    let names = named(&page);
    assert!(names.len() > 100, "the page names {} tests", names.len());
    let missing: Vec<_> = names.iter().filter(|name| !found.contains(**name)).collect();
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
