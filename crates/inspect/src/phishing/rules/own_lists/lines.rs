//! Validates the lines of an operator's list, and says what is wrong with an invalid one.

use super::List::{self, Brands, Hosts, Phrases, Scripts, Secrets, Weights};
use crate::phishing::rules::collector_names;
use crate::phishing::rules::hosts::HostKind;
use crate::phishing::rules::list_format::Section;
use crate::phishing::rules::meanings::{secret_of, topic_of};
use crate::phishing::rules::rule::Rule;
use crate::phishing::rules::script_patterns::mark_of_section;

/// Sections of phrases that are about the words around a name.
const AROUND: [&str; 6] = ["lead", "tail", "with", "beside", "sign-lead", "account-tail"];
const GROUPS: &str = "ABCDEFGH";
/// A larger weight is a typing error: a page is refused at about 3.
const HEAVIEST: f64 = 100.0;

/// Fails with the first invalid line and the reason.
pub(super) fn check(list: List, text: &str, alone: bool) -> Result<(), (usize, String)> {
    let mut section: Option<(usize, &str, Vec<&str>)> = None;
    for (number, line) in text.lines().enumerate().map(|(at, line)| (at + 1, line.trim())) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let at = |why: String| (number, why);
        if let Some(rest) = line.strip_prefix('[') {
            let name = rest.strip_suffix(']').ok_or_else(|| at("write a section as [name]".to_owned()))?;
            whole(list, section.take(), alone)?;
            known(list, name.trim()).map_err(at)?;
            section = Some((number, name.trim(), Vec::new()));
            continue;
        }
        match &mut section {
            None if list == Brands => brand(line).map_err(at)?,
            None => return Err(at("this line is before the first [section]".to_owned())),
            Some((_, name, keys)) => entry(list, name, line, keys).map_err(at)?,
        }
    }
    whole(list, section, alone)
}

/// Checks that a section has all required keys: a rule that no other list defines needs every key.
fn whole(list: List, section: Option<(usize, &str, Vec<&str>)>, alone: bool) -> Result<(), (usize, String)> {
    let Some((line, name, keys)) = section else { return Ok(()) };
    let needed: &[&str] = match (list, name) {
        (Weights, "threshold") => &["refuse_at"],
        (Weights, _) if alone => &["group", "weight", "why", "fix"],
        _ => &[],
    };
    match needed.iter().find(|key| !keys.contains(key)) {
        Some(key) => Err((line, format!("[{name}] needs `{key}`"))),
        None => Ok(()),
    }
}

fn known(list: List, name: &str) -> Result<(), String> {
    let (is_known, what) = match list {
        Brands => (true, ""),
        Weights => (name == "threshold" || Rule::parse(name).is_some(), "rule"),
        Secrets => (secret_of(name).is_some(), "kind of secret"),
        Phrases => (topic_of(name).is_some() || AROUND.contains(&name), "kind of phrase"),
        Hosts => {
            let is_known = HostKind::parse(name).is_some() || collector_names::SECTIONS.contains(&name);
            (is_known, "kind of host")
        }
        Scripts => (mark_of_section(name).is_some(), "kind of call"),
    };
    if is_known {
        return Ok(());
    }
    let near = sections_of(list).filter(|known| similar(known, name));
    let near = near.max_by_key(|known| known.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count());
    let hint = near.map(|near| format!("; did you mean [{near}]?")).unwrap_or_default();
    Err(format!("there is no {what} named `{name}`{hint}"))
}

/// The sections of the built-in list.
fn sections_of(list: List) -> impl Iterator<Item = &'static str> {
    list.built_in().lines().filter_map(|line| line.trim().strip_prefix('[')?.strip_suffix(']'))
}

/// Whether two names are equal up to case and separators, or one is a prefix of the other.
fn similar(known: &str, name: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let (known, name) = (plain(known), plain(name));
    known == name
        || (known.len() >= 3 && name.len() >= 3 && (known.starts_with(&name) || name.starts_with(&known)))
}

