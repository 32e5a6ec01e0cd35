//! What the parser's events pass on their way to HTML: raw HTML becomes text, dangerous addresses
//! are dropped, and what readers expect is added (heading links, colours, footnotes at the end).

use std::collections::VecDeque;

use pulldown_cmark::{BlockQuoteKind, CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Tag, TagEnd};

use super::autolink::{self, Piece};
use super::code::Highlighter;
use super::footnotes::Footnotes;
use super::front_matter::FrontMatter;
use super::slug::Slugs;
use super::task::TaskLabel;
use super::{table, url};
use crate::title;

pub(super) struct Filter<'a, I> {
    events: I,
    /// Events that were taken out of the stream and pass the filter on their own.
    replay: VecDeque<Event<'a>>,
    ready: VecDeque<Event<'a>>,
    in_footnote: bool,
    slugs: Slugs,
    highlighter: Highlighter,
    footnotes: Option<Footnotes<'a>>,
    /// For each open link or image, whether it was kept.
    open_links: Vec<bool>,
    task: TaskLabel,
    pub(super) front_matter: FrontMatter,
    /// The first heading.
    pub(super) title: Option<String>,
    pub(super) raw_html: bool,
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
                self.ready.extend(self.footnotes.take()?.into_events());
            }
        }
    }
}

