//! Migrations after schema 16 must suit the previous release, whose nodes keep running during an upgrade: they only add. The
//! rules are in docs/upgrades.md. This checks the text of every migration and fails on statements it does not know.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::released_schemas::{migrations, released_migrations, version};

/// The last schema that was released before the rules.
const FREE_UNTIL: i64 = 16;
/// A line that allows every statement of its file: the schema since which no released program uses what is removed.
const CONTRACT: &str = "-- contract: unused since schema ";
const CONCURRENTLY: &str = "CREATE INDEX CONCURRENTLY IF NOT EXISTS ";

/// The statements of a file, in upper case with single spaces, without comments. Quoted text is left out.
fn statements(sql: &str) -> Vec<String> {
    let (mut text, mut chars, mut is_quoted) = (String::new(), sql.chars().peekable(), false);
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                is_quoted = !is_quoted;
                text.push('\'');
            }
            _ if is_quoted => {}
            '-' if chars.peek() == Some(&'-') => {
                while chars.next().is_some_and(|c| c != '\n') {}
                text.push(' ');
            }
            '(' | ')' | ',' => text.extend([' ', c, ' ']),
            c => text.extend(c.to_uppercase()),
        }
    }
    let one_line = |statement: &str| statement.split_whitespace().collect::<Vec<_>>().join(" ");
    text.split(';').map(one_line).filter(|statement| !statement.is_empty()).collect()
}

/// The words after `start`, if the statement begins with it.
fn after<'a>(statement: &'a str, start: &str) -> Option<Vec<&'a str>> {
    statement.strip_prefix(start).map(|rest| rest.split(' ').collect())
}

/// The tables that a statement creates.
fn created(statement: &str) -> Option<&str> {
    let rest = statement.strip_prefix("CREATE TABLE ")?;
    rest.strip_prefix("IF NOT EXISTS ").unwrap_or(rest).split(' ').next()
}

/// Why an older program could not live with a statement.
fn problem(statement: &str, new_tables: &BTreeSet<&str>, guide: &str) -> Option<&'static str> {
    if has_strict_reference(statement, new_tables) {
        return Some(
            "the previous release cannot delete the rows referred to: add ON DELETE CASCADE or SET NULL",
        );
    }
    if created(statement).is_some() {
        return None;
    }
    if let Some(words) = after(statement, "ALTER TABLE ") {
        return altered(&words, new_tables);
    }
    for unique in [false, true] {
        let start = if unique { "CREATE UNIQUE INDEX " } else { "CREATE INDEX " };
        if let Some(words) = after(statement, start) {
            return indexed(&words, unique, new_tables, guide);
        }
    }
    match after(statement, "INSERT INTO ").and_then(|words| words.first().copied()) {
        Some(table) if new_tables.contains(table) => None,
        Some(_) => Some("rows of existing tables are written by the program, not by a migration"),
        None => Some(
            "only CREATE TABLE, CREATE INDEX, ALTER TABLE … ADD COLUMN and INSERT INTO a new table add something",
        ),
    }
}

fn has_strict_reference(statement: &str, new_tables: &BTreeSet<&str>) -> bool {
    let mut parts = statement.split(" REFERENCES ").skip(1);
    parts.any(|rest| {
        let (table, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        // The definition of this column ends at the first comma outside the list of columns referred to.
        let rest = rest.split_once(" )").map_or(rest, |(_, rest)| rest);
        let rest = rest.split(" ,").next().unwrap_or_default();
        let yields = rest.contains("ON DELETE CASCADE") || rest.contains("ON DELETE SET NULL");
        !new_tables.contains(table) && !yields
    })
}

fn altered(words: &[&str], new_tables: &BTreeSet<&str>) -> Option<&'static str> {
    let [table, "ADD", "COLUMN", _, rest @ ..] = words else {
        return Some("an existing table may only get columns");
    };
    if new_tables.contains(table) {
        return None;
    }
    if ["UNIQUE", "PRIMARY", "CHECK", "GENERATED", "CONSTRAINT", ","].iter().any(|word| rest.contains(word)) {
        return Some(
            "a constraint or a second change in the statement may refuse what the previous release writes",
        );
    }
    let default = rest.split(|word| *word == "DEFAULT").nth(1);
    match default {
        None if rest.contains(&"NOT") => {
            Some("the previous release inserts rows without the column: add a default")
        }
        // PostgreSQL rewrites the table under a lock if the default is not a constant.
        Some(value) if value.iter().any(|word| ["(", "CURRENT_TIMESTAMP", "NOW"].contains(word)) => {
            Some("the default must be a constant")
        }
        _ => None,
    }
}

fn indexed(words: &[&str], unique: bool, new_tables: &BTreeSet<&str>, guide: &str) -> Option<&'static str> {
    let (is_optional, words) = match words {
        ["IF", "NOT", "EXISTS", rest @ ..] => (true, rest),
        words => (false, words),
    };
    let [name, "ON", table, ..] = words else {
        return Some("this form of CREATE INDEX is not known to the check");
    };
    if new_tables.contains(table) {
        return None;
    }
    if unique {
        return Some("a unique index may refuse what the previous release writes");
    }
    // PostgreSQL blocks writes to the table while it builds the index, unless the operator has built it before.
    let is_described = guide.to_uppercase().contains(&format!("{}{name} ON", CONCURRENTLY.to_uppercase()));
    (!is_optional || !is_described).then_some(
        "an index on an existing table blocks writes: use IF NOT EXISTS, and tell operators in docs/upgrades.md to create it \
         concurrently before the upgrade",
    )
}

