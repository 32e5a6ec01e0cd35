//! Transforms the parser's events on their way to HTML: sanitizes raw HTML, drops dangerous URLs, and adds what readers expect
//! (syntax highlighting, emoji, footnotes at the end).

use std::collections::VecDeque;

use pulldown_cmark::{BlockQuoteKind, CodeBlockKind, CowStr, Event, LinkType, Tag, TagEnd};

use super::autolink::{self, Piece};
use super::code::{Highlighter, language_of};
use super::diagram::{self, Budget, Diagrams};
use super::emoji;
use super::escape::escaped_attribute;
use super::footnotes::Footnotes;
use super::front_matter::FrontMatter;
use super::labels::{TaskLabel, plain_text, table_name};
use super::math::{Display, Formulas};
use crate::sanitize::{Sanitizer, url};

pub(super) struct Filter<'a, I> {
    events: I,
    /// Events taken out of the stream that are being filtered separately.
    replay: VecDeque<Event<'a>>,
    ready: VecDeque<Event<'a>>,
    in_footnote: bool,
    highlighter: Highlighter,
    formulas: Formulas,
    pub(super) diagrams: Diagrams,
    footnotes: Option<Footnotes<'a>>,
    /// For each open link or image, whether it was kept.
    open_links: Vec<bool>,
    task: TaskLabel,
    /// Sanitizes the author's raw HTML, whose elements may be open around Markdown.
    pub(super) sanitizer: Sanitizer,
    /// The level of the open paragraph; `None` once the author's HTML has ended it early.
    paragraph: Option<usize>,
    /// The author's element that is dropped with its text, until its end tag.
    left_out: Option<String>,
    pub(super) front_matter: FrontMatter,
    pub(super) dropped_links: bool,
}

impl<'a, I: Iterator<Item = Event<'a>>> Iterator for Filter<'a, I> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if let Some(event) = self.events.next() {
                self.pass(event);
            } else {
                let footnotes = self.footnotes.take()?;
                let ends = self.sanitizer.close_all();
                self.raw(ends);
                self.ready.extend(footnotes.into_events());
            }
        }
    }
}

