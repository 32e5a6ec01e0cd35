//! Footnotes: numbered in the order of their first mention, and collected at the end of the page.

use std::collections::HashMap;

use pulldown_cmark::{CowStr, Event};

#[derive(Default)]
pub(super) struct Footnotes<'a> {
    numbers: HashMap<CowStr<'a>, usize>,
    texts: HashMap<CowStr<'a>, Vec<Event<'a>>>,
}

impl<'a> Footnotes<'a> {
    /// The mark in the text. The footnote links back to the first mention only.
    pub(super) fn mark(&mut self, label: CowStr<'a>) -> Event<'a> {
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(label).or_insert(next);
        let id = if number == next { format!(" id=\"fnref:{number}\"") } else { String::new() };
        let mark = format!("<sup class=\"fn\"><a href=\"#fn:{number}\"{id}>{number}</a></sup>");
        Event::InlineHtml(mark.into())
    }

    /// Keeps a footnote's text until the end of the page; the first definition counts.
    pub(super) fn define(&mut self, label: CowStr<'a>, text: Vec<Event<'a>>) {
        self.texts.entry(label).or_insert(text);
    }

    /// All notes that were mentioned, as a list.
    pub(super) fn into_events(mut self) -> Vec<Event<'a>> {
        let mut mentioned: Vec<(usize, CowStr<'a>)> =
            self.numbers.drain().map(|(label, number)| (number, label)).collect();
        mentioned.sort_by_key(|(number, _)| *number);
        let mut events = Vec::new();
        for (number, label) in mentioned {
            let Some(text) = self.texts.remove(&label) else { continue };
            let back =
                format!(" <a class=\"back\" href=\"#fnref:{number}\" aria-label=\"Back to the text\">↩</a>");
            events.push(Event::Html(format!("<li id=\"fn:{number}\" value=\"{number}\">").into()));
            events.extend(text);
            events.push(Event::Html(format!("{back}</li>\n").into()));
        }
        if !events.is_empty() {
            events.insert(0, Event::Html("\n<section class=\"footnotes\">\n<ol>\n".into()));
            events.push(Event::Html("</ol>\n</section>\n".into()));
        }
        events
    }
}