/// What is wrong with the files of one migration.
fn problems(files: &[&str], last_released: i64, guide: &str) -> Vec<String> {
    let statements: Vec<String> = files.iter().flat_map(|sql| statements(sql)).collect();
    let new_tables = statements.iter().filter_map(|statement| created(statement)).collect();
    let mut found: Vec<String> = Vec::new();
    let mut contracts = Vec::new();
    for line in files.iter().flat_map(|sql| sql.lines()) {
        if let Some(since) = line.trim().strip_prefix(CONTRACT) {
            contracts.push(since.trim_end_matches('.').parse::<i64>());
        }
    }
    // The previous release must already be one that does without it.
    let is_contract = contracts.iter().any(|since| since.as_ref().is_ok_and(|since| *since <= last_released));
    if !contracts.is_empty() && !is_contract {
        found.push(format!("`{CONTRACT}N` needs a released schema N"));
    }
    if !is_contract {
        found.extend(statements.iter().filter_map(|statement| {
            problem(statement, &new_tables, guide).map(|why| format!("{statement}\n  {why}"))
        }));
    }
    found
}

#[test]
fn migrations_after_schema_16_suit_the_previous_release() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/upgrades.md");
    let guide = fs::read_to_string(guide).unwrap();
    let last_released = released_migrations().iter().map(|(name, _)| version(name)).max().unwrap();
    let mut by_version: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    for entry in fs::read_dir(migrations()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "sql") {
            let number = version(path.file_name().unwrap().to_str().unwrap());
            by_version.entry(number).or_default().push(fs::read_to_string(path).unwrap());
        }
    }
    for (number, files) in by_version.iter().filter(|(number, _)| **number > FREE_UNTIL) {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        // A released migration keeps the judgement it was released with.
        let found = problems(&files, last_released.min(number - 1), &guide);
        assert!(found.is_empty(), "migration {number} (docs/upgrades.md):\n{}", found.join("\n"));
    }
}

#[test]
fn the_check_accepts_what_only_adds() {
    for sql in [
        "CREATE TABLE notes (id TEXT PRIMARY KEY, at BIGINT NOT NULL UNIQUE CHECK (at > 0)); -- DROP TABLE sites;\n\
         CREATE UNIQUE INDEX notes_by_at ON notes(at); CREATE INDEX notes_by_id ON notes(id);",
        "CREATE TABLE notes (site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE, n BIGINT NOT NULL);",
        "ALTER TABLE sites ADD COLUMN note TEXT; ALTER TABLE sites ADD COLUMN n BIGINT NOT NULL DEFAULT 0;",
        "ALTER TABLE sites ADD COLUMN note TEXT NOT NULL DEFAULT 'a; DROP TABLE sites';",
        "CREATE TABLE notes (id TEXT); INSERT INTO notes (id) VALUES ('a');",
        "CREATE INDEX IF NOT EXISTS sites_by_note ON sites(note);",
        "-- contract: unused since schema 16\nALTER TABLE sites DROP COLUMN note;",
    ] {
        let guide = "`CREATE INDEX CONCURRENTLY IF NOT EXISTS sites_by_note ON sites(note)`";
        let found = problems(&[sql], 16, guide);
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn the_check_refuses_what_the_previous_release_cannot_live_with() {
    for sql in [
        "DROP TABLE sites",
        "DROP INDEX sites_by_account",
        "ALTER TABLE sites DROP COLUMN note",
        "ALTER TABLE sites RENAME COLUMN note TO remark",
        "ALTER TABLE sites RENAME TO pages",
        "ALTER TABLE sites ALTER COLUMN note TYPE BIGINT",
        "ALTER TABLE sites ALTER COLUMN note SET NOT NULL",
        "ALTER TABLE sites ADD COLUMN note TEXT NOT NULL",
        "ALTER TABLE sites ADD COLUMN note TEXT UNIQUE",
        "ALTER TABLE sites ADD COLUMN n BIGINT CHECK (n > 0)",
        "ALTER TABLE sites ADD COLUMN n BIGINT, DROP COLUMN note",
        "ALTER TABLE sites ADD COLUMN at BIGINT NOT NULL DEFAULT (extract(epoch from now()))",
        "ALTER TABLE sites ADD CONSTRAINT positive CHECK (n > 0)",
        "ALTER TABLE notes ADD COLUMN a TEXT; ALTER TABLE sites ADD COLUMN owner TEXT REFERENCES accounts(id)",
        "CREATE TABLE notes (site_id TEXT NOT NULL REFERENCES sites(id), a TEXT REFERENCES b(id) ON DELETE CASCADE)",
        "CREATE UNIQUE INDEX sites_by_note ON sites(note)",
        "CREATE INDEX sites_by_note ON sites(note)",
        "CREATE INDEX IF NOT EXISTS sites_by_remark ON sites(remark)",
        "CREATE INDEX CONCURRENTLY sites_by_note ON sites(note)",
        "CREATE TRIGGER t BEFORE DELETE ON sites BEGIN SELECT 1; END",
        "UPDATE sites SET note = ''",
        "DELETE FROM sites",
        "INSERT INTO sites (id) VALUES ('a')",
        "-- contract: unused since schema 17\nDROP TABLE sites",
        "-- contract: unused since schema soon\nDROP TABLE sites",
        "-- contract: unused\nDROP TABLE sites",
        "LOCK TABLE sites",
    ] {
        let guide = "`CREATE INDEX CONCURRENTLY IF NOT EXISTS sites_by_note ON sites(note)`";
        assert!(!problems(&[sql], 16, guide).is_empty(), "{sql}");
    }
}
