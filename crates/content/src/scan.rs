//! One streaming pass over an HTML page for its title and its references, in bounded memory.
//! Whatever stops the pass (a giant tag, endless nesting) only ends the hints, never the upload.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use lol_html::html_content::{Element, EndTag, TextChunk};
use lol_html::{HtmlRewriter, MemorySettings, Settings, element, text};

use crate::character_references::{Context, decode};
use crate::refs;
use crate::title;
use crate::warnings::Warnings;

const MEMORY_BYTES: usize = 4 << 20;
/// More raw text than any title of 200 characters needs.
const HEADLINE_BYTES: usize = 4096;
const LONGEST_URL: usize = 2048;
/// Only what can be wrong: ordinary links to other places cost nothing.
const JUDGED: &str = "base, link[href], script[src], img[src], [href^='/'], [src^='/']";

/// The page is stored as it came, so what the rewriter writes is thrown away.
type Discard = fn(&[u8]);

pub(crate) struct PageScan<'f> {
    rewriter: Option<HtmlRewriter<'f, Discard>>,
    found: Rc<RefCell<Found>>,
}

#[derive(Default)]
struct Found {
    title: Headline,
    heading: Headline,
    /// How many `<svg>` are open: a picture may have a `<title>` of its own.
    pictures: usize,
    has_base: bool,
    warnings: Warnings,
}

/// The text of the first element of its kind.
#[derive(Default)]
struct Headline {
    text: String,
    state: HeadlineState,
}

#[derive(Default, PartialEq)]
enum HeadlineState {
    #[default]
    Awaited,
    Open,
    Done,
}

impl Headline {
    fn open(&mut self) {
        match self.state {
            HeadlineState::Awaited => self.state = HeadlineState::Open,
            // The first one was never closed: what follows is not its text.
            HeadlineState::Open => self.close(),
            HeadlineState::Done => {}
        }
    }

    fn add(&mut self, text: &str) {
        if self.state == HeadlineState::Open && self.text.len() < HEADLINE_BYTES {
            self.text.extend(text.chars().take(HEADLINE_BYTES));
        }
    }

    /// An empty headline does not count: a later one may have text.
    fn close(&mut self) {
        if self.state == HeadlineState::Open {
            let blank = self.text.trim().is_empty();
            self.state = if blank { HeadlineState::Awaited } else { HeadlineState::Done };
        }
    }
}

impl<'f> PageScan<'f> {
    /// `page` is the page's path, `files` are all paths of its bundle.
    pub(crate) fn new(page: &'f str, files: &'f HashSet<&'f str>) -> Self {
        let found = Rc::new(RefCell::new(Found::default()));
        let settings = Settings::new()
            .append_element_content_handler(element!("svg", pictures(&found)))
            .append_element_content_handler(element!("title", headline(&found, |f| &mut f.title)))
            .append_element_content_handler(text!("title", text_of(&found, |f| &mut f.title)))
            .append_element_content_handler(element!("h1", headline(&found, |f| &mut f.heading)))
            .append_element_content_handler(text!("h1", text_of(&found, |f| &mut f.heading)))
            .append_element_content_handler(element!(JUDGED, references(&found, page, files)))
            .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(MEMORY_BYTES))
            .with_strict(false)
            .with_adjust_charset_on_meta_tag(true);
        let discard: Discard = |_| {};
        Self { rewriter: Some(HtmlRewriter::new(settings, discard)), found }
    }

    pub(crate) fn write(&mut self, chunk: &[u8]) {
        // A rewriter that has failed once must not be written to again.
        if let Some(mut rewriter) = self.rewriter.take()
            && rewriter.write(chunk).is_ok()
        {
            self.rewriter = Some(rewriter);
        }
    }

    /// The page's own title, and hints for its author.
    pub(crate) fn finish(mut self) -> (Option<String>, Vec<String>) {
        if let Some(rewriter) = self.rewriter.take() {
            let _ = rewriter.end();
        }
        let found = self.found.take();
        let title = title::clean_html(&found.title.text).or_else(|| title::clean_html(&found.heading.text));
        (title, found.warnings.into_list())
    }
}

type Pick = fn(&mut Found) -> &mut Headline;

fn headline(
    found: &Rc<RefCell<Found>>,
    pick: Pick,
) -> impl FnMut(&mut Element<'_, '_>) -> lol_html::HandlerResult + use<> {
    let found = Rc::clone(found);
    move |element| {
        if found.borrow().pictures > 0 {
            return Ok(());
        }
        pick(&mut found.borrow_mut()).open();
        let found = Rc::clone(&found);
        element.on_end_tag(Box::new(move |_: &mut EndTag<'_>| {
            pick(&mut found.borrow_mut()).close();
            Ok(())
        }))
    }
}

