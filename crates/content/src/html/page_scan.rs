//! Scans an HTML page for its title and its references, in one streaming pass and in bounded memory. If the scan fails (on a
//! giant tag or endless nesting), only the remaining title and warnings are lost; the upload is never refused for it.

use std::cell::RefCell;
use std::rc::Rc;

use lol_html::html_content::{Element, EndTag, TextChunk};
use lol_html::{HtmlRewriter, MemorySettings, Settings, element, text};

use crate::references::page_references::{self, PageReferences};
use crate::references::report::ReferenceReport;
use crate::refusal::shown_name;
use crate::title;

const MEMORY_BYTES: usize = 4 << 20;
/// More raw text than a title of 200 characters needs.
const HEADLINE_BYTES: usize = 4096;

/// The page is stored unchanged, so the rewriter's output is discarded.
type Discard = fn(&[u8]);

pub(crate) struct PageScan<'f> {
    rewriter: Option<HtmlRewriter<'f, Discard>>,
    found: Rc<RefCell<PageScanState>>,
    references: Rc<RefCell<PageReferences<'f>>>,
}

/// What the scan found out about a page.
pub(crate) struct PageFacts<'f> {
    pub(crate) title: Option<String>,
    /// The report that was passed to the scan, with what this page adds to it.
    pub(crate) report: ReferenceReport<'f>,
    /// The page is a frameset: it has no body in which anything could be shown.
    pub(crate) is_frameset: bool,
}

#[derive(Default)]
struct PageScanState {
    title: Headline,
    heading: Headline,
    /// The number of open `<svg>` elements, which may have a `<title>` too.
    svg_depth: usize,
    is_frameset: bool,
}

/// The text of the first non-empty element of its kind.
#[derive(Default)]
struct Headline {
    text: String,
    state: HeadlineState,
}

#[derive(Default, PartialEq)]
enum HeadlineState {
    #[default]
    NotSeen,
    Open,
    Done,
}

impl Headline {
    fn open(&mut self) {
        match self.state {
            HeadlineState::NotSeen => self.state = HeadlineState::Open,
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
            self.state = if blank { HeadlineState::NotSeen } else { HeadlineState::Done };
        }
    }
}

impl<'f> PageScan<'f> {
    /// `page` is the page's path; its references are added to `report`.
    pub(crate) fn new(page: &'f str, report: ReferenceReport<'f>) -> Self {
        let found = Rc::new(RefCell::new(PageScanState::default()));
        let references = Rc::new(RefCell::new(PageReferences::new(page, report)));
        let settings = Settings::new()
            .append_element_content_handler(element!("svg", count_svg(&found)))
            .append_element_content_handler(element!("title", headline(&found, |f| &mut f.title)))
            .append_element_content_handler(text!("title", text_of(&found, |f| &mut f.title)))
            .append_element_content_handler(element!("h1", headline(&found, |f| &mut f.heading)))
            .append_element_content_handler(text!("h1", text_of(&found, |f| &mut f.heading)))
            .append_element_content_handler(element!("frameset", frameset(&found)))
            .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(MEMORY_BYTES))
            .with_strict(false)
            .with_adjust_charset_on_meta_tag(true);
        let settings = page_references::handlers(&references)
            .into_iter()
            .fold(settings, Settings::append_element_content_handler);
        let discard: Discard = |_| {};
        Self { rewriter: Some(HtmlRewriter::new(settings, discard)), found, references }
    }

    pub(crate) fn write(&mut self, chunk: &[u8]) {
        // A rewriter that has failed once must not be written to again.
        if let Some(mut rewriter) = self.rewriter.take()
            && rewriter.write(chunk).is_ok()
        {
            self.rewriter = Some(rewriter);
        }
    }

    /// The page's own title, and the report of its references.
    pub(crate) fn finish(mut self) -> PageFacts<'f> {
        if let Some(rewriter) = self.rewriter.take() {
            let _ = rewriter.end();
        }
        let found = self.found.take();
        let title = title::clean_html(&found.title.text).or_else(|| title::clean_html(&found.heading.text));
        PageFacts {
            title,
            report: self.references.borrow_mut().take_report(),
            is_frameset: found.is_frameset,
        }
    }
}

type Pick = fn(&mut PageScanState) -> &mut Headline;

fn headline(
    found: &Rc<RefCell<PageScanState>>,
    pick: Pick,
) -> impl FnMut(&mut Element<'_, '_>) -> lol_html::HandlerResult + use<> {
    let found = Rc::clone(found);
    move |element| {
        if found.borrow().svg_depth > 0 {
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

fn count_svg(
    found: &Rc<RefCell<PageScanState>>,
) -> impl FnMut(&mut Element<'_, '_>) -> lol_html::HandlerResult + use<> {
    let found = Rc::clone(found);
    move |element| {
        if !element.can_have_content() {
            return Ok(());
        }
        found.borrow_mut().svg_depth += 1;
        let found = Rc::clone(&found);
        element.on_end_tag(Box::new(move |_: &mut EndTag<'_>| {
            let mut found = found.borrow_mut();
            found.svg_depth = found.svg_depth.saturating_sub(1);
            Ok(())
        }))
    }
}

fn frameset(
    found: &Rc<RefCell<PageScanState>>,
) -> impl FnMut(&mut Element<'_, '_>) -> lol_html::HandlerResult + use<> {
    let found = Rc::clone(found);
    move |_| {
        found.borrow_mut().is_frameset = true;
        Ok(())
    }
}

/// Why a frameset is shown without the toolbar.
pub(crate) fn toolbar_warning(page: &str) -> String {
    let page = shown_name(page.as_bytes());
    format!("{page} is a frameset, which cannot show the feedback toolbar. Use a page with a body.")
}

fn text_of(
    found: &Rc<RefCell<PageScanState>>,
    pick: Pick,
) -> impl FnMut(&mut TextChunk<'_>) -> lol_html::HandlerResult + use<> {
    let found = Rc::clone(found);
    move |chunk| {
        pick(&mut found.borrow_mut()).add(chunk.as_str());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::Paths;

    fn scanned(html: &str, step: usize) -> (Option<String>, Vec<String>) {
        let files = Paths::new(["index.html", "ok.css"]);
        let mut scan = PageScan::new("index.html", ReferenceReport::new(&files));
        html.as_bytes().chunks(step).for_each(|chunk| scan.write(chunk));
        let facts = scan.finish();
        (facts.title, facts.report.warnings())
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
        let files = Paths::default();
        let mut scan = PageScan::new("index.html", ReferenceReport::new(&files));
        scan.write(b"<meta charset=windows-1252><title>caf\xe9</title>");
        assert_eq!(scan.finish().title.as_deref(), Some("café"));
    }

    #[test]
    fn a_base_elsewhere_makes_references_unknowable() {
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
