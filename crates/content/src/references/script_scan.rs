//! Finds what a script refers to by string literals, what an import map refers to, and whether it changes the address bar. A text search, not a parser: only
//! complete literals count, and code inside longer strings (examples in documentation) is skipped where it can be recognized.

use std::ops::Range;

use memchr::{memchr_iter, memchr3_iter, memmem, memrchr};

use crate::text::search_windows::{BEHIND, SearchWindows};

/// Literals that are paths are short.
const MOST_BYTES: usize = 512;
/// Longer than the words searched for, which may straddle the border of two windows.
const WORD_BYTES: usize = 16;

/// How a script uses a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LiteralUse {
    /// `import "…"`, `import("…")`: relative to the script.
    Import,
    /// `fetch("…")`: relative to the page.
    Fetch,
    /// Any other literal that starts with `/`; it may be a prefix of a path.
    RootPath,
    /// A root path that is used only when the script does not run in a worker.
    RootPathOutsideWorker,
}

/// How a script changes the address bar.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HistoryCalls {
    pub(crate) pushes: bool,
    pub(crate) replaces: bool,
}

#[derive(Debug, Default)]
pub(crate) struct ScriptScan {
    windows: SearchWindows,
    history: HistoryCalls,
}

impl ScriptScan {
    pub(crate) fn write(&mut self, chunk: &[u8], mut found: impl FnMut(LiteralUse, &str)) {
        let Self { windows, history } = self;
        windows.push(chunk, |window, range| search(window, range, history, &mut found));
    }

    pub(crate) fn finish(&mut self, mut found: impl FnMut(LiteralUse, &str)) -> HistoryCalls {
        let Self { windows, history } = self;
        windows.finish(|window, range| search(window, range, history, &mut found));
        self.history
    }
}

const PUSH: &[u8] = b"pushState";
/// How far into a call its URL argument is searched for.
const CALL_BYTES: usize = 64;

/// Whether a call to `pushState` only changes the fragment, which works at any address: `pushState(null, null, "#part")`.
fn pushes_fragment(call: &[u8]) -> bool {
    let call = &call[..call.len().min(CALL_BYTES)];
    let mut arguments = call[PUSH.len()..].split(|byte| *byte == b',');
    let is_call = arguments.next().is_some_and(|first| first.trim_ascii_start().starts_with(b"("));
    let address = arguments.nth(1).unwrap_or_default().trim_ascii_start();
    is_call && matches!(address, [b'"' | b'\'' | b'`', b'#', ..])
}

fn search(
    window: &[u8],
    range: Range<usize>,
    history: &mut HistoryCalls,
    found: &mut impl FnMut(LiteralUse, &str),
) {
    let words = &window[range.start.saturating_sub(WORD_BYTES)..range.end];
    let pushes = |at: usize| !pushes_fragment(&window[range.start.saturating_sub(WORD_BYTES) + at..]);
    history.pushes = history.pushes || memmem::find_iter(words, PUSH).any(pushes);
    history.replaces = history.replaces || memmem::find(words, b"replaceState").is_some();
    let from = range.start;
    for at in memchr3_iter(b'"', b'\'', b'`', &window[range]).map(|at| at + from) {
        if !matches!(window.get(at + 1), Some(b'/' | b'.' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_')) {
            continue;
        }
        let use_of = use_before(window, at);
        if use_of.is_none() && window[at + 1] != b'/' {
            continue;
        }
        let Some(literal) = literal_at(window, at) else { continue };
        match use_of {
            Some(kind) if literal.whole => found(kind, literal.text),
            _ if literal.text.starts_with('/') && is_outside_worker(window, at) => {
                found(LiteralUse::RootPathOutsideWorker, literal.text);
            }
            _ if literal.text.starts_with('/') => found(LiteralUse::RootPath, literal.text),
            _ => {}
        }
    }
}

struct PathLiteral<'a> {
    text: &'a str,
    /// Whether the literal is complete: no `${…}` inside, no `+` after it.
    whole: bool,
}