impl<'a, I: Iterator<Item = Event<'a>>> Filter<'a, I> {
    pub(super) fn new(events: I) -> Self {
        Self {
            events,
            replay: VecDeque::new(),
            ready: VecDeque::new(),
            in_footnote: false,
            slugs: Slugs::default(),
            highlighter: Highlighter::new(),
            footnotes: Some(Footnotes::default()),
            open_links: Vec::new(),
            task: TaskLabel::default(),
            front_matter: FrontMatter::default(),
            title: None,
            raw_html: false,
            dropped_links: false,
        }
    }

    fn raw(&mut self, html: impl Into<CowStr<'a>>) {
        self.ready.push_back(Event::Html(html.into()));
    }

    fn pass(&mut self, event: Event<'a>) {
        if let Some(end) = self.task.pass(&event) {
            self.raw(end);
        }
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(end @ (TagEnd::Link | TagEnd::Image)) => {
                if self.open_links.pop() == Some(true) {
                    self.ready.push_back(Event::End(end));
                }
            }
            Event::End(TagEnd::FootnoteDefinition) => {}
            Event::End(TagEnd::Table) => {
                self.ready.push_back(Event::End(TagEnd::Table));
                self.raw("</div>\n");
            }
            Event::Text(text) if self.open_links.is_empty() => self.linked(text),
            Event::Html(html) | Event::InlineHtml(html) => self.inline_html(html),
            Event::TaskListMarker(is_done) => {
                let opening = self.task.open(is_done);
                self.raw(opening);
            }
            Event::FootnoteReference(label) => {
                let mark = self.footnotes.get_or_insert_default().mark(label);
                self.ready.push_back(mark);
            }
            other => self.ready.push_back(other),
        }
    }

    fn open(&mut self, tag: Tag<'a>) {
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
            Tag::Heading { level, .. } => self.heading(level),
            Tag::CodeBlock(kind) => self.code_block(&kind),
            Tag::HtmlBlock => self.html_block(),
            Tag::MetadataBlock(kind) => {
                let text: String = self.until(TagEnd::MetadataBlock(kind)).iter().map(plain_text).collect();
                self.front_matter = FrontMatter::parse(&text);
            }
            Tag::FootnoteDefinition(label) => self.footnote(label),
            Tag::Table(_) => self.table(tag),
            Tag::BlockQuote(Some(kind)) => {
                self.ready.push_back(Event::Start(tag));
                self.raw(format!("<p class=\"alert\">{}</p>\n", alert_name(kind)));
            }
            other => self.ready.push_back(Event::Start(other)),
        }
    }

    fn open_link(&mut self, tag: Tag<'a>, kept: bool) {
        self.open_links.push(kept);
        self.dropped_links |= !kept;
        if kept {
            self.ready.push_back(Event::Start(tag));
        }
    }

    /// A wide table scrolls inside of a box, which the keyboard reaches and which is called what its columns are called.
    fn table(&mut self, tag: Tag<'a>) {
        let first = self.replay.pop_front().or_else(|| self.events.next());
        let head = match first {
            Some(Event::Start(Tag::TableHead)) => self.until(TagEnd::TableHead),
            _ => Vec::new(),
        };
        let name = super::escaped_attribute(&table::name(&head));
        self.raw(format!("<div class=\"table\" role=\"group\" aria-label=\"{name}\" tabindex=\"0\">"));
        self.ready.extend([Event::Start(tag), Event::Start(Tag::TableHead)]);
        let head = self.filtered(head);
        self.ready.extend(head);
        self.ready.push_back(Event::End(TagEnd::TableHead));
    }

    /// All events up to the end of a tag that was just opened.
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

    /// Filters events that were taken out of the stream, and returns them.
    fn filtered(&mut self, events: Vec<Event<'a>>) -> Vec<Event<'a>> {
        let later = std::mem::replace(&mut self.replay, events.into());
        let waiting = std::mem::take(&mut self.ready);
        while let Some(event) = self.replay.pop_front() {
            self.pass(event);
        }
        self.replay = later;
        std::mem::replace(&mut self.ready, waiting).into()
    }

    fn heading(&mut self, level: HeadingLevel) {
        let inside = self.until(TagEnd::Heading(level));
        let text: String = inside.iter().map(plain_text).collect();
        if self.title.is_none() {
            self.title = title::clean(&text);
        }
        let id = self.slugs.of(&text);
        let anchor = format!("<a class=\"anchor\" href=\"#{id}\" aria-hidden=\"true\" tabindex=\"-1\">#</a>");
        let tag = Tag::Heading { level, id: Some(id.into()), classes: Vec::new(), attrs: Vec::new() };
        self.ready.push_back(Event::Start(tag));
        let inside = self.filtered(inside);
        self.ready.extend(inside);
        self.ready.push_back(Event::InlineHtml(anchor.into()));
        self.ready.push_back(Event::End(TagEnd::Heading(level)));
    }

    fn code_block(&mut self, kind: &CodeBlockKind<'a>) {
        let code: String = self.until(TagEnd::CodeBlock).iter().map(plain_text).collect();
        let language = match kind {
            CodeBlockKind::Fenced(info) => language_of(info),
            CodeBlockKind::Indented => "",
        };
        let label = if language.is_empty() { String::new() } else { format!(" data-lang=\"{language}\"") };
        let coloured = self.highlighter.html(&code, language);
        self.raw(format!("<pre{label} tabindex=\"0\"><code>{coloured}</code></pre>\n"));
    }

    fn html_block(&mut self) {
        let text: String = self.until(TagEnd::HtmlBlock).iter().map(plain_text).collect();
        if !is_comment(&text) {
            self.raw_html = true;
            self.ready.push_back(Event::Start(Tag::Paragraph));
            self.ready.push_back(Event::Text(text.into()));
            self.ready.push_back(Event::End(TagEnd::Paragraph));
        }
    }

    fn inline_html(&mut self, html: CowStr<'a>) {
        if is_line_break(&html) {
            self.ready.push_back(Event::HardBreak);
        } else if !is_comment(&html) {
            self.raw_html = true;
            self.task.name();
            self.ready.push_back(Event::Text(html));
        }
    }

    fn footnote(&mut self, label: CowStr<'a>) {
        // A footnote inside a footnote is part of its text: going deeper could go on for ever.
        if self.in_footnote {
            return;
        }
        self.in_footnote = true;
        let inside = self.until(TagEnd::FootnoteDefinition);
        let inside = self.filtered(inside);
        self.in_footnote = false;
        self.footnotes.get_or_insert_default().define(label, inside);
    }

    fn linked(&mut self, text: CowStr<'a>) {
        let pieces = autolink::pieces(&text);
        if matches!(pieces.as_slice(), [] | [Piece::Text(_)]) {
            self.ready.push_back(Event::Text(text));
            return;
        }
        for piece in pieces {
            let (Piece::Text(text) | Piece::Address(text)) = piece;
            let shown = Event::Text(text.to_owned().into());
            if piece == Piece::Text(text) {
                self.ready.push_back(shown);
                continue;
            }
            let scheme = if text.starts_with("www.") { "https://" } else { "" };
            let tag = Tag::Link {
                link_type: LinkType::Autolink,
                dest_url: format!("{scheme}{text}").into(),
                title: "".into(),
                id: "".into(),
            };
            self.ready.extend([Event::Start(tag), shown, Event::End(TagEnd::Link)]);
        }
    }
}

pub(super) fn plain_text<'e>(event: &'e Event<'_>) -> &'e str {
    match event {
        Event::Text(text) | Event::Code(text) | Event::Html(text) => text,
        Event::SoftBreak | Event::HardBreak => " ",
        _ => "",
    }
}

/// The first word of a fence, if it looks like the name of a language.
fn language_of(info: &str) -> &str {
    let word = info.split([' ', ',', '\t', '{']).next().unwrap_or_default();
    let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '_' | '.'));
    if plain && word.len() <= 20 { word } else { "" }
}

fn is_comment(html: &str) -> bool {
    let html = html.trim();
    html.strip_prefix("<!--").and_then(|rest| rest.find("-->").map(|at| at + 3 == rest.len())) == Some(true)
}

fn is_line_break(html: &str) -> bool {
    let inside = html.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).unwrap_or_default();
    inside.trim_end_matches('/').trim_end().eq_ignore_ascii_case("br")
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
