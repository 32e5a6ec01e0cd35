//! Reads the few front matter keys that a page uses: its title, language and text direction. Everything else in the block
//! belongs to other tools.

use super::direction::Direction;
use crate::title;

/// No language tag in use is longer (RFC 5646 §4.4.1).
const LANGUAGE_BYTES: usize = 35;

#[derive(Debug, Default, PartialEq)]
pub(super) struct FrontMatter {
    pub(super) title: Option<String>,
    /// `lang`, a BCP 47 tag. A language is never guessed from the text.
    pub(super) language: Option<String>,
    /// `dir`.
    pub(super) direction: Option<Direction>,
}

impl FrontMatter {
    pub(super) fn parse(text: &str) -> Self {
        let mut found = Self::default();
        for line in text.lines() {
            let Some((key, value)) = line.split_once(':') else { continue };
            let value = value.split(" #").next().unwrap_or_default().trim();
            let value = value.trim_matches(['"', '\'']);
            match key {
                "lang" | "language" if is_language(value) => found.language = Some(value.to_owned()),
                "title" => found.title = title::clean(value),
                "dir" => found.direction = Direction::parse(value),
                _ => {}
            }
        }
        found
    }
}

/// Whether the text has the form of a BCP 47 tag: `de`, `zh-Hant`, `pt-BR`.
fn is_language(text: &str) -> bool {
    let mut parts = text.split('-');
    let is_first =
        |part: &str| (2..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphabetic());
    let is_next =
        |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric());
    text.len() <= LANGUAGE_BYTES && parts.next().is_some_and(is_first) && parts.all(is_next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_language_and_direction_are_read_and_the_rest_is_not() {
        let text = "title: \"A: b\" # c\nlang: ar-EG # Egypt\ndir: \"rtl\"\n  lang: de\nlangs: fr\n";
        let expected = FrontMatter {
            title: Some("A: b".into()),
            language: Some("ar-EG".into()),
            direction: Some(Direction::Rtl),
        };
        assert_eq!(FrontMatter::parse(text), expected);
        assert_eq!(FrontMatter::parse("language: 'he'").language.as_deref(), Some("he"));
    }

    #[test]
    fn what_is_no_language_is_left_out() {
        for bad in [
            "",
            "x",
            "de\"onload=x",
            "de--x",
            "deutsch ist schön",
            "a b",
            "[de, fr]",
            "-de",
            &"de-".repeat(20),
        ] {
            assert_eq!(FrontMatter::parse(&format!("lang: {bad}")).language, None, "{bad}");
        }
        assert_eq!(FrontMatter::parse("dir: up").direction, None);
    }
}
