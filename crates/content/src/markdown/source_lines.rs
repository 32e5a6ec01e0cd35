//! Finds the line of a Markdown source that a line of its page comes from, by the words they have in common. Rendering keeps
//! no source positions, and only refused pages need them.

use std::collections::{HashMap, HashSet};

/// How many words of one line are compared.
const MOST_WORDS: usize = 256;

/// For each of these lines of the page (counted from 1), the line of the source that shares the most text with it, if any
/// does.
pub fn source_lines(page: &str, source: &str, lines: &[usize]) -> Vec<Option<usize>> {
    let mut looked_for: HashMap<&str, Vec<usize>> = HashMap::new();
    for (which, line) in lines.iter().enumerate() {
        let text = line.checked_sub(1).and_then(|before| page.lines().nth(before)).unwrap_or_default();
        for word in words(text).take(MOST_WORDS) {
            let places = looked_for.entry(word).or_default();
            if places.last() != Some(&which) {
                places.push(which);
            }
        }
    }
    let mut best: Vec<(usize, Option<usize>)> = vec![(0, None); lines.len()];
    for (number, line) in (1..).zip(source.lines()) {
        let known: HashSet<&str> = words(line).filter(|word| looked_for.contains_key(word)).collect();
        let mut shared: HashMap<usize, usize> = HashMap::new();
        for word in known {
            for which in &looked_for[word] {
                *shared.entry(*which).or_default() += word.len();
            }
        }
        for (which, letters) in shared {
            if letters > best[which].0 {
                best[which] = (letters, Some(number));
            }
        }
    }
    best.into_iter().map(|(_, line)| line).collect()
}

/// The words of a line, without the names of its tags.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let is_inside = |c: char| c.is_alphanumeric();
    line.split(move |c: char| !is_inside(c)).filter(|word| word.chars().nth(1).is_some()).filter(
        move |word| {
            let at = word.as_ptr().addr() - line.as_ptr().addr();
            !line[..at].ends_with('<') && !line[..at].ends_with("</")
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_their_words() {
        let source = "# Parcel held\n\nYour parcel waits.\n\nPay the [fee](https://pay.example/fee) now.\n";
        let page = "<title>Parcel held</title>\n<h1>Parcel held</h1>\n<p>Your parcel waits.</p>\n\
                    <p>Pay the <a href=\"https://pay.example/fee\">fee</a> now.</p>\n</main>\n";
        assert_eq!(
            source_lines(page, source, &[1, 2, 3, 4, 5, 99, 0]),
            [Some(1), Some(1), Some(3), Some(5), None, None, None]
        );
    }

    #[test]
    fn names_of_tags_are_no_words() {
        assert_eq!(words("<title>On <b>titles</b></title>").collect::<Vec<_>>(), ["On", "titles"]);
    }
}
