//! Draws the Mermaid diagrams of a Markdown page when the page is generated, so that the page needs no script for them. A
//! diagram that cannot be drawn is shown as its source, and a warning says why.

mod draw;
mod source;
mod svg;
#[cfg(test)]
mod tests;
mod values;
mod words;

use std::fmt;

use pulldown_cmark::{CodeBlockKind, Event, Tag};

use super::code::{language_of, mentions_language};
use super::escape::{escaped, escaped_attribute};
use super::losses::Loss;

/// The diagrams of one document, and the work and bytes they may take in total.
const DOCUMENT: Budget = Budget { diagrams: 40, work: draw::MOST_WORK, bytes: 2 << 20 };
/// The same for all documents of an archive.
const ARCHIVE: Budget = Budget { diagrams: 200, work: 2000, bytes: 8 << 20 };
const LANGUAGE: &str = "mermaid";
/// How many diagrams get a warning each; the rest are counted.
const MOST_WARNINGS: usize = 5;
/// A wider drawing is not shrunk to fit a phone, where its text would be too small to read; it scrolls.
const WIDE: f32 = 560.0;
/// A wider drawing is not shrunk to fit any page.
const HUGE: f32 = 1120.0;

/// How much may still be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    diagrams: usize,
    work: usize,
    bytes: usize,
}

impl Budget {
    /// Shows every diagram as its source.
    pub(crate) const NOTHING: Self = Self { diagrams: 0, work: 0, bytes: 0 };

    pub(crate) fn of_document() -> Self {
        DOCUMENT
    }

    pub(crate) fn of_archive() -> Self {
        ARCHIVE
    }

    /// How many bytes diagrams may add to the page of a document.
    pub(super) fn bytes_for(self, source: &str) -> usize {
        if are_in(source) { self.for_document().bytes } else { 0 }
    }

    /// What one document may use of this budget.
    fn for_document(self) -> Self {
        Self {
            diagrams: self.diagrams.min(DOCUMENT.diagrams),
            work: self.work.min(DOCUMENT.work),
            bytes: self.bytes.min(DOCUMENT.bytes),
        }
    }
}

/// Why a diagram is shown as its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotDrawn {
    TooLong,
    TooMuch,
    TooMany,
    OtherKind,
    /// With the line of the source, if known.
    Unread(Option<usize>),
    /// Words of the source would be missing from the drawing.
    Incomplete,
    Failed,
}

impl fmt::Display for NotDrawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "the diagram or one of its lines is too long"),
            Self::TooMuch => write!(
                f,
                "it is too large: more than {} parts, or as a flowchart more than about {} edges",
                draw::MOST_PARTS,
                draw::MOST_EDGES
            ),
            Self::TooMany => f.write_str("the upload has too many diagrams"),
            Self::OtherKind => f.write_str("this diagram type is not supported"),
            Self::Unread(_) => f.write_str("it could not be parsed"),
            Self::Incomplete => f.write_str("it uses an unsupported feature"),
            Self::Failed => f.write_str("it could not be rendered"),
        }
    }
}

/// Finds the lines on which the fences of a document's diagrams begin. The filter sees the parser's events without their
/// offsets, so the line is written into the fence's info string, after the language.
pub(super) struct FenceLines {
    /// The offset of each line end.
    ends: Vec<usize>,
}

impl FenceLines {
    pub(super) fn of(source: &str) -> Self {
        Self { ends: memchr::memchr_iter(b'\n', source.as_bytes()).collect() }
    }

    pub(super) fn mark<'a>(&self, event: Event<'a>, at: usize) -> Event<'a> {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) if is_diagram(&info) => {
                let line = 1 + self.ends.partition_point(|end| *end < at);
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(format!("{LANGUAGE} {line}").into())))
            }
            other => other,
        }
    }
}

/// The line of a code block, if it is a diagram.
pub(super) fn line_in(kind: &CodeBlockKind<'_>) -> Option<usize> {
    match kind {
        CodeBlockKind::Fenced(info) if is_diagram(info) => {
            Some(info.split(' ').nth(1).and_then(|line| line.parse().ok()).unwrap_or_default())
        }
        _ => None,
    }
}