/// The text between quotes, if it holds nothing that a path does not contain.
fn literal_at(window: &[u8], at: usize) -> Option<PathLiteral<'_>> {
    let quote = window[at];
    let rest = &window[at + 1..window.len().min(at + 1 + MOST_BYTES)];
    let end = rest
        .iter()
        .position(|byte| *byte == quote || *byte <= b' ' || matches!(byte, b'\\' | b'<' | b'$'))?;
    let text = std::str::from_utf8(&rest[..end]).ok()?;
    match rest[end] {
        byte if byte == quote => {
            let after = window[at + end + 2..].trim_ascii_start().first();
            Some(PathLiteral { text, whole: after != Some(&b'+') })
        }
        b'$' if quote == b'`' => Some(PathLiteral { text, whole: false }),
        _ => None,
    }
}

/// What the literal whose quote is at `at` is used for.
fn use_before(window: &[u8], at: usize) -> Option<LiteralUse> {
    let before = &window[at.saturating_sub(BEHIND)..at];
    let tight = before.trim_ascii_end();
    let (kind, word) = if let Some(call) = tight.strip_suffix(b"(") {
        let call = call.trim_ascii_end();
        [(LiteralUse::Fetch, &b"fetch"[..]), (LiteralUse::Import, b"import")]
            .into_iter()
            .find_map(|(kind, word)| Some((kind, call.strip_suffix(word)?)))?
    } else if let Some(rest) = tight.strip_suffix(b"import") {
        (LiteralUse::Import, rest)
    } else {
        (LiteralUse::Import, tight.strip_suffix(b"from")?)
    };
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
    let stands_alone = !word.last().is_some_and(is_name);
    // Only a line whose beginning is in view counts. Tools that write everything on one line write correct references.
    let line = match memrchr(b'\n', before) {
        Some(end) => &before[end + 1..],
        None if at <= BEHIND => before,
        None => return None,
    };
    (stands_alone && is_code(line.trim_ascii_start(), tight)).then_some(kind)
}

/// Whether the literal whose quote is at `at` is the else branch of a test for a worker, the only place where `importScripts`
/// is a function: `'function' === typeof importScripts ? '.' : '/search/'`.
fn is_outside_worker(window: &[u8], at: usize) -> bool {
    let before = window[at.saturating_sub(BEHIND)..at].trim_ascii_end();
    if !before.ends_with(b":") {
        return false;
    }
    let is_end = |byte: &u8| matches!(byte, b';' | b'{' | b'}' | b'\n');
    let statement = before.rsplit(is_end).next().unwrap_or_default();
    let mut branches = statement.split(|byte| *byte == b'?');
    let (Some(test), Some(branch), None) = (branches.next(), branches.next(), branches.next()) else {
        return false;
    };
    let has = |word: &[u8]| memmem::find(test, word).is_some();
    branch.ends_with(b":")
        && memchr_iter(b':', branch).count() == 1
        && has(b"typeof importScripts")
        && has(b"function")
        && has(b"==")
        && !has(b"!")
}

/// Whether a line looks like code: not a comment, and not a string that quotes other code.
fn is_code(line: &[u8], tight: &[u8]) -> bool {
    let comment = [&b"//"[..], b"*", b"/*", b"#"].iter().any(|mark| line.starts_with(mark));
    let declares = [&b"import"[..], b"export", b"}"].iter().any(|word| line.starts_with(word));
    let is_call = tight.ends_with(b"(");
    let quotes =
        memchr_iter(b'"', line).count() + memchr_iter(b'\'', line).count() + memchr_iter(b'`', line).count();
    !comment && (declares || (is_call && quotes.is_multiple_of(2)))
}

/// Import maps are short; anything beyond this is not read.
pub(crate) const IMPORT_MAP_BYTES: usize = 64 * 1024;

/// Every value of an import map, at any depth, that is the path of a file. URLs of other sites and folders are left out.
pub(crate) fn import_map_paths(map: &str) -> impl Iterator<Item = &str> {
    let is_path = |value: &&str| value.starts_with(['.', '/']) && !value.ends_with('/');
    import_map_values(map).filter(is_path)
}

/// The strings that follow a colon, except those with an escaped quote, which are not paths.
fn import_map_values(map: &str) -> impl Iterator<Item = &str> {
    let mut rest = map;
    std::iter::from_fn(move || {
        loop {
            let open = rest.find('"')?;
            let is_value = rest[..open].trim_end().ends_with(':');
            let text = &rest[open + 1..];
            let close = text.find('"')?;
            let escaped = text[..close].ends_with('\\');
            rest = &text[close + 1..];
            if is_value && !escaped {
                return Some(&text[..close]);
            }
        }
    })
}

#[cfg(test)]
#[path = "script_scan_tests.rs"]
mod tests;