fn entry<'a>(list: List, section: &str, line: &'a str, keys: &mut Vec<&'a str>) -> Result<(), String> {
    match list {
        Weights => keys.push(weight(section, line)?),
        Brands => brand(line)?,
        Hosts if collector_names::SECTIONS.contains(&section) => file_name(line)?,
        Hosts => host(line)?,
        // Words such as "z" or "+" count only next to a name.
        Phrases if AROUND.contains(&section) => {}
        Secrets | Phrases => words(line)?,
        Scripts if line.len() < 3 => return Err(format!("`{line}` is too short")),
        Scripts => {}
    }
    Ok(())
}

/// `key = value`
fn weight<'a>(section: &str, line: &'a str) -> Result<&'a str, String> {
    let (key, value) = line.split_once('=').ok_or("write a setting as key = value")?;
    let (key, value) = (key.trim(), value.trim());
    let bare = value.trim_matches('"');
    let number = || bare.parse::<f64>().ok().filter(|number| number.abs() <= HEAVIEST);
    match (section, key) {
        ("threshold", "refuse_at") => match number() {
            Some(number) if number > 0.0 => Ok(key),
            _ => Err(format!("`refuse_at` must be a number above 0 and up to {HEAVIEST}, not {value}")),
        },
        ("threshold", _) => Err(format!("[threshold] has no `{key}`, only `refuse_at`")),
        (_, "weight") => match number() {
            Some(_) => Ok(key),
            None => Err(format!("`weight` must be a number between -{HEAVIEST} and {HEAVIEST}, not {value}")),
        },
        (_, "group") if bare.len() == 1 && GROUPS.contains(bare) => Ok(key),
        (_, "group") => Err(format!("`group` must be a letter from A to H, not {value}")),
        (_, "why" | "fix") if value.len() >= 2 && value.starts_with('"') && value.ends_with('"') => Ok(key),
        (_, "why" | "fix") => Err(format!("`{key}` must be a quoted string")),
        _ => Err(format!("a rule has no `{key}`, only group, weight, why and fix")),
    }
}

/// `Name: spelling, ~ordinary word, !wording @ host host`
fn brand(line: &str) -> Result<(), String> {
    let (names, hosts) = line.rsplit_once(" @ ").unwrap_or((line, ""));
    let (name, spellings) =
        names.split_once(':').ok_or("write a brand as `Name: spelling, spelling @ host host`")?;
    if name.trim().is_empty() {
        return Err("the brand has no name before the colon".to_owned());
    }
    let spelt = |word: &str| word.trim().trim_start_matches(['~', '!', '^']).chars().count() >= 2;
    if !spellings.split(',').any(spelt) {
        return Err(format!("{} has no spelling of two letters or more", name.trim()));
    }
    hosts.split_whitespace().try_for_each(host)
}

fn host(entry: &str) -> Result<(), String> {
    if entry.contains("://") {
        return Err(format!("write `{entry}` without the scheme and //"));
    }
    let name = entry.split('/').next().unwrap_or(entry);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '[' | ']' | ':');
    let fits = name.chars().all(plain) && !name.is_empty() && !name.starts_with('.') && !name.ends_with('.');
    if fits && !entry.contains(char::is_whitespace) {
        return Ok(());
    }
    Err(format!("`{entry}` is not a host such as example.com or example.com/path; write one per line"))
}

/// `send` or `send*`
fn file_name(entry: &str) -> Result<(), String> {
    let bare = entry.strip_suffix('*').unwrap_or(entry);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/');
    if bare.len() >= 2 && bare.chars().all(plain) {
        return Ok(());
    }
    Err(format!("`{entry}` is not a file name such as send or send*; write one per line, without its ending"))
}

/// `de: Kennwort, Passwort*`
fn words(line: &str) -> Result<(), String> {
    let section = Section { name: "", lines: vec![line] };
    let mut found = false;
    for word in section.words() {
        found = true;
        let bare = word.trim_matches('*');
        if bare.is_empty() || matches!(bare.as_bytes(), [one] if one.is_ascii_alphanumeric()) {
            return Err(format!("`{word}` is too short: it would match every page"));
        }
    }
    if found { Ok(()) } else { Err("this line contains no word".to_owned()) }
}
