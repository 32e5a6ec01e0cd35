//! Tests of literal edits, also against an implementation that is slow and obvious.

use super::*;
use proptest::prelude::*;

const ROOM: usize = 1 << 20;

fn edit(find: &str, replace: &str) -> TextEdit {
    TextEdit { find: find.into(), replace: replace.into(), all: false, index: 0 }
}

fn all(find: &str, replace: &str) -> TextEdit {
    TextEdit { all: true, ..edit(find, replace) }
}

fn numbered(edits: Vec<TextEdit>) -> Vec<TextEdit> {
    edits.into_iter().enumerate().map(|(index, edit)| TextEdit { index, ..edit }).collect()
}

fn applied(text: &str, edits: Vec<TextEdit>) -> Result<String> {
    apply(text, &numbered(edits), ROOM)
}

fn refused(text: &str, edits: Vec<TextEdit>) -> Error {
    applied(text, edits).unwrap_err()
}

fn fact(error: &Error, name: &str) -> Option<Fact> {
    error.facts.iter().find(|(known, _)| *known == name).map(|(_, fact)| fact.clone())
}

#[test]
fn edits_apply_to_the_text_before_any_of_them() {
    let edits = vec![edit("one", "two"), edit("two", "three"), edit("three", "one")];
    assert_eq!(applied("one two three", edits).unwrap(), "two three one");
    assert_eq!(applied("a-b", vec![edit("b", "a"), edit("a", "b")]).unwrap(), "b-a");
    assert_eq!(applied("ab", vec![edit("a", ""), edit("b", "")]).unwrap(), "", "matches may touch");
}

#[test]
fn replacements_are_literal() {
    for odd in ["$&", "$1", "\\1", "$`", "$$", "${0}", "\\n"] {
        assert_eq!(applied("a.b", vec![edit(".", odd)]).unwrap(), format!("a{odd}b"));
        assert_eq!(applied(&format!("a{odd}b"), vec![edit(odd, ".")]).unwrap(), "a.b");
    }
    assert_eq!(refused("abc", vec![edit("a.c", "x")]).code, Code::EditNoMatch);
}

#[test]
fn a_text_that_occurs_twice_needs_more_text_or_all() {
    let text = "x\nword\ny\nword word\n";
    let error = refused(text, vec![edit("x", "z"), edit("word", "w")]);
    assert_eq!(error.code, Code::EditNotUnique);
    assert_eq!(fact(&error, "edit"), Some(Fact::Int(1)));
    assert_eq!(fact(&error, "matches"), Some(Fact::Int(3)));
    assert_eq!(fact(&error, "lines"), Some(Fact::Ints(vec![2, 4, 4])));
    assert!(error.detail.contains("on lines 2, 4, 4.") && error.detail.contains("`all`"), "{}", error.detail);
    assert_eq!(applied(text, vec![all("word", "w")]).unwrap(), "x\nw\ny\nw w\n");
    assert_eq!(refused("aaa", vec![edit("aa", "b")]).code, Code::EditNotUnique, "overlapping matches count");
    assert_eq!(applied("aaa", vec![all("aa", "b")]).unwrap(), "ba", "from the left");
    let many = "w ".repeat(50);
    let error = refused(&many, vec![edit("w", "v")]);
    assert_eq!(fact(&error, "matches"), Some(Fact::Int(50)));
    assert!(error.detail.contains("and others"), "{}", error.detail);
}

#[test]
fn a_text_that_does_not_occur_is_refused_with_the_nearest_line() {
    for edits in [vec![edit("<h2>Results</h2>", "x")], vec![all("<h2>Results</h2>", "x")]] {
        let error = refused("<h1>a</h1>\n<h2>Results </h2>\n", edits);
        assert_eq!(error.code, Code::EditNoMatch);
        assert_eq!(fact(&error, "matches"), Some(Fact::Int(0)));
        assert_eq!(fact(&error, "nearest_line"), Some(Fact::Int(2)));
    }
    let error = refused("a\r\nb\r\n", vec![edit("a\nb", "x")]);
    assert!(error.detail.contains("CR LF"), "{}", error.detail);
}

#[test]
fn edits_that_overlap_are_refused() {
    for edits in [
        vec![edit("abc", "x"), edit("cde", "y")],
        vec![edit("cde", "y"), edit("abc", "x")],
        vec![edit("abcde", "y"), edit("c", "x")],
        vec![all("c", "y"), edit("abc", "x")],
        vec![edit("abc", "y"), edit("abc", "x")],
        vec![all("d", "y"), all("e", "y"), all("de", "x")],
    ] {
        let error = refused("abcde", edits);
        assert_eq!(error.code, Code::EditOverlap);
        assert_eq!(fact(&error, "lines"), Some(Fact::Ints(vec![1])));
    }
}

