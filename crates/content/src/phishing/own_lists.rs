//! An operator's own lists, checked line by line before they are used: a word that is misspelt in a list would
//! otherwise be a rule that silently does nothing. Extends the built-in lists or stands in for them.

use std::fmt;

use super::hosts::HostKind;
use super::kinds::{secret_of, topic_of};
use super::rule::Rule;
use super::rules::{BUILTIN, Lists, Rules};
use super::script_words::mark_of;

/// Sections of phrases that are about the words around a name.
const AROUND: [&str; 6] = ["lead", "tail", "with", "beside", "sign-lead", "account-tail"];
const GROUPS: &str = "ABCDEFGH";
/// A weight beyond this is a slip: a page is refused at about 3.
const HEAVIEST: f64 = 100.0;

/// What is wrong with a list, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub file: &'static str,
    /// From 1.
    pub line: usize,
    pub why: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}: {}", self.file, self.line, self.why)
    }
}

impl std::error::Error for Fault {}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Weights,
    Brands,
    Secrets,
    Phrases,
    Hosts,
    Scripts,
}

use List::{Brands, Hosts, Phrases, Scripts, Secrets, Weights};

#[derive(Debug, Clone, Default)]
pub struct OwnLists {
    texts: [Option<String>; 6],
    /// A list of one's own stands in for the built-in one instead of adding to it.
    replaces: bool,
}

impl OwnLists {
    /// The names that the files of the lists have, in the order of the lists.
    pub const FILES: [&str; 6] =
        ["weights.toml", "brands.txt", "secrets.txt", "phrases.txt", "hosts.txt", "scripts.txt"];
    const LISTS: [List; 6] = [Weights, Brands, Secrets, Phrases, Hosts, Scripts];

    pub fn new(replaces: bool) -> Self {
        Self { texts: Default::default(), replaces }
    }

    /// Takes in the list of this file, if every line of it means something. A name that is not in
    /// [`FILES`](Self::FILES) is passed over.
    pub fn add(&mut self, file: &str, text: String) -> Result<(), Fault> {
        let Some(place) = Self::FILES.iter().position(|known| *known == file) else { return Ok(()) };
        check(Self::LISTS[place], &text, self.replaces).map_err(|(line, why)| Fault {
            file: Self::FILES[place],
            line,
            why,
        })?;
        self.texts[place] = Some(text);
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.texts.iter().all(Option::is_none)
    }

    pub fn rules(&self) -> Rules {
        let built_in = [
            BUILTIN.weights,
            BUILTIN.brands,
            BUILTIN.secrets,
            BUILTIN.phrases,
            BUILTIN.hosts,
            BUILTIN.scripts,
        ];
        let missing = |place: usize| if self.replaces { built_in[place] } else { "" };
        let text = |place: usize| self.texts[place].as_deref().unwrap_or_else(|| missing(place));
        let lists = Lists {
            weights: text(0),
            brands: text(1),
            secrets: text(2),
            phrases: text(3),
            hosts: text(4),
            scripts: text(5),
        };
        if self.replaces { Rules::only(lists) } else { Rules::with(lists) }
    }
}

/// The first line that means nothing, and why.
fn check(list: List, text: &str, alone: bool) -> Result<(), (usize, String)> {
    let mut section: Option<(usize, &str, Vec<&str>)> = None;
    for (number, line) in text.lines().enumerate().map(|(at, line)| (at + 1, line.trim())) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let at = |why: String| (number, why);
        if let Some(rest) = line.strip_prefix('[') {
            let name = rest.strip_suffix(']').ok_or_else(|| at("a section is written [name]".to_owned()))?;
            whole(list, section.take(), alone)?;
            known(list, name.trim()).map_err(at)?;
            section = Some((number, name.trim(), Vec::new()));
            continue;
        }
        match &mut section {
            None if list == Brands => brand(line).map_err(at)?,
            None => return Err(at("this line stands before the first [section]".to_owned())),
            Some((_, name, keys)) => entry(list, name, line, keys).map_err(at)?,
        }
    }
    whole(list, section, alone)
}

