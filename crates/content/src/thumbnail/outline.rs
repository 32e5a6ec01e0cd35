//! Extracts the outline of a document: one streaming pass that records its blocks in order.

use std::cell::RefCell;
use std::rc::Rc;

use lol_html::html_content::{Element, TextChunk};
use lol_html::{HtmlRewriter, MemorySettings, Settings, doc_text, element};

use crate::title;

const MEMORY_BYTES: usize = 2 << 20;
/// More than fit into the drawing.
const MOST_BLOCKS: usize = 60;
const HEADING_BYTES: usize = 400;
const CHUNK: usize = 16 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Block {
    /// The level and the text.
    Heading(u8, String),
    /// The number of characters of running text.
    Text(usize),
    Item(usize),
    Code(usize),
    Quote(usize),
    Picture,
    /// The number of cells in the row.
    Row(usize),
    Button,
    Rule,
}

#[derive(Default)]
struct OutlineScan {
    blocks: Vec<Block>,
    /// Depth of open elements that show nothing: script, style, title and the like.
    hidden: usize,
}

impl OutlineScan {
    fn push(&mut self, block: Block) {
        if self.blocks.len() < MOST_BLOCKS {
            self.blocks.push(block);
        }
    }

    fn text(&mut self, text: &str) {
        let letters = text.split_whitespace().map(|word| word.chars().count() + 1).sum::<usize>();
        if self.hidden > 0 || letters == 0 {
            return;
        }
        match self.blocks.last_mut() {
            Some(Block::Heading(_, words)) if words.len() < HEADING_BYTES => {
                words.extend(text.chars().take(HEADING_BYTES));
            }
            Some(Block::Text(n) | Block::Item(n) | Block::Code(n) | Block::Quote(n)) => {
                *n = n.saturating_add(letters);
            }
            Some(Block::Heading(..) | Block::Row(_) | Block::Button) => {}
            Some(Block::Picture | Block::Rule) | None => self.push(Block::Text(letters)),
        }
    }

    fn open(&mut self, tag: &str) {
        match tag {
            "h1" => self.push(Block::Heading(1, String::new())),
            "h2" => self.push(Block::Heading(2, String::new())),
            "h3" | "h4" | "h5" | "h6" => self.push(Block::Heading(3, String::new())),
            "li" | "dd" | "dt" => self.push(Block::Item(0)),
            "pre" => self.push(Block::Code(0)),
            "blockquote" => self.push(Block::Quote(0)),
            "img" | "picture" | "video" | "canvas" | "svg" | "figure" | "iframe" | "object" => {
                if self.blocks.last() != Some(&Block::Picture) {
                    self.push(Block::Picture);
                }
            }
            "tr" => self.push(Block::Row(0)),
            "td" | "th" => {
                if let Some(Block::Row(cells)) = self.blocks.last_mut() {
                    *cells += 1;
                }
            }
            "button" | "input" | "select" | "textarea" => self.push(Block::Button),
            "hr" => self.push(Block::Rule),
            // A paragraph inside a quotation or a list item belongs to it.
            "p" if matches!(self.blocks.last(), Some(Block::Quote(0) | Block::Item(0))) => {}
            _ => self.push(Block::Text(0)),
        }
    }
}

const HIDING: &str = "script, style, title, template, noscript, head > *, [hidden], [aria-hidden=true]";
const BLOCKS: &str = "h1, h2, h3, h4, h5, h6, p, div, section, article, header, footer, main, nav, aside, li, dd, dt, \
                      pre, blockquote, img, picture, video, canvas, svg, figure, iframe, object, tr, td, th, button, \
                      input, select, textarea, hr";

pub(super) fn read(bytes: &[u8]) -> Vec<Block> {
    let found = Rc::new(RefCell::new(OutlineScan::default()));
    let settings = Settings::new()
        .append_element_content_handler(element!(HIDING, hiding(&found)))
        .append_element_content_handler(element!(BLOCKS, blocks(&found)))
        .append_document_content_handler(doc_text!(texts(&found)))
        .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(MEMORY_BYTES))
        .with_strict(false)
        .with_adjust_charset_on_meta_tag(true);
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    // An error only ends the outline.
    let whole = bytes
        .chunks(CHUNK)
        .all(|chunk| found.borrow().blocks.len() < MOST_BLOCKS && rewriter.write(chunk).is_ok());
    if whole {
        let _ = rewriter.end();
    }
    let blocks = found.take().blocks;
    blocks.into_iter().filter_map(tidy).collect()
}

/// Drops empty blocks and turns headings into plain text.
fn tidy(block: Block) -> Option<Block> {
    match block {
        Block::Heading(level, words) => title::clean_html(&words).map(|words| Block::Heading(level, words)),
        Block::Text(0) | Block::Row(0) | Block::Code(0) | Block::Quote(0) | Block::Item(0) => None,
        other => Some(other),
    }
}

fn hiding(
    found: &Rc<RefCell<OutlineScan>>,
) -> impl FnMut(&mut Element<'_, '_>) -> lol_html::HandlerResult + use<> {
    let found = Rc::clone(found);
    move |element| {
        if !element.can_have_content() {
            return Ok(());
        }
        found.borrow_mut().hidden += 1;
        let found = Rc::clone(&found);
        element.on_end_tag(Box::new(move |_| {
            let mut found = found.borrow_mut();
            found.hidden = found.hidden.saturating_sub(1);
            Ok(())
        }))
    }
}

fn blocks(
    found: &Rc<RefCell<OutlineScan>>,
) -> impl FnMut(&mut Element<'_, '_>) -> lol_html::HandlerResult + use<> {
    let found = Rc::clone(found);
    move |element| {
        let mut found = found.borrow_mut();
        if found.hidden == 0 {
            found.open(&element.tag_name());
        }
        Ok(())
    }
}

fn texts(
    found: &Rc<RefCell<OutlineScan>>,
) -> impl FnMut(&mut TextChunk<'_>) -> lol_html::HandlerResult + use<> {
    let found = Rc::clone(found);
    move |chunk| {
        found.borrow_mut().text(chunk.as_str());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_noted_in_order_and_empty_ones_are_not() {
        let page =
            b"<head><title>no</title></head><script>no</script><h1>A <b>b</b></h1><p></p><p>one two</p>\
                     <ul><li>x</li></ul><table><tr><td>1</td><td>2</td></tr></table><img src=a><hr>tail";
        assert_eq!(
            read(page),
            [
                Block::Heading(1, "A b".into()),
                Block::Text(8),
                Block::Item(2),
                Block::Row(2),
                Block::Picture,
                Block::Rule,
                Block::Text(5),
            ]
        );
    }

    #[test]
    fn a_long_page_is_left_early() {
        let page = "<p>word</p>".repeat(100_000);
        assert!(read(page.as_bytes()).len() <= MOST_BLOCKS);
    }
}
