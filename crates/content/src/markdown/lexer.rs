//! Splits code into pieces for syntax highlighting, in one forward pass. Classes: `c` comment, `s` string, `n` number or
//! literal, `k` keyword, `f` function, `t` type or tag, `a` attribute or key, `v` variable, `i` inserted and `d` deleted line;
//! the empty class is plain text.

use memchr::memmem;

use super::languages::{Form, Grammar, Quote};

type Emit<'e> = &'e mut dyn FnMut(&'static str, &str);

pub(super) fn lex(code: &str, grammar: &Grammar, emit: Emit<'_>) {
    match grammar.form {
        Form::Code => Lexer { code, at: 0, grammar, emit }.run(),
        Form::Settings => settings(code, grammar, emit),
        Form::Markup => markup(code, emit),
        Form::Diff => diff(code, emit),
    }
}

const LITERALS: &str = "true false null nil None True False undefined NULL nullptr";

struct Lexer<'c, 'e> {
    code: &'c str,
    at: usize,
    grammar: &'c Grammar,
    emit: Emit<'e>,
}

impl Lexer<'_, '_> {
    fn run(mut self) {
        while self.at < self.code.len() {
            let rest = &self.code[self.at..];
            let (class, length) = self.piece(rest);
            (self.emit)(class, &rest[..length]);
            self.at += length;
        }
    }

    /// The next piece: its class and its length, never zero.
    fn piece(&self, rest: &str) -> (&'static str, usize) {
        let first = rest.chars().next().unwrap_or_default();
        if first.is_whitespace() {
            return ("", rest.len() - rest.trim_start().len());
        }
        if let Some(length) = self.comment(rest) {
            return ("c", length);
        }
        if let Some(length) = self.grammar.quotes.iter().find_map(|quote| string(rest, quote)) {
            let is_key = self.grammar.keys && rest[length..].starts_with(':');
            return (if is_key { "a" } else { "s" }, length);
        }
        if first.is_ascii_digit() {
            return ("n", number(rest));
        }
        if is_word(first) {
            return self.word(rest);
        }
        let word_after = word_len(&rest[first.len_utf8()..]);
        let before = self.code[..self.at].chars().next_back();
        match first {
            '@' if word_after > 0 && !self.grammar.flags => {
                (if self.grammar.keys { "k" } else { "a" }, 1 + word_after)
            }
            '$' if word_after > 0 => ("v", 1 + word_after),
            '#' if word_after > 0 && self.grammar.directives => ("k", 1 + word_after),
            '-' if self.grammar.flags && before.is_none_or(char::is_whitespace) => ("a", flag_len(rest)),
            _ => ("", first.len_utf8()),
        }
    }

    fn comment(&self, rest: &str) -> Option<usize> {
        for (open, close) in self.grammar.block_comments {
            if rest.starts_with(open) {
                return Some(find_end(rest, open.len(), close));
            }
        }
        let starts = self.grammar.line_comments.iter().any(|mark| {
            // A hash inside a word is not a comment in any language that has hash comments.
            let free =
                *mark != "#" || self.at == 0 || self.code.as_bytes()[self.at - 1].is_ascii_whitespace();
            free && rest.starts_with(mark)
        });
        starts.then(|| line_len(rest))
    }

    fn word(&self, rest: &str) -> (&'static str, usize) {
        let mut length = word_len(rest);
        if self.grammar.keys {
            length += rest[length..].find(|c: char| !is_word(c) && c != '-').unwrap_or(rest.len() - length);
        }
        let (word, after) = rest.split_at(length);
        let any_case = self.grammar.any_case;
        let is_one_of = |list: &str| {
            list.split(' ').any(|known| known == word || (any_case && known.eq_ignore_ascii_case(word)))
        };
        let class = if is_one_of(self.grammar.keywords) {
            "k"
        } else if is_one_of(LITERALS) {
            "n"
        } else if self.grammar.keys && after.starts_with(':') {
            "a"
        } else if after.starts_with('(') || after.starts_with("!(") || after.starts_with("![") {
            "f"
        } else if word.starts_with(char::is_uppercase) && word.contains(char::is_lowercase) {
            "t"
        } else {
            ""
        };
        (class, length)
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word_len(text: &str) -> usize {
    text.find(|c| !is_word(c)).unwrap_or(text.len())
}

fn line_len(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// The length up to and including `close`, or everything.
fn find_end(text: &str, from: usize, close: &str) -> usize {
    memmem::find(&text.as_bytes()[from..], close.as_bytes()).map_or(text.len(), |at| from + at + close.len())
}

/// The length of a number: digits with letters (0xff, 10px, 1e9) and a decimal point, but not the dots of a range.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut length = word_len(text);
    if bytes.get(length) == Some(&b'.') && bytes.get(length + 1).is_some_and(u8::is_ascii_digit) {
        length += 1 + word_len(&text[length + 1..]);
    }
    length
}

fn flag_len(text: &str) -> usize {
    text.find(|c: char| !is_word(c) && c != '-').unwrap_or(text.len())
}

fn string(text: &str, quote: &Quote) -> Option<usize> {
    let inside = text.strip_prefix(quote.mark)?;
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        // A character literal is short; anything longer is a lifetime or an apostrophe.
        if quote.one_letter && at > 10 {
            return None;
        }
        match c {
            '\\' if quote.escapes => escaped = true,
            '\n' if !quote.many_lines => return (!quote.one_letter).then_some(quote.mark.len() + at),
            _ if inside[at..].starts_with(quote.mark) => {
                let letters = inside[..at].chars().count();
                let fits = !quote.one_letter || letters == 1 || inside.starts_with('\\');
                return fits.then_some(quote.mark.len() * 2 + at);
            }
            _ => {}
        }
    }
    (!quote.one_letter).then_some(text.len())
}

/// `key = value` and `key: value` lines with sections and comments; values are highlighted as code.
fn settings(code: &str, grammar: &Grammar, emit: Emit<'_>) {
    for line in code.split_inclusive('\n') {
        let content = line.trim_start_matches([' ', '\t', '-']);
        let (indent, content) = line.split_at(line.len() - content.len());
        emit("", indent);
        let key = match content.find([':', '=', '"', '\'', '#']) {
            Some(end) if matches!(content.as_bytes()[end], b':' | b'=') => end,
            _ => 0,
        };
        if content.starts_with('[') && content.trim_end().ends_with(']') && key == 0 {
            emit("t", content);
            continue;
        }
        emit("a", &content[..key]);
        Lexer { code: &content[key..], at: 0, grammar, emit: &mut *emit }.run();
    }
}

fn markup(code: &str, emit: Emit<'_>) {
    let mut rest = code;
    while !rest.is_empty() {
        let length = if rest.starts_with("<!--") {
            let length = find_end(rest, 4, "-->");
            emit("c", &rest[..length]);
            length
        } else if rest.starts_with('<') {
            tag(rest, emit)
        } else if rest.starts_with('&') {
            let length = rest.find(|c: char| !is_word(c) && !matches!(c, '&' | '#')).unwrap_or(rest.len());
            emit("n", &rest[..length]);
            length
        } else {
            let length = rest.find(['<', '&']).unwrap_or(rest.len());
            emit("", &rest[..length]);
            length
        };
        rest = &rest[length..];
    }
}

/// One tag with its attributes; returns its length.
fn tag(text: &str, emit: Emit<'_>) -> usize {
    let name = 1 + text[1..].len() - text[1..].trim_start_matches(['/', '!', '?']).len();
    let mut at = name
        + text[name..]
            .find(|c: char| !is_word(c) && !matches!(c, '-' | ':' | '.'))
            .unwrap_or(text.len() - name);
    emit(if at > name { "t" } else { "" }, &text[..at]);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (class, length) = match c {
            '>' => {
                emit("t", ">");
                return at + 1;
            }
            '<' => break,
            '"' | '\'' => ("s", 1 + rest[1..].find(c).map_or(rest.len() - 1, |end| end + 1)),
            c if is_word(c) => {
                ("a", rest.find(|c: char| !is_word(c) && !matches!(c, '-' | ':' | '.')).unwrap_or(rest.len()))
            }
            c => ("", c.len_utf8()),
        };
        emit(class, &rest[..length]);
        at += length;
    }
    at
}

fn diff(code: &str, emit: Emit<'_>) {
    for line in code.split_inclusive('\n') {
        let is_header = ["+++", "---", "diff", "index"].iter().any(|start| line.starts_with(start));
        let class = match line.as_bytes() {
            _ if is_header => "c",
            [b'@', b'@', ..] => "t",
            [b'+', ..] => "i",
            [b'-', ..] => "d",
            _ => "",
        };
        emit(class, line);
    }
}