/// A rule that no other list knows needs everything said.
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
        Hosts => (HostKind::parse(name).is_some(), "kind of host"),
        Scripts => (mark_of(name).is_some(), "kind of call"),
    };
    if is_known {
        return Ok(());
    }
    let near = sections_of(list).filter(|known| similar(known, name));
    let near = near.max_by_key(|known| known.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count());
    let hint = near.map(|near| format!("; did you mean [{near}]?")).unwrap_or_default();
    Err(format!("no {what} is called `{name}`{hint}"))
}

/// The sections of the built-in list.
fn sections_of(list: List) -> impl Iterator<Item = &'static str> {
    let text = match list {
        Weights => BUILTIN.weights,
        Brands => BUILTIN.brands,
        Secrets => BUILTIN.secrets,
        Phrases => BUILTIN.phrases,
        Hosts => BUILTIN.hosts,
        Scripts => BUILTIN.scripts,
    };
    text.lines().filter_map(|line| line.trim().strip_prefix('[')?.strip_suffix(']'))
}

/// Whether two names are alike but for their ends, a sign between words, or a letter too many.
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
        Hosts => host(line)?,
        // Words such as "z" or "+" count only beside a name.
        Phrases if AROUND.contains(&section) => {}
        Secrets | Phrases => words(line)?,
        Scripts if line.len() < 3 => return Err(format!("`{line}` is too short to mean anything")),
        Scripts => {}
    }
    Ok(())
}

/// `key = value`
fn weight<'a>(section: &str, line: &'a str) -> Result<&'a str, String> {
    let (key, value) = line.split_once('=').ok_or("a setting is written key = value")?;
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
        (_, "why" | "fix") => Err(format!("`{key}` must be a text in quotes")),
        _ => Err(format!("a rule has no `{key}`, only group, weight, why and fix")),
    }
}

/// `Name: spelling, ~ordinary word, !wording @ host host`
fn brand(line: &str) -> Result<(), String> {
    let (names, hosts) = line.rsplit_once(" @ ").unwrap_or((line, ""));
    let (name, spellings) =
        names.split_once(':').ok_or("a brand is written `Name: spelling, spelling @ host host`")?;
    if name.trim().is_empty() {
        return Err("the brand has no name before the colon".to_owned());
    }
    let spelt = |word: &str| word.trim().trim_start_matches(['~', '!']).chars().count() >= 2;
    if !spellings.split(',').any(spelt) {
        return Err(format!("{} has no spelling of two letters or more", name.trim()));
    }
    hosts.split_whitespace().try_for_each(host)
}

fn host(entry: &str) -> Result<(), String> {
    if entry.contains("://") {
        return Err(format!("write `{entry}` without what stands before and including //"));
    }
    let name = entry.split('/').next().unwrap_or(entry);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '[' | ']' | ':');
    let fits = name.chars().all(plain) && !name.is_empty() && !name.starts_with('.') && !name.ends_with('.');
    if fits && !entry.contains(char::is_whitespace) {
        return Ok(());
    }
    Err(format!("`{entry}` is no host such as example.com or example.com/path, one on a line"))
}

