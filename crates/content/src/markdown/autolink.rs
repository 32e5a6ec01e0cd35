//! Finds bare URLs in running text, as GitHub does: `see https://a.example/b.`

/// A piece of text, and whether it is a URL.
#[derive(Debug, PartialEq)]
pub(super) enum Piece<'t> {
    Text(&'t str),
    /// The URL as written; without a scheme it starts with `www.`.
    Address(&'t str),
}

const STARTS: [&str; 3] = ["https://", "http://", "www."];

pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut done = 0;
    let mut from = 0;
    while let Some((at, start)) = next_start(text, from) {
        let candidate = trimmed(&text[at..at + address_len(&text[at..])]);
        if is_address(candidate, start) {
            if done < at {
                pieces.push(Piece::Text(&text[done..at]));
            }
            pieces.push(Piece::Address(candidate));
            done = at + candidate.len();
        }
        from = at + candidate.len().max(1);
    }
    if done < text.len() {
        pieces.push(Piece::Text(&text[done..]));
    }
    pieces
}

/// The next position where a URL may start: after a space or an opening mark.
fn next_start(text: &str, from: usize) -> Option<(usize, &'static str)> {
    let bytes = text.as_bytes();
    memchr::memchr2_iter(b'h', b'w', &bytes[from..]).map(|at| at + from).find_map(|at| {
        let free = at == 0
            || matches!(bytes[at - 1], b' ' | b'\t' | b'\n' | b'(' | b'[' | b'*' | b'_' | b'~' | b'"');
        let start = STARTS.iter().find(|start| bytes[at..].starts_with(start.as_bytes()))?;
        free.then_some((at, *start))
    })
}

fn address_len(text: &str) -> usize {
    text.find(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '`'))
        .unwrap_or(text.len())
}

/// Without the punctuation of the surrounding sentence; a closing bracket stays if it was opened.
fn trimmed(address: &str) -> &str {
    let mut end = address.len();
    let mut unopened = address.matches(')').count().saturating_sub(address.matches('(').count());
    while let Some(last) = address[..end].chars().next_back() {
        match last {
            '.' | ',' | ':' | ';' | '!' | '?' | '\'' | '*' | '_' | '~' | ']' => end -= 1,
            ')' if unopened > 0 => {
                unopened -= 1;
                end -= 1;
            }
            _ => break,
        }
    }
    &address[..end]
}

fn is_address(address: &str, start: &str) -> bool {
    let Some(rest) = address.strip_prefix(start) else { return false };
    let host = rest.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let well_formed = !host.is_empty()
        && !host.starts_with(['.', '-'])
        && host.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-'));
    well_formed && (host.contains('.') || host == "localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(text: &str) -> Vec<&str> {
        let pieces = pieces(text);
        let all: String = pieces
            .iter()
            .map(|p| match p {
                Piece::Text(t) | Piece::Address(t) => *t,
            })
            .collect();
        assert_eq!(all, text, "no text is lost");
        pieces
            .into_iter()
            .filter_map(|p| match p {
                Piece::Address(a) => Some(a),
                Piece::Text(_) => None,
            })
            .collect()
    }

    #[test]
    fn addresses_end_before_the_sentence_does() {
        assert_eq!(addresses("see https://a.example/b_c?d=e."), ["https://a.example/b_c?d=e"]);
        assert_eq!(
            addresses("(http://a.example/x(y)), www.b.example!"),
            ["http://a.example/x(y)", "www.b.example"]
        );
        assert_eq!(addresses("http://localhost:8080/x"), ["http://localhost:8080/x"]);
    }

    #[test]
    fn other_text_is_left_alone() {
        for text in
            ["xhttps://a.b", "https://", "http:// x", "www.", "https://a", "what how", "", "https://<b>.c"]
        {
            assert_eq!(addresses(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn long_runs_of_near_misses_take_linear_time() {
        assert_eq!(addresses(&"https://".repeat(100_000)).len(), 0);
        assert_eq!(addresses(&"www.a)".repeat(100_000)).len(), 0);
        assert_eq!(addresses(&"http:// ".repeat(100_000)).len(), 0);
    }
}
