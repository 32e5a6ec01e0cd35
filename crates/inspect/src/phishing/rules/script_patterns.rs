//! Finds the notable parts of a script: calls that send, decode, copy or approve, and hosts that collect data.

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::list_format::sections;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum ScriptMark {
    /// A call whose next literal is a URL.
    Send,
    /// `open(method, address)`.
    Open,
    /// The start of a literal that is a URL.
    Address,
    /// A data-collecting host, by its index in the list.
    Host(u16),
    Unpack,
    CharCodes,
    Markup,
    SecretField,
    Clipboard,
    Shell,
    Approval,
    Kit,
    Lookup,
    Lock,
    Siren,
    /// A redirect; the next literal is its URL.
    Redirect,
    /// Creates a blob that can be saved.
    Blob,
    /// Saves a file; the next literal is its name.
    Download,
    /// Turns a list of numbers into bytes.
    Bytes,
}

/// Stands for a trailing space in the lists, where a real one would be invisible.
const SPACE: &str = "\\s";

#[derive(Debug)]
pub(crate) struct ScriptPatterns {
    automaton: Option<AhoCorasick>,
    marks: Vec<ScriptMark>,
    hosts: Vec<String>,
}

impl ScriptPatterns {
    pub(crate) fn new<'a>(lists: impl Iterator<Item = &'a str>, hosts: &[String]) -> Self {
        let mut patterns: Vec<String> = Vec::new();
        let mut marks = Vec::new();
        for section in lists.flat_map(sections) {
            let Some(mark) = mark_of_section(section.name) else { continue };
            marks.extend(section.lines.iter().map(|_| mark));
            patterns.extend(section.lines.iter().map(|line| line.replace(SPACE, " ")));
        }
        for (number, host) in hosts.iter().enumerate() {
            if let Ok(number) = u16::try_from(number) {
                patterns.push(host.clone());
                marks.push(ScriptMark::Host(number));
            }
        }
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&patterns)
            .ok();
        Self { automaton, marks, hosts: hosts.to_vec() }
    }

    pub(crate) fn find<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (ScriptMark, usize, usize)> + 'a {
        let found = self.automaton.iter().flat_map(move |automaton| automaton.find_iter(text));
        found.filter_map(|found| {
            let mark = self.marks[found.pattern().as_usize()];
            // A host name inside a longer name is another host.
            let before = found.start().checked_sub(1).map(|at| text.as_bytes()[at]);
            let inside = before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            let goes_on =
                text.as_bytes().get(found.end()).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'-');
            let is_host = matches!(mark, ScriptMark::Host(_));
            (!is_host || !(inside || goes_on)).then_some((mark, found.start(), found.end()))
        })
    }

    pub(crate) fn host(&self, number: u16) -> &str {
        self.hosts.get(usize::from(number)).map_or("", String::as_str)
    }
}

pub(crate) fn mark_of_section(section: &str) -> Option<ScriptMark> {
    Some(match section {
        "send" => ScriptMark::Send,
        "open" => ScriptMark::Open,
        "address" => ScriptMark::Address,
        "unpack" => ScriptMark::Unpack,
        "char-codes" => ScriptMark::CharCodes,
        "markup" => ScriptMark::Markup,
        "secret-field" => ScriptMark::SecretField,
        "clipboard" => ScriptMark::Clipboard,
        "shell" => ScriptMark::Shell,
        "approval" => ScriptMark::Approval,
        "kit" => ScriptMark::Kit,
        "lookup" => ScriptMark::Lookup,
        "lock" => ScriptMark::Lock,
        "siren" => ScriptMark::Siren,
        "redirect" => ScriptMark::Redirect,
        "blob" => ScriptMark::Blob,
        "download" => ScriptMark::Download,
        "bytes" => ScriptMark::Bytes,
        _ => return None,
    })
}
