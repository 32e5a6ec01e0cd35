//! Renders Markdown pages: stored as their source and as a complete HTML document that runs no code of the author. A document
//! that is too large to render is shown as plain text instead of being refused.

mod archive;
mod autolink;
mod code;
mod diagram;
mod direction;
mod document;
mod emoji;
mod escape;
mod filter;
mod footnotes;
mod front_matter;
mod generated;
mod headings;
mod labels;
mod languages;
mod lexer;
mod links;
mod losses;
mod math;
mod mathml;
mod render;
mod slug;
mod source_lines;

pub(crate) use archive::{ArchivePages, is_start_document};
pub(crate) use code::Highlighter;
pub(crate) use document::whole_page;
pub use document::{SCRIPT as MARKDOWN_SCRIPT, STYLE as MARKDOWN_STYLE};
pub(crate) use escape::{escaped, escaped_attribute};
pub use generated::{
    GENERATED_HEAD_BYTES, GeneratedPage, generated_candidates, generated_pages, is_generated_page,
};
pub(crate) use links::for_each_picture;
pub use source_lines::source_lines;

use std::io;

use diagram::Budget;
use escape::escaped_bytes;
use headings::Contents;
use losses::Loss;

use crate::Limits;
use crate::bundle::{Bundle, BundleKind, File};
use crate::file_name;
use crate::input::Input;
use crate::mime::{HTML, MARKDOWN};
use crate::pack::Packer;
use crate::paths::{INDEX, Paths};
use crate::references::report::ReferenceReport;
use crate::references::resolve::ReferenceUse;
use crate::refusal::{Refusal, RefusalCode};
use crate::text::check::TextCheck;
use crate::title;

const SOURCE: &str = "_dropleaf/source.md";
/// The name that warnings use for a document uploaded without one.
const UNNAMED: &str = "index.md";
/// The parser needs many times the size of its input, so larger documents are not rendered.
pub(crate) const MOST_RENDERED_BYTES: u64 = 1 << 20;

/// Renders Markdown as the inside of a page, for our own texts and for notebook cells: no document around it, no style. Raw
/// HTML is sanitized, and diagrams are shown as their source.
pub fn render_fragment(source: &str) -> String {
    let mut no_diagrams = Budget::NOTHING;
    render::render(source, Contents::None, &mut no_diagrams).body.unwrap_or_else(|| plain(source))
}

pub(crate) fn prepare(
    input: &mut Input,
    filename: Option<&str>,
    limits: &Limits,
    packer: &mut Packer<'_>,
) -> Result<Bundle, Refusal> {
    let mut text_check = TextCheck::new();
    input.for_each_chunk(|chunk| {
        text_check.update(chunk);
        Ok::<_, io::Error>(())
    })?;
    text_check.check()?;
    let convertible = text_check.is_utf16() && input.len() <= MOST_RENDERED_BYTES;
    if !text_check.is_utf8() && !convertible {
        return Err(Refusal::new(
            RefusalCode::NotText,
            "The Markdown file is not UTF-8. Save it as UTF-8 text.",
        ));
    }
    if input.len() > MOST_RENDERED_BYTES {
        return plain_from_input(input, title::from_filename(filename), limits, packer);
    }
    let source = read_text(input)?;
    let page = RenderedPage::new(&source, filename);
    let own_name = filename.and_then(file_name::clean);
    let paths = Paths::of_single(Some(own_name.as_deref().unwrap_or(UNNAMED)));
    let mut report = ReferenceReport::of_document(&paths);
    for_each_picture(&page.html, |url| report.add(INDEX, url, ReferenceUse::Load));
    let warnings = page.losses.iter().map(Loss::sentence).chain(report.warnings()).collect();
    let files = vec![
        packer.pack(INDEX, HTML, page.html.as_bytes())?,
        packer.pack(SOURCE, MARKDOWN, source.as_bytes())?,
    ];
    Ok(bundle(page.title, files, warnings))
}

/// A complete HTML document generated from Markdown.
#[derive(Debug)]
pub struct MarkdownPage {
    pub title: String,
    pub html: String,
    pub warnings: Vec<String>,
}

/// Renders a document as a page. Its title is the one the document states, else the file name.
pub fn markdown_page(source: &str, filename: Option<&str>) -> MarkdownPage {
    let RenderedPage { title, html, losses } = RenderedPage::new(source, filename);
    MarkdownPage { title, html, warnings: losses.iter().map(Loss::sentence).collect() }
}

/// The same, with what the document lost in rendering.
pub(crate) struct RenderedPage {
    pub(crate) title: String,
    pub(crate) html: String,
    pub(crate) losses: Vec<Loss>,
}

impl RenderedPage {
    fn new(source: &str, filename: Option<&str>) -> Self {
        Self::within(source, filename, &mut Budget::of_document())
    }

    /// With a budget for diagrams that several documents share.
    fn within(source: &str, filename: Option<&str>, budget: &mut Budget) -> Self {
        let rendered = if source.len() as u64 > MOST_RENDERED_BYTES {
            render::NOTHING
        } else {
            render::render(source, Contents::Listed, budget)
        };
        let title = rendered.title.unwrap_or_else(|| title::from_filename(filename));
        let mut losses = rendered.losses;
        let body = rendered.body.unwrap_or_else(|| {
            losses.push(Loss::Layout);
            plain(source)
        });
        let html = document::whole(&title, rendered.language.as_deref(), Some(rendered.direction), &body);
        Self { title, html, losses }
    }
}

fn bundle(title: String, files: Vec<File>, warnings: Vec<String>) -> Bundle {
    Bundle::assemble(BundleKind::Markdown, title, INDEX.to_owned(), files, warnings)
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

const PLAIN_OPENING: &str = "<pre class=\"plain\">";
const PLAIN_CLOSING: &str = "</pre>\n";

fn plain(source: &str) -> String {
    [PLAIN_OPENING, &escaped(source), PLAIN_CLOSING].concat()
}

/// The reference to a file beside the page, as the value of an attribute.
pub(crate) fn link_to(path: &str) -> String {
    links::relative("", path)
}

/// The same as [`plain`] in two passes over the input, the first of which only measures.
fn plain_from_input(
    input: &mut Input,
    title: String,
    limits: &Limits,
    packer: &mut Packer<'_>,
) -> Result<Bundle, Refusal> {
    let opening = [&document::opening(&title, None, None), PLAIN_OPENING].concat();
    let closing = [PLAIN_CLOSING, document::CLOSING].concat();
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
    Ok(bundle(title, files, vec![Loss::Layout.sentence()]))
}
