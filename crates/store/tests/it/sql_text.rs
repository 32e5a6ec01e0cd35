//! SQLite numbers `$1…` by first appearance, PostgreSQL by their digits: every statement must be written so that both agree.

use std::path::{Path, PathBuf};

/// String literals of a Rust source, with line continuations joined. Good enough for this crate: no raw strings with SQL.
fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut chars = source.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '/' if chars.peek() == Some(&'/') => while chars.next().is_some_and(|c| c != '\n') {},
            '\'' => {
                // A quote or a backslash as a character literal would confuse the search for strings.
                let mut ahead = chars.clone();
                match (ahead.next(), ahead.next(), ahead.next()) {
                    (Some('\\'), Some(_), Some('\'')) => chars = ahead,
                    (Some('"'), Some('\''), _) => drop((chars.next(), chars.next())),
                    _ => {}
                }
            }
            '"' => {
                let mut text = String::new();
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => text.extend(chars.next().filter(|c| *c != '\n')),
                        c => text.push(c),
                    }
                }
                found.push(text);
            }
            _ => {}
        }
    }
    found
}

fn placeholders(sql: &str) -> Vec<u32> {
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
    sql.split('$').skip(1).filter_map(|rest| digits(rest).parse().ok()).collect()
}

fn in_order(sql: &str) -> bool {
    let mut highest = 0;
    placeholders(sql).into_iter().all(|n| {
        let fits = n > 0 && n <= highest + 1;
        highest = highest.max(n);
        fits
    })
}

/// Files whose statements are composed of parts with placeholders; a test beside them checks the whole statements.
const COMPOSED: [&str; 1] = ["feedback_search.rs"];

/// The source with the placeholder of the macro before the literal that continues its text.
fn with_macros(source: &str) -> String {
    let mut parts = source.split("with_given_ids!(),");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.trim_start().strip_prefix('"') {
        Some(literal) => format!("{text}\"$1 {literal}"),
        None => format!("{text}{part}"),
    })
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn placeholders_are_numbered_in_order_of_first_appearance() {
    let mut seen = 0;
    for path in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        if COMPOSED.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        for sql in literals(&with_macros(&std::fs::read_to_string(&path).unwrap())) {
            if !placeholders(&sql).is_empty() {
                seen += 1;
                assert!(in_order(&sql), "{}: {sql}", path.display());
            }
        }
    }
    assert!(seen > 10, "only {seen} statements were found");
}

#[test]
fn the_check_itself_sees_what_is_wrong() {
    assert!(in_order("a = $1 AND b = $2 OR a = $1 AND c = $3"));
    assert!(!in_order("a = $2 AND b = $1"));
    assert!(!in_order("a = $1 AND b = $3"));
    assert_eq!(literals(&with_macros("concat!(with_given_ids!(),\n \"a = $2\")")), ["$1 a = $2"]);
    assert_eq!(literals("f('\"', \"a \\\n b\", 'x') // \"no\"\n\"c\""), ["a  b", "c"]);
}