fn pictures(
    found: &Rc<RefCell<Found>>,
) -> impl FnMut(&mut Element<'_, '_>) -> lol_html::HandlerResult + use<> {
    let found = Rc::clone(found);
    move |element| {
        if !element.can_have_content() {
            return Ok(());
        }
        found.borrow_mut().pictures += 1;
        let found = Rc::clone(&found);
        element.on_end_tag(Box::new(move |_: &mut EndTag<'_>| {
            let mut found = found.borrow_mut();
            found.pictures = found.pictures.saturating_sub(1);
            Ok(())
        }))
    }
}

fn text_of(
    found: &Rc<RefCell<Found>>,
    pick: Pick,
) -> impl FnMut(&mut TextChunk<'_>) -> lol_html::HandlerResult + use<> {
    let found = Rc::clone(found);
    move |chunk| {
        pick(&mut found.borrow_mut()).add(chunk.as_str());
        Ok(())
    }
}

fn references<'f>(
    found: &Rc<RefCell<Found>>,
    page: &'f str,
    files: &'f HashSet<&'f str>,
) -> impl FnMut(&mut Element<'_, '_>) -> lol_html::HandlerResult + use<'f> {
    let found = Rc::clone(found);
    move |element| {
        let mut found = found.borrow_mut();
        let tag = element.tag_name();
        let must_load = !found.has_base && matches!(tag.as_str(), "link" | "script" | "img");
        for name in ["src", "href"] {
            let Some(url) = element.get_attribute(name) else { continue };
            if url.len() > LONGEST_URL {
                continue;
            }
            if let Some(warning) = refs::judge(page, &decode(&url, Context::Attribute), must_load, files) {
                found.warnings.push(warning);
            }
        }
        // From here on relative references mean another place.
        found.has_base = found.has_base || tag == "base";
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(html: &str, step: usize) -> (Option<String>, Vec<String>) {
        let files = HashSet::from(["index.html", "ok.css"]);
        let mut scan = PageScan::new("index.html", &files);
        html.as_bytes().chunks(step).for_each(|chunk| scan.write(chunk));
        scan.finish()
    }

    fn title(html: &str) -> Option<String> {
        let whole = scanned(html, usize::MAX).0;
        assert_eq!(whole, scanned(html, 3).0, "however the page is cut");
        whole
    }

    #[test]
    fn the_first_title_wins_over_headings() {
        assert_eq!(
            title("<h1>B</h1><title>\n A &amp;\u{e9} </title><title>C</title>").as_deref(),
            Some("A &é")
        );
    }

    #[test]
    fn a_picture_has_no_say_in_the_title() {
        assert_eq!(
            title("<svg/><svg><title>icon</title></svg><h1>Real <em>name</em></h1>").as_deref(),
            Some("Real name")
        );
    }

    #[test]
    fn empty_titles_are_passed_over() {
        assert_eq!(title("<title> </title><h1></h1><h1>x</h1>").as_deref(), Some("x"));
        assert_eq!(title("<p>nothing"), None);
    }

    #[test]
    fn a_declared_charset_is_honoured() {
        let files = HashSet::new();
        let mut scan = PageScan::new("index.html", &files);
        scan.write(b"<meta charset=windows-1252><title>caf\xe9</title>");
        assert_eq!(scan.finish().0.as_deref(), Some("café"));
    }

    #[test]
    fn broken_references_are_reported_once_each() {
        let page = "<link href=ok.css><link href='/a.css'><img src='/a.css'><script src=gone.js></script>\
                    <a href='later.html'>x</a><a href='/home'>y</a>";
        let warnings = scanned(page, 7).1;
        assert_eq!(warnings.len(), 3, "{warnings:?}");
        assert!(warnings[1].contains("gone.js"));
    }

    #[test]
    fn a_base_makes_relative_references_unknowable() {
        assert_eq!(scanned("<base href='https://x.example/'><img src=a.png>", 100).1, Vec::<String>::new());
    }

    #[test]
    fn giant_tags_and_endless_nesting_only_end_the_hints() {
        let giant = format!("<title>kept</title><img src=\"{}\"><img src=late.png>", "x".repeat(6 << 20));
        assert_eq!(scanned(&giant, 65536), (Some("kept".to_owned()), Vec::new()));
        let nested = format!("<title>kept</title>{}", "<b>".repeat(2_000_000));
        assert_eq!(scanned(&nested, 65536).0.as_deref(), Some("kept"));
    }
}
