//! Markdown pages: kept as their source and as a whole HTML document that runs no script.
//! What is too large to typeset is shown as plain text instead of being refused.

mod autolink;
mod code;
mod direction;
mod filter;
mod footnotes;
mod front_matter;
mod languages;
mod lexer;
mod places;
mod render;
mod slug;
mod table;
mod task;
mod url;

pub use places::source_lines;

use std::io;

use direction::Direction;

use crate::Limits;
use crate::bundle::{Bundle, File, Kind};
use crate::html::INDEX;
use crate::input::Input;
use crate::mime::{HTML, MARKDOWN};
use crate::pack::Packer;
use crate::refusal::{Refusal, RefusalCode};
use crate::text::TextWatch;
use crate::title;

const SOURCE: &str = "_dropleaf/source.md";
const STYLE: &str = include_str!("../../assets/markdown.css");
/// The parser needs many times the size of its input, so larger documents are not typeset.
const TYPESET_BYTES: u64 = 1 << 20;
const AS_PLAIN_TEXT: &str = "The document is too large to be typeset: it is shown as plain text. \
                             Send it in parts, or as HTML.";

/// The inside of a page made from Markdown that is our own: no document around it, no style. Raw HTML is shown as text.
pub fn typeset(source: &str) -> String {
    render::render(source).body.unwrap_or_else(|| plain(source))
}

pub(crate) fn prepare(
    input: &mut Input,
    filename: Option<&str>,
    limits: &Limits,
    packer: &mut Packer<'_>,
) -> Result<Bundle, Refusal> {
    let mut watch = TextWatch::new();
    input.for_each_chunk(|chunk| {
        watch.watch(chunk);
        Ok::<_, io::Error>(())
    })?;
    watch.check()?;
    let convertible = watch.is_utf16() && input.len() <= TYPESET_BYTES;
    if !watch.is_utf8() && !convertible {
        return Err(Refusal::new(
            RefusalCode::NotText,
            "The Markdown file is not UTF-8. Save it as UTF-8 text.",
        ));
    }
    let fallback = title::from_filename(filename);
    if input.len() > TYPESET_BYTES {
        return plain_from_input(input, fallback, limits, packer);
    }
    let source = read_text(input)?;
    let rendered = render::render(&source);
    let title = rendered.title.unwrap_or(fallback);
    let (language, direction) = (rendered.language.as_deref(), Some(rendered.direction));
    let mut warnings = rendered.warnings;
    let body = rendered.body.unwrap_or_else(|| {
        warnings.push(AS_PLAIN_TEXT.to_owned());
        plain(&source)
    });
    let page = [&opening(&title, language, direction), body.as_str(), CLOSING].concat();
    let files =
        vec![packer.pack(INDEX, HTML, page.as_bytes())?, packer.pack(SOURCE, MARKDOWN, source.as_bytes())?];
    Ok(bundle(title, files, warnings))
}

fn bundle(title: String, files: Vec<File>, warnings: Vec<String>) -> Bundle {
    Bundle::assemble(Kind::Markdown, title, INDEX.to_owned(), files, warnings)
}

fn read_text(input: &mut Input) -> io::Result<String> {
    let bytes = input.head(usize::try_from(input.len()).unwrap_or(usize::MAX))?;
    let units = |from: fn([u8; 2]) -> u16| {
        let units = bytes[2..].chunks_exact(2).map(move |pair| from([pair[0], pair[1]]));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    Ok(match bytes.as_slice() {
        [0xff, 0xfe, ..] => units(u16::from_le_bytes),
        [0xfe, 0xff, ..] => units(u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).into_owned(),
    })
}

fn opening(title: &str, language: Option<&str>, direction: Option<Direction>) -> String {
    let language = language.map(|tag| format!(" lang=\"{tag}\"")).unwrap_or_default();
    let direction = direction.map(|side| format!(" dir=\"{}\"", side.as_str())).unwrap_or_default();
    format!(
        "<!doctype html>\n<html{language}{direction}>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        escaped(title)
    )
}

const CLOSING: &str = "</main>\n</body>\n</html>\n";
const PLAIN_OPENING: &str = "<pre class=\"plain\">";
const PLAIN_CLOSING: &str = "</pre>\n";

fn plain(source: &str) -> String {
    [PLAIN_OPENING, &escaped(source), PLAIN_CLOSING].concat()
}

/// For text between tags; never for attributes.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + text.len() / 8);
    push_escaped(&mut safe, text);
    safe
}

/// For attributes in double quotes.
fn escaped_attribute(text: &str) -> String {
    escaped(text).replace('"', "&quot;")
}

fn push_escaped(safe: &mut String, text: &str) {
    for part in text.split_inclusive(['<', '>', '&']) {
        let (plain, mark) = split_mark(part.as_bytes());
        safe.push_str(&part[..plain.len()]);
        safe.push_str(mark);
    }
}

/// The same page in two passes over the input: the first one only measures.
fn plain_from_input(
    input: &mut Input,
    title: String,
    limits: &Limits,
    packer: &mut Packer<'_>,
) -> Result<Bundle, Refusal> {
    let opening = [&opening(&title, None, None), PLAIN_OPENING].concat();
    let closing = [PLAIN_CLOSING, CLOSING].concat();
    let mut size = (opening.len() + closing.len()) as u64;
    input.for_each_chunk(|chunk| {
        size += escaped_bytes(chunk, |_| Ok(()))?;
        Ok::<_, io::Error>(())
    })?;
    if size > limits.unpacked_bytes {
        return Err(Refusal::too_large(size, limits.unpacked_bytes));
    }
    let mut source = packer.begin(SOURCE, MARKDOWN, input.len())?;
    let mut page = packer.begin(INDEX, HTML, size)?;
    page.write(opening.as_bytes())?;
    input.for_each_chunk(|chunk| {
        escaped_bytes(chunk, |part| page.write(part))?;
        source.write(chunk)
    })?;
    page.write(closing.as_bytes())?;
    let files = vec![packer.finish(page)?, packer.finish(source)?];
    Ok(bundle(title, files, vec![AS_PLAIN_TEXT.to_owned()]))
}

/// Works on bytes, because a chunk may end inside a character. Returns the escaped length.
fn escaped_bytes(chunk: &[u8], mut write: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<u64> {
    let mut size = 0;
    for part in chunk.split_inclusive(|b| matches!(b, b'<' | b'>' | b'&')) {
        let (plain, mark) = split_mark(part);
        write(plain)?;
        write(mark.as_bytes())?;
        size += (plain.len() + mark.len()) as u64;
    }
    Ok(size)
}

/// Parts end where something must be escaped, or where the text ends.
fn split_mark(part: &[u8]) -> (&[u8], &'static str) {
    match part.split_last() {
        Some((b'<', plain)) => (plain, "&lt;"),
        Some((b'>', plain)) => (plain, "&gt;"),
        Some((b'&', plain)) => (plain, "&amp;"),
        _ => (part, ""),
    }
}
