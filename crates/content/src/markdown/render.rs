//! Renders Markdown as the inside of a page, or gives up if the result would be too large.

use std::collections::BTreeSet;
use std::fmt;

use pulldown_cmark::{Options, Parser, TextMergeStream, html};

use super::diagram::{Budget, FenceLines};
use super::direction::{self, Direction};
use super::filter::Filter;
use super::headings::Contents;
use super::losses::Loss;
use super::{headings, math};

/// Some inputs grow when rendered; beyond this the page is shown as plain text.
const OUTPUT_BYTES: usize = 16 << 20;
/// No honest text grows by more than this factor, apart from a constant allowance.
const MOST_GROWTH: usize = 64;
const FREE_BYTES: usize = 256 * 1024;

pub(super) struct Rendered {
    /// From the front matter, else the first heading.
    pub(super) title: Option<String>,
    /// `None` if it would be too large.
    pub(super) body: Option<String>,
    /// From the front matter.
    pub(super) language: Option<String>,
    pub(super) direction: Direction,
    pub(super) losses: Vec<Loss>,
}

/// The result for a document that could not be rendered.
pub(super) const NOTHING: Rendered =
    Rendered { title: None, body: None, language: None, direction: Direction::Ltr, losses: Vec::new() };

/// Renders a document. What its diagrams use is subtracted from `budget`.
pub(super) fn render(source: &str, contents: Contents, budget: &mut Budget) -> Rendered {
    math::with_stack(source, || render_here(source, contents, budget)).unwrap_or(NOTHING)
}

fn render_here(source: &str, contents: Contents, budget: &mut Budget) -> Rendered {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM
        | Options::ENABLE_MATH
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let events = Parser::new_ext(source, options).into_offset_iter();
    let fences = FenceLines::of(source);
    let events = events.map(|(event, range)| math::by_place(source, fences.mark(event, range.start), range));
    let mut filter = Filter::new(TextMergeStream::new(events), *budget);
    let most_bytes = OUTPUT_BYTES.min(source.len() * MOST_GROWTH + FREE_BYTES + budget.bytes_for(source));
    let mut body = Bounded { text: String::with_capacity(source.len() * 2), most_bytes };
    let fits = html::write_html_fmt(&mut body, filter.by_ref()).is_ok();
    let mut losses = Vec::new();
    let dropped: BTreeSet<String> = filter.sanitizer.dropped().map(str::to_owned).collect();
    if !dropped.is_empty() {
        losses.push(Loss::Elements(dropped));
    }
    if filter.dropped_links || filter.sanitizer.dropped_address() {
        losses.push(Loss::Links);
    }
    losses.extend(filter.diagrams.finish(budget));
    let stated = filter.front_matter.direction;
    let (body, heading) = headings::complete(&body.text, contents);
    let (body, direction) = direction::annotate(body, stated);
    Rendered {
        title: filter.front_matter.title.or(heading),
        body: (fits && body.len() <= 2 * most_bytes).then_some(body),
        language: filter.front_matter.language,
        direction,
        losses,
    }
}

struct Bounded {
    text: String,
    most_bytes: usize,
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len() + text.len() > self.most_bytes {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}
