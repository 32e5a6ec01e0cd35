//! Page search: stored text and search terms are folded in the same way, to lower case without accents, and every word must occur
//! somewhere, in any order.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// At most this many words of a search are used; of more, the longest, because they are the most specific.
pub const MOST_WORDS: usize = 8;

/// Folds text for comparison: compatibility forms are unified, letters are lower case without accents, white space is one space.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    // Lower case first: a capital may become a letter with an accent, as İ does.
    let letters = text.nfkd().flat_map(char::to_lowercase).nfkd();
    for c in letters.filter(|c| canonical_combining_class(*c) == 0) {
        match plain(c) {
            Some(letters) => folded.push_str(letters),
            None if c.is_whitespace() || c.is_control() => {
                if !folded.is_empty() && !folded.ends_with(' ') {
                    folded.push(' ');
                }
            }
            None => folded.push(c),
        }
    }
    folded.truncate(folded.trim_end().len());
    folded
}

/// Letters that Unicode does not decompose, as people without the right keyboard type them.
const fn plain(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'þ' => "th",
        'ħ' => "h",
        'ı' => "i",
        'ŧ' => "t",
        'ς' => "σ",
        // Zero-width characters and soft hyphens.
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => "",
        '\u{2010}' | '\u{2011}' => "-",
        '‘' | '’' => "'",
        '“' | '”' => "\"",
        _ => return None,
    })
}

/// The searchable text of a page.
pub fn page_text(title: &str, slug: Option<&str>) -> String {
    let title = fold(title);
    match slug {
        Some(slug) => format!("{title} {slug}"),
        None => title,
    }
}

/// The words of a search, folded and without duplicates.
pub fn words(search: &str) -> Vec<String> {
    let folded = fold(search);
    let mut words: Vec<String> = Vec::new();
    for word in folded.split(' ').filter(|word| !word.is_empty()) {
        if !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    }
    if words.len() > MOST_WORDS {
        words.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
        words.truncate(MOST_WORDS);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn case_accents_and_forms_do_not_matter() {
        for (text, folded) in [
            ("Ümlaut", "umlaut"),
            ("U\u{308}mlaut", "umlaut"),
            ("CRÈME  Brûlée\n", "creme brulee"),
            ("Łódź Straße Ærø", "lodz strasse aero"),
            ("İstanbul ISTANBUL ıstanbul", "istanbul istanbul istanbul"),
            ("ﬁnal ①② Ｆｕｌｌ", "final 12 full"),
            ("Ελλάδα ΟΔΟΣ οδός", "ελλαδα οδοσ οδοσ"),
            ("Ёлка", "елка"),
            ("Việt Nam", "viet nam"),
            ("50% May_June!", "50% may_june!"),
            ("co\u{ad}operate", "cooperate"),
        ] {
            assert_eq!(fold(text), folded, "{text}");
        }
    }

    #[test]
    fn words_are_few_and_different() {
        assert_eq!(words(" Report  ORCHARD report "), ["report", "orchard"]);
        assert!(words(" \t").is_empty());
        let many = words("a bb ccc dddd eeeee ffffff ggggggg hhhhhhhh iiiiiiiii");
        assert_eq!(many.len(), MOST_WORDS);
        assert!(!many.contains(&"a".to_owned()));
    }

    #[test]
    fn a_page_is_found_by_title_and_name() {
        assert_eq!(page_text("Été  à Paris", Some("paris-2026")), "ete a paris paris-2026");
        assert_eq!(page_text("Été", None), "ete");
    }

    proptest! {
        #[test]
        fn folding_twice_changes_nothing(text in "\\PC{0,40}") {
            let once = fold(&text);
            prop_assert_eq!(fold(&once), once);
        }

        #[test]
        fn every_word_of_a_title_finds_it(title in "\\PC{1,40}") {
            let text = page_text(&title, None);
            for word in words(&title) {
                prop_assert!(text.contains(&word), "{:?} in {:?}", word, text);
            }
        }
    }
}
