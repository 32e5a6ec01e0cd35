//! Literal edits of one text: which matches of `find` are replaced, and the result. All edits apply to the text as it was
//! before any of them, and either all apply or none. Where the text comes from and what becomes of it is left to the caller.

use crate::error::Fact;
use crate::text_match::{Nearest, count_lines, find_all, nearest_line};
use crate::{Code, Error, Result};
use memchr::memmem;

/// The number of edits in one request.
pub const MOST_EDITS: usize = 100;
/// The length of the text to find, in bytes.
pub const MOST_FIND_BYTES: usize = 64 * 1024;
/// The number of replacements that the edits of one text make, which bounds the memory for their positions.
pub const MOST_MATCHES: usize = 100_000;
/// How many line numbers an error lists.
const LISTED_LINES: usize = 10;

/// Replaces the only match of a text, or all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// Literal text. Not a pattern.
    pub find: String,
    /// Literal text: `$&` and the like have no meaning.
    pub replace: String,
    /// Replaces every match instead of requiring exactly one.
    pub all: bool,
    /// The position in the request, for errors.
    pub index: usize,
}

/// The place of one replacement, in bytes of the original text.
#[derive(Debug, Clone, Copy)]
struct Match<'a> {
    start: usize,
    end: usize,
    edit: &'a TextEdit,
}

impl TextEdit {
    /// Checks what can be known without the text.
    pub fn check(&self) -> Result<()> {
        let field = |name: &str| format!("edits[{}].{name}", self.index);
        if self.find.is_empty() {
            return Err(Error::field(&field("find"), "is empty: send the text to replace"));
        }
        if self.find.len() > MOST_FIND_BYTES {
            let why = format!("is {} bytes long; the limit is {MOST_FIND_BYTES}", self.find.len());
            return Err(Error::field(&field("find"), why));
        }
        if self.find == self.replace {
            return Err(Error::field(
                &field("replace"),
                "is the same as `find`, so the edit changes nothing",
            ));
        }
        Ok(())
    }

    fn error(&self, code: Code, detail: String) -> Error {
        let index = i64::try_from(self.index).unwrap_or(i64::MAX);
        Error::new(code, detail).with_fact("edit", Fact::Int(index))
    }
}

/// Applies all edits to a text. `most_bytes` limits the result. Takes time proportional to the length of the text for each
/// edit, whatever the texts are.
pub fn apply(text: &str, edits: &[TextEdit], most_bytes: usize) -> Result<String> {
    let mut matches = Vec::new();
    for edit in edits {
        edit.check()?;
        add_matches(text, edit, &mut matches)?;
    }
    matches.sort_unstable_by_key(|found| (found.start, found.edit.index));
    for pair in matches.windows(2) {
        if let [first, second] = pair
            && second.start < first.end
        {
            return Err(overlap(text, first, second));
        }
    }
    let removed: usize = matches.iter().map(|found| found.end - found.start).sum();
    let added = matches.iter().fold(0_usize, |sum, found| sum.saturating_add(found.edit.replace.len()));
    let size = (text.len() - removed).saturating_add(added);
    if size > most_bytes {
        let detail = format!("The edited text would be {size} bytes long; the limit is {most_bytes}.");
        return Err(Error::new(Code::TooLarge, detail));
    }
    let mut result = String::with_capacity(size);
    let mut done = 0;
    for found in matches {
        result.push_str(&text[done..found.start]);
        result.push_str(&found.edit.replace);
        done = found.end;
    }
    result.push_str(&text[done..]);
    Ok(result)
}