#[test]
fn characters_are_never_split() {
    // The last byte of "é" (C3 A9) is the first byte of nothing, and "Ã©" is what its bytes look like in Latin-1.
    assert_eq!(refused("café", vec![edit("Ã", "x")]).code, Code::EditNoMatch);
    assert_eq!(applied("é€𝄞é", vec![edit("€", "é"), edit("𝄞", "")]).unwrap(), "ééé");
    assert_eq!(refused("e\u{301}", vec![edit("é", "x")]).code, Code::EditNoMatch, "no normalization either");
}

#[test]
fn limits_are_kept() {
    assert_eq!(refused("a", vec![edit("", "x")]).code, Code::InvalidField);
    assert_eq!(refused("a", vec![edit("a", "a")]).code, Code::InvalidField);
    assert_eq!(refused("a", vec![edit(&"a".repeat(MOST_FIND_BYTES + 1), "")]).code, Code::InvalidField);
    assert_eq!(apply("ab", &[edit("a", "xyz")], 3).unwrap_err().code, Code::TooLarge);
    assert_eq!(apply("ab", &[edit("a", "xyz")], 4).unwrap(), "xyzb");
    let many = "a".repeat(MOST_MATCHES + 1);
    assert_eq!(refused(&many, vec![all("a", "b")]).code, Code::TooLarge);
    assert_eq!(applied(&many[1..], vec![all("a", "b")]).unwrap().len(), MOST_MATCHES);
}

/// The same rules, tried at every position.
fn naive(text: &str, edits: &[TextEdit]) -> Result<String, Code> {
    let mut owner: Vec<Option<usize>> = vec![None; text.len()];
    let mut starts = vec![None; text.len()];
    for (number, edit) in edits.iter().enumerate() {
        let places: Vec<usize> =
            (0..text.len()).filter(|at| text.as_bytes()[*at..].starts_with(edit.find.as_bytes())).collect();
        if places.is_empty() {
            return Err(Code::EditNoMatch);
        }
        if !edit.all && places.len() > 1 {
            return Err(Code::EditNotUnique);
        }
        let mut free = 0;
        for at in places {
            if at >= free {
                starts[at] = starts[at].or(Some(number));
                free = at + edit.find.len();
            }
        }
    }
    // Overlaps are found only once every edit is known to match.
    for (number, edit) in edits.iter().enumerate() {
        let mut free = 0;
        for at in 0..text.len() {
            if at >= free && text.as_bytes()[at..].starts_with(edit.find.as_bytes()) {
                for place in &mut owner[at..at + edit.find.len()] {
                    if place.replace(number).is_some() {
                        return Err(Code::EditOverlap);
                    }
                }
                free = at + edit.find.len();
            }
        }
    }
    let (mut made, mut at) = (String::new(), 0);
    while at < text.len() {
        if let Some(number) = starts[at] {
            made.push_str(&edits[number].replace);
            at += edits[number].find.len();
        } else {
            let c = text[at..].chars().next().unwrap();
            made.push(c);
            at += c.len_utf8();
        }
    }
    Ok(made)
}

proptest! {
    #[test]
    fn the_result_is_that_of_the_obvious_implementation(
        text in "[abé€\n]{0,24}",
        edits in prop::collection::vec(("[abé€\n]{1,3}", "[abx$&é]{0,3}", any::<bool>()), 1..4),
    ) {
        let edits: Vec<TextEdit> = edits
            .into_iter()
            .filter(|(find, replace, _)| find != replace)
            .map(|(find, replace, all)| TextEdit { find, replace, all, index: 0 })
            .collect();
        let edits = numbered(edits);
        prop_assert_eq!(apply(&text, &edits, ROOM).map_err(|error| error.code), naive(&text, &edits));
    }

    #[test]
    fn any_text_and_any_edit_give_a_text_or_an_error(
        text in "\\PC{0,60}",
        find in "\\PC{0,4}",
        replace in "\\PC{0,4}",
        all in any::<bool>(),
    ) {
        if let Ok(made) = apply(&text, &[TextEdit { find: find.clone(), replace: replace.clone(), all, index: 0 }], ROOM) {
            prop_assert_eq!(made, text.replace(&find, &replace));
        }
    }
}

#[test]
fn a_hundred_edits_of_a_large_text_take_a_moment() {
    // Every edit begins like the text everywhere, which is the worst case for a search that starts again and again.
    let body = "a".repeat(1 << 20);
    let text = format!("{body}END");
    let edits: Vec<TextEdit> = (0..MOST_EDITS)
        .map(|index| TextEdit {
            find: format!("{}{index}", "a".repeat(4096)),
            replace: "x".into(),
            all: true,
            index,
        })
        .collect();
    for edit in &edits {
        assert_eq!(apply(&text, std::slice::from_ref(edit), usize::MAX).unwrap_err().code, Code::EditNoMatch);
    }
}