impl<'a, I: Iterator<Item = Event<'a>>> Filter<'a, I> {
    pub(super) fn new(events: I, budget: Budget) -> Self {
        Self {
            events,
            replay: VecDeque::new(),
            ready: VecDeque::new(),
            in_footnote: false,
            highlighter: Highlighter::new(),
            formulas: Formulas::new(),
            diagrams: Diagrams::new(budget),
            footnotes: Some(Footnotes::default()),
            open_links: Vec::new(),
            task: TaskLabel::default(),
            sanitizer: Sanitizer::new(emoji::replace),
            paragraph: None,
            left_out: None,
            front_matter: FrontMatter::default(),
            dropped_links: false,
        }
    }

    fn raw(&mut self, html: impl Into<CowStr<'a>>) {
        let html = html.into();
        if !html.is_empty() {
            self.ready.push_back(Event::Html(html));
        }
    }

    fn pass(&mut self, event: Event<'a>) {
        if let Some(end) = self.task.pass(&event) {
            self.leave();
            self.raw(end);
        }
        if self.is_left_out(&event) {
            return;
        }
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(end) => self.close(end),
            Event::Text(text) if self.open_links.is_empty() && !self.sanitizer.has_open("a") => {
                self.linked(&text);
            }
            Event::Text(text) => self.text(&text),
            Event::Html(html) => self.html(&html),
            Event::InlineHtml(html) => self.inline_html(&html),
            Event::TaskListMarker(is_done) => {
                let opening = self.task.open(is_done);
                self.raw(opening);
                self.sanitizer.enter();
            }
            Event::FootnoteReference(label) => {
                let mark = self.footnotes.get_or_insert_default().mark(label);
                self.ready.push_back(mark);
            }
            Event::InlineMath(latex) => {
                let formula = self.formulas.html(&latex, Display::Inline);
                self.raw(formula);
            }
            Event::DisplayMath(latex) => {
                let formula = self.formulas.html(&latex, Display::Block);
                self.raw(formula);
            }
            Event::Rule => {
                self.end_paragraph();
                self.ready.push_back(Event::Rule);
            }
            other => self.ready.push_back(other),
        }
    }

    fn open(&mut self, tag: Tag<'a>) {
        if is_block(&tag) {
            self.end_paragraph();
        }
        match tag {
            Tag::CodeBlock(kind) => return self.code_block(&kind),
            Tag::HtmlBlock => return self.html_block(),
            Tag::MetadataBlock(kind) => {
                let text: String = self.until(TagEnd::MetadataBlock(kind)).iter().map(plain_text).collect();
                self.front_matter = FrontMatter::parse(&text);
                return;
            }
            Tag::FootnoteDefinition(label) => return self.footnote(label),
            Tag::Paragraph => self.paragraph = Some(self.sanitizer.level() + 1),
            _ => {}
        }
        self.sanitizer.enter();
        match tag {
            Tag::Link { link_type, ref dest_url, .. } => {
                // An e-mail autolink gets its "mailto:" only when it is written.
                let kept = link_type == LinkType::Email || url::is_link(dest_url);
                self.open_link(tag, kept);
            }
            Tag::Image { ref dest_url, .. } => {
                let kept = url::is_image(dest_url);
                self.open_link(tag, kept);
            }
            Tag::Table(_) => self.table(tag),
            Tag::BlockQuote(Some(kind)) => {
                self.ready.push_back(Event::Start(tag));
                self.raw(format!("<p class=\"alert\">{}</p>\n", alert_name(kind)));
            }
            other => self.ready.push_back(Event::Start(other)),
        }
    }

    fn close(&mut self, end: TagEnd) {
        if end == TagEnd::FootnoteDefinition {
            return;
        }
        self.leave();
        let is_kept = match end {
            TagEnd::Link | TagEnd::Image => self.open_links.pop() == Some(true),
            TagEnd::Paragraph => self.paragraph.take().is_some(),
            _ => true,
        };
        if is_kept {
            self.ready.push_back(Event::End(end));
        }
        if end == TagEnd::Table {
            self.raw("</div>\n");
        }
    }

    /// Closes the author's elements that were opened inside the Markdown element that ends here.
    fn leave(&mut self) {
        let ends = self.sanitizer.leave();
        self.raw(ends);
    }

    fn end_paragraph(&mut self) {
        let ends = self.sanitizer.end_paragraph();
        self.raw(ends);
    }

    fn open_link(&mut self, tag: Tag<'a>, kept: bool) {
        self.open_links.push(kept);
        self.dropped_links |= !kept;
        if kept {
            self.ready.push_back(Event::Start(tag));
        }
    }

    /// A wide table scrolls inside a box, which is focusable and has the names of the columns as its accessible name.
    fn table(&mut self, tag: Tag<'a>) {
        let first = self.replay.pop_front().or_else(|| self.events.next());
        let head = match first {
            Some(Event::Start(Tag::TableHead)) => self.until(TagEnd::TableHead),
            _ => Vec::new(),
        };
        let name = escaped_attribute(&table_name(&head));
        self.raw(format!("<div class=\"table\" role=\"group\" aria-label=\"{name}\" tabindex=\"0\">"));
        self.ready.extend([Event::Start(tag), Event::Start(Tag::TableHead)]);
        self.sanitizer.enter();
        let head = self.filtered(head);
        self.ready.extend(head);
        self.leave();
        self.ready.push_back(Event::End(TagEnd::TableHead));
    }

    /// All events up to the end of the tag that was just opened.
    fn until(&mut self, end: TagEnd) -> Vec<Event<'a>> {
        let mut inside = Vec::new();
        let mut depth = 0_usize;
        while let Some(event) = self.replay.pop_front().or_else(|| self.events.next()) {
            match &event {
                Event::Start(tag) if tag.to_end() == end => depth += 1,
                Event::End(found) if *found == end && depth == 0 => break,
                Event::End(found) if *found == end => depth -= 1,
                _ => {}
            }
            inside.push(event);
        }
        inside
    }

    /// Filters events that were taken out of the stream, and returns the result.
    fn filtered(&mut self, events: Vec<Event<'a>>) -> Vec<Event<'a>> {
        let later = std::mem::replace(&mut self.replay, events.into());
        let waiting = std::mem::take(&mut self.ready);
        while let Some(event) = self.replay.pop_front() {
            self.pass(event);
        }
        self.replay = later;
        std::mem::replace(&mut self.ready, waiting).into()
    }

    fn code_block(&mut self, kind: &CodeBlockKind<'a>) {
        let code: String = self.until(TagEnd::CodeBlock).iter().map(plain_text).collect();
        let language = match kind {
            CodeBlockKind::Fenced(info) => language_of(info),
            CodeBlockKind::Indented => "",
        };
        if language.eq_ignore_ascii_case("math") {
            let formula = self.formulas.html(&code, Display::Block);
            self.raw(format!("<p>{formula}</p>\n"));
            return;
        }
        let label = if language.is_empty() { String::new() } else { format!(" data-lang=\"{language}\"") };
        let coloured = self.highlighter.html(&code, language);
        let source = format!("<pre{label} tabindex=\"0\"><code>{coloured}</code></pre>\n");
        let html = match diagram::line_in(kind) {
            Some(line) => self.diagrams.html(&code, line, &source),
            None => source,
        };
        self.raw(html);
    }

    /// A block of the author's raw HTML.
    fn html_block(&mut self) {
        let text: String = self.until(TagEnd::HtmlBlock).iter().map(plain_text).collect();
        self.html(&text);
    }

    /// One tag, comment or the like in running text. A block element ends the paragraph, as in HTML.
    fn inline_html(&mut self, html: &str) {
        self.left_out = Sanitizer::opens_dropped(html);
        if Sanitizer::opens_block(html) && self.paragraph == Some(self.sanitizer.level()) {
            let ends = self.sanitizer.close_inside();
            self.raw(ends);
            self.paragraph = None;
            self.ready.push_back(Event::End(TagEnd::Paragraph));
        }
        self.html(html);
    }

    fn html(&mut self, html: &str) {
        let made = self.sanitizer.write(html);
        self.raw(made);
    }

    /// Whether an event belongs to an element that is dropped with its text. Markdown inside it is only emptied: its structure
    /// stays intact.
    fn is_left_out(&mut self, event: &Event<'_>) -> bool {
        let Some(name) = &self.left_out else { return false };
        match event {
            Event::InlineHtml(html) => {
                let is_end = html
                    .strip_prefix("</")
                    .is_some_and(|rest| rest.trim_end_matches('>').trim_end().eq_ignore_ascii_case(name));
                if is_end {
                    self.left_out = None;
                }
                true
            }
            Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell | TagEnd::Heading(_)) => {
                self.left_out = None;
                false
            }
            Event::Start(_) | Event::End(_) => false,
            _ => true,
        }
    }

    fn footnote(&mut self, label: CowStr<'a>) {
        // A footnote inside a footnote is part of its text: nesting could be unbounded.
        if self.in_footnote {
            return;
        }
        self.in_footnote = true;
        let inside = self.until(TagEnd::FootnoteDefinition);
        let aside = self.sanitizer.suspend();
        let mut inside = self.filtered(inside);
        inside.push(Event::Html(self.sanitizer.close_all().into()));
        self.sanitizer.resume(aside);
        self.in_footnote = false;
        self.footnotes.get_or_insert_default().define(label, inside);
    }

    fn text(&mut self, text: &str) {
        self.ready.push_back(Event::Text(emoji::replace(text).into_owned().into()));
    }

    fn linked(&mut self, text: &str) {
        for piece in autolink::pieces(text) {
            let address = match piece {
                Piece::Text(text) => {
                    self.text(text);
                    continue;
                }
                Piece::Address(address) => address,
            };
            let scheme = if address.starts_with("www.") { "https://" } else { "" };
            let tag = Tag::Link {
                link_type: LinkType::Autolink,
                dest_url: format!("{scheme}{address}").into(),
                title: "".into(),
                id: "".into(),
            };
            let shown = Event::Text(address.to_owned().into());
            self.ready.extend([Event::Start(tag), shown, Event::End(TagEnd::Link)]);
        }
    }
}

/// Whether it ends a paragraph of the author's HTML.
fn is_block(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Paragraph
            | Tag::Heading { .. }
            | Tag::BlockQuote(_)
            | Tag::CodeBlock(_)
            | Tag::List(_)
            | Tag::Table(_)
            | Tag::DefinitionList
    )
}

fn alert_name(kind: BlockQuoteKind) -> &'static str {
    match kind {
        BlockQuoteKind::Note => "Note",
        BlockQuoteKind::Tip => "Tip",
        BlockQuoteKind::Important => "Important",
        BlockQuoteKind::Warning => "Warning",
        BlockQuoteKind::Caution => "Caution",
    }
}