fn add_matches<'a>(text: &str, edit: &'a TextEdit, matches: &mut Vec<Match<'a>>) -> Result<()> {
    let finder = memmem::Finder::new(edit.find.as_bytes());
    // Both texts are UTF-8, so a match begins and ends between characters.
    let mut found = finder.find_iter(text.as_bytes()).map(|start| {
        let end = start + edit.find.len();
        Match { start, end, edit }
    });
    if edit.all {
        let before = matches.len();
        let room = MOST_MATCHES.saturating_sub(before);
        matches.extend(found.by_ref().take(room));
        if found.next().is_some() {
            let detail = format!(
                "The edits would replace more than {MOST_MATCHES} matches. Upload the content instead."
            );
            return Err(edit.error(Code::TooLarge, detail));
        }
        return if matches.len() == before { Err(no_match(text, edit)) } else { Ok(()) };
    }
    let Some(first) = found.next() else { return Err(no_match(text, edit)) };
    // A second match may overlap the first one: which of them is meant would be a guess as well.
    if finder.find(&text.as_bytes()[first.start + 1..]).is_some() {
        return Err(not_unique(text, edit));
    }
    matches.push(first);
    Ok(())
}

fn no_match(text: &str, edit: &TextEdit) -> Error {
    let index = edit.index;
    let nearest = nearest_line(text, &edit.find);
    let hint = match nearest {
        Some(Nearest::LineEnds(line)) => format!(
            "It would match at line {line} if its line ends were the same: the file ends lines with CR LF (\\r\\n) where \
             `find` has LF, or the reverse. Send a part without line ends."
        ),
        Some(Nearest::Line(line)) => format!(
            "Line {line} is similar. Read the current source and copy the text exactly, with its spaces and line ends."
        ),
        None => "Read the current source and copy the text exactly. Escapes such as &amp; are not decoded, and for a page made \
                 from Markdown or data the uploaded file is edited."
            .to_owned(),
    };
    let detail = format!("edits[{index}]: the text to find does not occur. {hint}");
    let error = edit.error(Code::EditNoMatch, detail).with_fact("matches", Fact::Int(0));
    match nearest {
        Some(Nearest::LineEnds(line) | Nearest::Line(line)) => {
            error.with_fact("nearest_line", Fact::Int(to_i64(line)))
        }
        None => error,
    }
}

fn not_unique(text: &str, edit: &TextEdit) -> Error {
    let (count, starts) = find_all(text, &edit.find, LISTED_LINES);
    let lines = line_numbers(text, &starts);
    let listed: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let more = if count > lines.len() { " and others" } else { "" };
    let detail = format!(
        "edits[{}]: the text to find occurs {count} times, on lines {}{more}. Include more of the surrounding text in `find` so \
         that it occurs once, or set `all` to true to replace every match.",
        edit.index,
        listed.join(", ")
    );
    edit.error(Code::EditNotUnique, detail)
        .with_fact("matches", Fact::Int(to_i64(count)))
        .with_fact("lines", Fact::Ints(lines.into_iter().map(to_i64).collect()))
}

fn overlap(text: &str, first: &Match<'_>, second: &Match<'_>) -> Error {
    let line = line_numbers(text, &[second.start]).first().copied().unwrap_or(1);
    let (a, b) = (first.edit.index.min(second.edit.index), first.edit.index.max(second.edit.index));
    let detail = format!(
        "edits[{a}] and edits[{b}] both match the same text on line {line}. Combine them into one edit, or shorten what they \
         find. Every edit is applied to the text as it was before the request."
    );
    let error = if first.edit.index == b { first.edit } else { second.edit }.error(Code::EditOverlap, detail);
    error.with_fact("other_edit", Fact::Int(to_i64(a))).with_fact("lines", Fact::Ints(vec![to_i64(line)]))
}

/// The line numbers, from 1, of ascending positions.
fn line_numbers(text: &str, positions: &[usize]) -> Vec<usize> {
    let (mut line, mut from) = (1, 0);
    let number = |at: &usize| {
        line += count_lines(&text.as_bytes()[from..*at]);
        from = *at;
        line
    };
    positions.iter().map(number).collect()
}

fn to_i64(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[path = "text_edit_tests.rs"]
mod tests;