/// `de: Kennwort, Passwort*`
fn words(line: &str) -> Result<(), String> {
    let section = super::lists::Section { name: "", lines: vec![line] };
    let mut found = false;
    for word in section.words() {
        found = true;
        let bare = word.trim_matches('*');
        if bare.is_empty() || matches!(bare.as_bytes(), [one] if one.is_ascii_alphanumeric()) {
            return Err(format!("`{word}` is too short: it would be found on every page"));
        }
    }
    if found { Ok(()) } else { Err("there is no word in this line".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(file: &str, text: &str, replaces: bool) -> String {
        OwnLists::new(replaces)
            .add(file, text.to_owned())
            .map_or_else(|fault| fault.to_string(), |()| String::new())
    }

    #[test]
    fn a_fault_names_file_line_and_remedy() {
        for (file, text, said) in [
            (
                "hosts.txt",
                "[bots]\nx.example",
                "hosts.txt, line 1: no kind of host is called `bots`; did you mean [bot]?",
            ),
            ("hosts.txt", "x.example", "hosts.txt, line 1: this line stands before the first [section]"),
            ("hosts.txt", "# mine\n[blocked]\nhttps://x.example/", "hosts.txt, line 3: write"),
            (
                "hosts.txt",
                "[blocked]\na.example b.example",
                "hosts.txt, line 2: `a.example b.example` is no host",
            ),
            (
                "weights.toml",
                "[pasword-field]\nweight = 1",
                "weights.toml, line 1: no rule is called `pasword-field`",
            ),
            ("weights.toml", "[password_field]\nweight = 1", "did you mean [password-field]?"),
            ("weights.toml", "[demo]\nweight = heavy", "weights.toml, line 2: `weight` must be a number"),
            ("weights.toml", "[demo]\nweight = 1e9", "line 2: `weight` must be a number"),
            ("weights.toml", "[demo]\nwieght = 1", "line 2: a rule has no `wieght`"),
            (
                "weights.toml",
                "[threshold]\nrefuse_at = 0",
                "weights.toml, line 2: `refuse_at` must be a number",
            ),
            ("weights.toml", "[threshold]\n\nrefuse_at = -3", "line 3: `refuse_at` must be a number"),
            ("weights.toml", "[threshold]\nrefuse_at = nan", "line 2: `refuse_at` must be a number"),
            ("weights.toml", "\n[threshold]\n", "line 2: [threshold] needs `refuse_at`"),
            ("weights.toml", "[demo]\ngroup = \"Z\"", "line 2: `group` must be a letter"),
            ("weights.toml", "[demo]\nwhy = no quotes", "line 2: `why` must be a text in quotes"),
            ("brands.txt", "[mine]\nAcme acme", "brands.txt, line 2: a brand is written"),
            ("brands.txt", "[mine]\nAcme: a", "line 2: Acme has no spelling"),
            ("brands.txt", "[mine]\nAcme: acme @ acme;com", "line 2: `acme;com` is no host"),
            ("secrets.txt", "[password]\nde: *", "secrets.txt, line 2: `*` is too short"),
            (
                "secrets.txt",
                "[passwords]\nde: x",
                "no kind of secret is called `passwords`; did you mean [password]?",
            ),
            (
                "phrases.txt",
                "[presure]\nen: hurry",
                "phrases.txt, line 1: no kind of phrase is called `presure`",
            ),
            ("phrases.txt", "[pressure\n", "phrases.txt, line 1: a section is written [name]"),
            ("scripts.txt", "[send]\nx", "scripts.txt, line 2: `x` is too short"),
        ] {
            let fault = fault(file, text, false);
            assert!(fault.contains(said), "{text}: {fault}");
        }
    }

    #[test]
    fn a_list_that_stands_alone_says_everything() {
        let text = "[demo]\nweight = -2\n";
        assert_eq!(fault("weights.toml", text, false), "");
        assert_eq!(fault("weights.toml", text, true), "weights.toml, line 1: [demo] needs `group`");
    }

    #[test]
    fn the_built_in_lists_have_no_fault() {
        let lists = [
            BUILTIN.weights,
            BUILTIN.brands,
            BUILTIN.secrets,
            BUILTIN.phrases,
            BUILTIN.hosts,
            BUILTIN.scripts,
        ];
        let mut own = OwnLists::new(true);
        for (file, text) in OwnLists::FILES.iter().zip(lists) {
            assert_eq!(own.add(file, text.to_owned()), Ok(()));
        }
        assert!(!own.is_empty());
    }
}
