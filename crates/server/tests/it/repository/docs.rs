//! Checks the documents against the repository: files they name exist, and so do the names in the guide to a new
//! endpoint.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every file of the repository, as a path from its root.
fn files() -> Vec<String> {
    // READMEs of other projects are test input.
    const NOT_OURS: [&str; 6] = ["target", "node_modules", "data", "corpus", "artifacts", "readmes"];
    fn walk(dir: &Path, root: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            if entry.file_type().unwrap().is_dir() {
                if !name.starts_with('.') && !NOT_OURS.contains(&name.as_str()) {
                    walk(&entry.path(), root, found);
                }
            } else {
                found.push(entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    let (root, mut found) = (root(), Vec::new());
    walk(&root, &root, &mut found);
    found
}

fn ends_in(path: &str, ending: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == ending)
}

/// The text without its code blocks, which show commands and their output.
fn prose(text: &str) -> String {
    text.split("\n```").step_by(2).collect()
}

/// The texts in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// Whether the text names a source file: a path with a source file extension.
fn is_source(words: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let ending = Path::new(words).extension().and_then(|ending| ending.to_str());
    words.contains('/')
        && !words.starts_with(['/', '.'])
        && words.chars().all(plain)
        && matches!(ending, Some("rs" | "mjs" | "py" | "sql" | "css" | "js" | "html" | "toml"))
}

#[test]
fn source_files_named_in_the_documents_exist() {
    // Documents leave out `crates` and often `src`.
    let short = |path: &str| format!("/{path}").replace("/src/", "/").replace("/crates/", "/");
    let files = files();
    let known: Vec<String> = files.iter().map(|path| short(path)).collect();
    let mut named = 0;
    for document in files.iter().filter(|path| ends_in(path, "md") && !path.starts_with("CHANGELOG")) {
        let text = std::fs::read_to_string(root().join(document)).unwrap();
        for path in quoted(&prose(&text)).filter(|words| is_source(words)) {
            named += 1;
            let ending = short(path);
            assert!(known.iter().any(|known| known.ends_with(&ending)), "{document}: there is no {path}");
        }
    }
    assert!(named > 100, "{named}");
}

#[test]
fn links_between_the_documents_lead_somewhere() {
    let files = files();
    let mut links = 0;
    for document in files.iter().filter(|path| ends_in(path, "md")) {
        let text = std::fs::read_to_string(root().join(document)).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets
            .filter(|target| target.contains(".md") && !target.contains("://") && !target.contains("{{"))
        {
            links += 1;
            let path = root().join(document).parent().unwrap().join(target.split('#').next().unwrap());
            assert!(path.exists(), "{document}: {target} leads nowhere");
        }
    }
    assert!(links > 30, "{links}");
}

/// Identifiers: types, functions and macros, in a path or called.
fn names(words: &str) -> Vec<&str> {
    let word = |text: &&str| {
        let mut chars = text.chars();
        let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        first && text.len() > 2 && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let is_code = words.contains("::")
        || words.contains('(')
        || words.ends_with('!')
        || (words.contains('_') && words.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        || (words.starts_with(|c: char| c.is_ascii_uppercase()) && word(&words));
    let end = words.find(['(', '<', '!']).unwrap_or(words.len());
    if is_code { words[..end].trim_start_matches('.').split("::").filter(word).collect() } else { Vec::new() }
}

#[test]
fn names_in_the_guide_to_a_new_endpoint_are_in_the_sources() {
    let mut words = HashSet::new();
    for file in files().iter().filter(|path| path.starts_with("crates/") && ends_in(path, "rs")) {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        // Names in this test do not count.
        let own = file.ends_with("tests/it/repository/docs.rs");
        let all = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|_| !own);
        words.extend(all.map(str::to_owned));
    }
    let guide = std::fs::read_to_string(root().join("docs/adding-an-endpoint.md")).unwrap();
    let text = prose(&guide);
    let named: Vec<&str> = quoted(&text).flat_map(names).collect();
    assert!(named.len() > 40, "{}", named.len());
    for name in named {
        assert!(words.contains(name), "docs/adding-an-endpoint.md speaks of {name}, which is not there");
    }
}

#[test]
fn code_in_the_guide_to_a_new_endpoint_is_that_of_the_handler() {
    let guide = std::fs::read_to_string(root().join("docs/adding-an-endpoint.md")).unwrap();
    let handler = std::fs::read_to_string(root().join("crates/server/src/http/api/site_content.rs")).unwrap();
    let shown = guide.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert!(handler.contains(shown), "docs/adding-an-endpoint.md shows another handler:\n{shown}");
}

#[test]
fn every_health_check_is_described_in_its_group() {
    use dropleaf_core::health::{Check, Group};
    let text = std::fs::read_to_string(root().join("docs/doctor.md")).unwrap();
    let (_, text) = text.split_once("\n## Checks\n").unwrap();
    let mut described = Vec::new();
    for section in text.split("\n### ").skip(1) {
        let (group, rows) = section.split_once('\n').unwrap();
        for row in rows.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let [id, title, checked, fix] = cells[..] else { panic!("{row}") };
            assert!(!checked.is_empty() && !fix.is_empty(), "{row}");
            described.push((group.to_owned(), id.trim_matches('`').to_owned(), title.to_owned()));
        }
    }
    let own =
        |check: &Check| (check.group().title().to_owned(), check.id().to_owned(), check.title().to_owned());
    let known: Vec<_> = Group::ALL
        .iter()
        .flat_map(|group| Check::ALL.iter().filter(move |check| check.group() == *group))
        .map(own)
        .collect();
    assert_eq!(described, known);
}

#[test]
fn every_table_has_a_place_in_the_plan_for_shards() {
    let folder = root().join("crates/store/migrations");
    let mut tables = HashSet::new();
    for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let created = text.split("CREATE TABLE ").skip(1);
        tables.extend(created.map(|rest| rest.split([' ', '(']).next().unwrap().to_owned()));
    }
    assert!(tables.len() > 50, "{}", tables.len());
    let plan = std::fs::read_to_string(root().join("docs/scaling.md")).unwrap();
    let named: HashSet<&str> = quoted(&plan).collect();
    let missing: Vec<_> = tables.iter().filter(|table| !named.contains(table.as_str())).collect();
    assert!(missing.is_empty(), "docs/scaling.md says nothing about {missing:?}");
}
