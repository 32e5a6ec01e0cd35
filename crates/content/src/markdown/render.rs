//! Typesets Markdown as the inside of a page, or gives up if the result would be too large.

use std::fmt;

use pulldown_cmark::{Options, Parser, TextMergeStream, html};

use super::direction::{self, Direction};
use super::filter::Filter;

/// Some inputs grow when they are typeset; beyond this the page is shown as plain text.
const OUTPUT_BYTES: usize = 16 << 20;

pub(super) struct Rendered {
    /// The first heading.
    pub(super) title: Option<String>,
    /// Nothing if it would be too large.
    pub(super) body: Option<String>,
    /// As the front matter states it.
    pub(super) language: Option<String>,
    pub(super) direction: Direction,
    pub(super) warnings: Vec<String>,
}

pub(super) fn render(source: &str) -> Rendered {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let events = TextMergeStream::new(Parser::new_ext(source, options));
    let mut filter = Filter::new(events);
    let mut body = Bounded(String::with_capacity(source.len() * 2));
    let fits = html::write_html_fmt(&mut body, filter.by_ref()).is_ok();
    let mut warnings = Vec::new();
    if filter.raw_html {
        let text =
            "The document contains raw HTML, which is shown as text. Send an .html file to publish HTML.";
        warnings.push(text.to_owned());
    }
    if filter.dropped_links {
        warnings.push("Links other than http, https, mailto and relative ones were removed.".to_owned());
    }
    let stated = filter.front_matter.direction;
    let (body, direction) = direction::annotate(body.0, stated);
    Rendered {
        title: filter.title,
        body: (fits && body.len() <= OUTPUT_BYTES).then_some(body),
        language: filter.front_matter.language,
        direction,
        warnings,
    }
}

struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > OUTPUT_BYTES {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}
