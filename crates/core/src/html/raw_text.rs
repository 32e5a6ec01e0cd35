//! Finds the end of an element's raw text: its own end tag, and for scripts the legacy rule that a script may contain
//! another one inside a comment.

use memchr::memchr_iter;

/// The length of the raw text at the start of `rest`.
pub(super) fn end(rest: &str, name: &str) -> usize {
    match name {
        "plaintext" => rest.len(),
        "script" => script_end(rest),
        _ => ends(rest, 0).find(|at| is_end_tag(&rest.as_bytes()[*at..], name)).unwrap_or(rest.len()),
    }
}

fn ends(rest: &str, from: usize) -> impl Iterator<Item = usize> {
    let bytes = rest.as_bytes();
    memchr_iter(b'<', &bytes[from..])
        .map(move |at| from + at)
        .filter(move |at| bytes.get(at + 1) == Some(&b'/'))
}

/// Whether `</name` starts here, followed by a character that may follow a tag name.
fn is_end_tag(at: &[u8], name: &str) -> bool {
    at.get(2..2 + name.len()).is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()))
        && ends_name(at.get(2 + name.len()))
}

fn ends_name(byte: Option<&u8>) -> bool {
    byte.is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>'))
}

/// `<!--` followed by `<script` hides the next `</script`; `-->` ends that ("script data double escaped" in the HTML standard).
fn script_end(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let first = ends(rest, 0).find(|at| is_end_tag(&bytes[*at..], "script"));
    let Some(first) = first else { return rest.len() };
    // The common case: nothing in the script looks like a comment.
    if !memchr_iter(b'<', &bytes[..first]).any(|at| bytes[at..].starts_with(b"<!--")) {
        return first;
    }
    let (mut commented, mut nested) = (false, false);
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'<', b'-', &bytes[at..]).map(|found| at + found) {
        let here = &bytes[found..];
        at = found + 1;
        if here.starts_with(b"<!--") {
            commented = true;
            // `<!-->` is a complete comment.
            at = found + 2;
        } else if here.starts_with(b"-->") {
            (commented, nested) = (false, false);
        } else if commented && !nested && opens_script(here) {
            nested = true;
        } else if is_end_tag(here, "script") && here.starts_with(b"</") {
            if !nested {
                return found;
            }
            nested = false;
        }
    }
    rest.len()
}

fn opens_script(here: &[u8]) -> bool {
    here.get(1..7).is_some_and(|word| word.eq_ignore_ascii_case(b"script")) && ends_name(here.get(7))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_text_ends_at_its_own_tag_only() {
        for (text, name, inside) in [
            ("a</b></style>", "style", "a</b>"),
            ("a</styles></STYLE >", "style", "a</styles>"),
            ("never closed", "title", "never closed"),
            ("a</title/x>", "title", "a"),
            ("x</plaintext>", "plaintext", "x</plaintext>"),
        ] {
            assert_eq!(&text[..end(text, name)], inside);
        }
    }

    #[test]
    fn a_script_in_a_comment_in_a_script_hides_one_end() {
        for (text, inside) in [
            ("if(a<b){}</script>", "if(a<b){}"),
            ("<!-- x</script>", "<!-- x"),
            ("<!--<script></script>--></script>", "<!--<script></script>-->"),
            ("<!--<script>--></script></script>", "<!--<script>-->"),
            ("<!--<scripty></script>", "<!--<scripty>"),
            ("<!--><script></script></script>", "<!--><script>"),
        ] {
            assert_eq!(&text[..end(text, "script")], inside, "{text}");
        }
    }
}
