//! An operator's own lists, which extend or replace the built-in ones. Every line is validated first: a misspelt word
//! would otherwise be a rule that silently does nothing.

mod changes;
mod lines;

use std::fmt;

use crate::phishing::rules::{BUILTIN, Lists, Rules};
pub use changes::Change;
use lines::check;

/// An error in a list, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub file: &'static str,
    /// 1-based.
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

impl List {
    const fn built_in(self) -> &'static str {
        match self {
            Weights => BUILTIN.weights,
            Brands => BUILTIN.brands,
            Secrets => BUILTIN.secrets,
            Phrases => BUILTIN.phrases,
            Hosts => BUILTIN.hosts,
            Scripts => BUILTIN.scripts,
        }
    }
}

use List::{Brands, Hosts, Phrases, Scripts, Secrets, Weights};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnLists {
    texts: [Option<String>; 6],
    /// An operator's list replaces the built-in one instead of extending it.
    replaces: bool,
}

impl OwnLists {
    /// The file names of the lists, in the order of the lists.
    pub const FILES: [&str; 6] =
        ["weights.toml", "brands.txt", "secrets.txt", "phrases.txt", "hosts.txt", "scripts.txt"];
    const LISTS: [List; 6] = [Weights, Brands, Secrets, Phrases, Hosts, Scripts];

    pub fn new(replaces: bool) -> Self {
        Self { texts: Default::default(), replaces }
    }

    /// Adds the list of this file, if every line is valid. A name that is not in [`FILES`](Self::FILES) is ignored.
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
        let missing = |place: usize| if self.replaces { Self::LISTS[place].built_in() } else { "" };
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
                "hosts.txt, line 1: there is no kind of host named `bots`; did you mean [bot]?",
            ),
            ("hosts.txt", "x.example", "hosts.txt, line 1: this line is before the first [section]"),
            ("hosts.txt", "[collector]\nsend it", "hosts.txt, line 2: `send it` is not a file name"),
            ("hosts.txt", "# mine\n[blocked]\nhttps://x.example/", "hosts.txt, line 3: write"),
            (
                "hosts.txt",
                "[blocked]\na.example b.example",
                "hosts.txt, line 2: `a.example b.example` is not a host",
            ),
            (
                "weights.toml",
                "[pasword-field]\nweight = 1",
                "weights.toml, line 1: there is no rule named `pasword-field`",
            ),
            ("weights.toml", "[password_field]\nweight = 1", "did you mean [password-field]?"),
            ("weights.toml", "[demo]\nweight = heavy", "weights.toml, line 2: `weight` must be a number"),
            ("weights.toml", "[demo]\nweight = 1e9", "line 2: `weight` must be a number"),
            ("weights.toml", "[demo]\nwieght = 1", "line 2: a rule has no `wieght`"),
            ("weights.toml", "[threshold]\nrefuse_at = 0", "line 2: `refuse_at` must be a number"),
            ("weights.toml", "\n[threshold]\n", "line 2: [threshold] needs `refuse_at`"),
            ("weights.toml", "[demo]\ngroup = \"Z\"", "line 2: `group` must be a letter"),
            ("weights.toml", "[demo]\nwhy = no quotes", "line 2: `why` must be a quoted string"),
            ("brands.txt", "[mine]\nAcme acme", "brands.txt, line 2: write a brand as"),
            ("brands.txt", "[mine]\nAcme: a", "line 2: Acme has no spelling"),
            ("brands.txt", "[mine]\nAcme: acme @ acme;com", "line 2: `acme;com` is not a host"),
            ("secrets.txt", "[password]\nde: *", "secrets.txt, line 2: `*` is too short"),
            (
                "secrets.txt",
                "[passwords]\nde: x",
                "there is no kind of secret named `passwords`; did you mean [password]?",
            ),
            (
                "phrases.txt",
                "[presure]\nen: hurry",
                "phrases.txt, line 1: there is no kind of phrase named `presure`",
            ),
            ("phrases.txt", "[pressure\n", "phrases.txt, line 1: write a section as [name]"),
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
        let mut own = OwnLists::new(true);
        for (file, list) in OwnLists::FILES.iter().zip(OwnLists::LISTS) {
            assert_eq!(own.add(file, list.built_in().to_owned()), Ok(()));
        }
        assert!(!own.is_empty());
    }
}