/// Whether a source may contain diagrams.
pub(super) fn are_in(source: &str) -> bool {
    mentions_language(source, LANGUAGE)
}

fn is_diagram(info: &str) -> bool {
    language_of(info).eq_ignore_ascii_case(LANGUAGE)
}

/// Draws the diagrams of one document.
pub(super) struct Diagrams {
    start: Budget,
    left: Budget,
    count: usize,
    losses: Vec<Loss>,
    more_losses: usize,
}

impl Diagrams {
    pub(super) fn new(budget: Budget) -> Self {
        let start = budget.for_document();
        Self { start, left: start, count: 0, losses: Vec::new(), more_losses: 0 }
    }

    /// A diagram as HTML, followed by its source, which is already HTML. `line` is the line of the document on which its fence
    /// begins.
    pub(super) fn html(&mut self, code: &str, line: usize, source: &str) -> String {
        if self.start == Budget::NOTHING {
            return source.to_owned();
        }
        self.drawn(code, source).unwrap_or_else(|cause| {
            self.warn(line, cause);
            source.to_owned()
        })
    }

    fn drawn(&mut self, code: &str, source: &str) -> Result<String, NotDrawn> {
        if self.left.diagrams == 0 {
            return Err(NotDrawn::TooMany);
        }
        // Diagrams that cannot be drawn take time too.
        self.left.diagrams -= 1;
        let prepared = source::prepare(code)?;
        let diagram = draw::read(&prepared.code)?;
        self.left.work = self.left.work.checked_sub(diagram.work).ok_or(NotDrawn::TooMany)?;
        self.count += 1;
        let drawing = diagram.draw(&prepared.code, &format!("diagram-{}-", self.count))?;
        self.left.bytes = self.left.bytes.checked_sub(drawing.content.len()).ok_or(NotDrawn::TooMany)?;
        Ok(figure(diagram.name, prepared.title.as_deref(), &drawing, source))
    }

    fn warn(&mut self, line: usize, cause: NotDrawn) {
        if self.losses.len() == MOST_WARNINGS {
            self.more_losses += 1;
            return;
        }
        let inside = if let NotDrawn::Unread(Some(inside)) = cause { inside } else { 0 };
        self.losses.push(Loss::Diagram { line: line + inside, cause: cause.to_string() });
    }

    /// What was not drawn. Subtracts what was used from `budget`.
    pub(super) fn finish(mut self, budget: &mut Budget) -> Vec<Loss> {
        budget.diagrams -= self.start.diagrams - self.left.diagrams;
        budget.work -= self.start.work - self.left.work;
        budget.bytes -= self.start.bytes - self.left.bytes;
        if self.more_losses > 0 {
            self.losses.push(Loss::MoreDiagrams(self.more_losses));
        }
        self.losses
    }
}

fn figure(name: &str, title: Option<&str>, drawing: &svg::Drawing, source: &str) -> String {
    let label = title.map_or_else(|| name.to_owned(), |title| format!("{name}: {title}"));
    let label = escaped_attribute(&label);
    let caption =
        title.map(|title| format!("<figcaption>{}</figcaption>\n", escaped(title))).unwrap_or_default();
    let svg::Drawing { content, view_box, width, height } = drawing;
    let size = match *width {
        width if width > HUGE => " huge",
        width if width > WIDE => " wide",
        _ => "",
    };
    format!(
        "<figure class=\"diagram\">\n{caption}<div class=\"drawing{size}\" role=\"group\" aria-label=\"{label}\" tabindex=\"0\">\
         <svg role=\"img\" aria-label=\"{label}\" viewBox=\"{view_box}\" width=\"{width:.0}\" height=\"{height:.0}\">{content}</svg></div>\n\
         <details><summary class=\"source\">Source</summary>\n{source}</details>\n</figure>\n"
    )
}
