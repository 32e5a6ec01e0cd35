//! Draws an outline as an SVG of 320 × 200 with plain shapes, light or dark as the viewer prefers.

use super::outline::Block;
use crate::text::shorten::shorten;
use std::fmt::Write as _;

const WIDTH: usize = 320;
const HEIGHT: usize = 200;
const LEFT: usize = 28;
const RIGHT: usize = WIDTH - LEFT;
/// How many characters a line of drawn text stands for.
const LINE_CHARACTERS: usize = 70;
const MOST_LINES: usize = 4;
/// How many letters of a heading fit, including wide ones and an ellipsis.
const MOST_LETTERS: usize = 30;

/// Classes: page (`p`), ink (`i`), soft (`s`), faint (`f`) and leaf green (`l`).
const STYLE: &str = ".p{fill:#fff}.i{fill:#24332b}.s{fill:#c3cdc5}.f{fill:#e6ece6}.l{fill:#2f7d55}\
    text{font-family:system-ui,'Liberation Sans',sans-serif;font-weight:600}\
    @media(prefers-color-scheme:dark){.p{fill:#1a2520}.i{fill:#e2ebe4}.s{fill:#4c5c53}.f{fill:#2a3830}.l{fill:#83d3a5}}";

struct Sheet {
    svg: String,
    y: usize,
}

impl Sheet {
    fn new() -> Self {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\">\
             <style>{STYLE}</style><rect class=\"p\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>"
        );
        Self { svg, y: 30 }
    }

    fn finish(mut self) -> String {
        self.svg.push_str("</svg>");
        self.svg
    }

    fn is_full(&self) -> bool {
        self.y >= HEIGHT
    }

    /// Writing into a String cannot fail.
    fn add(&mut self, shape: std::fmt::Arguments<'_>) {
        let _ = self.svg.write_fmt(shape);
    }

    fn bar(&mut self, class: char, x: usize, y: usize, width: usize, height: usize) {
        let round = (height / 2).min(3);
        self.add(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{round}\"/>"
        ));
    }

    fn heading(&mut self, level: u8, words: &str) {
        if level == 1 {
            let (x, y) = (LEFT, self.y + 12);
            let words = shown(words);
            self.add(format_args!("<text class=\"i\" x=\"{x}\" y=\"{y}\" font-size=\"15\">{words}</text>"));
            self.y += 26;
        } else {
            let (letter, height) = if level == 2 { (6, 8) } else { (5, 6) };
            let width = (words.chars().count() * letter).clamp(30, 190);
            self.bar('i', LEFT, self.y + 3, width, height);
            self.y += height + 11;
        }
    }

    /// Draws lines in proportion to the length of the text.
    fn lines(&mut self, class: char, left: usize, characters: usize) {
        let wide = RIGHT - left;
        let lines = characters.div_ceil(LINE_CHARACTERS).clamp(1, MOST_LINES);
        for line in 0..lines {
            let rest = characters.saturating_sub(line * LINE_CHARACTERS).min(LINE_CHARACTERS);
            let width = if line + 1 < lines { wide } else { (wide * rest / LINE_CHARACTERS).max(16) };
            self.bar(class, left, self.y, width, 5);
            self.y += 10;
        }
        self.y += 6;
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Heading(level, words) => self.heading(*level, words),
            Block::Text(n) => self.lines('s', LEFT, *n),
            Block::Item(n) => {
                let y = self.y + 2;
                self.add(format_args!("<circle class=\"l\" cx=\"{}\" cy=\"{y}\" r=\"2.5\"/>", LEFT + 4));
                self.lines('s', LEFT + 14, (*n).min(LINE_CHARACTERS));
                self.y -= 3;
            }
            Block::Quote(n) => {
                let from = self.y;
                self.lines('s', LEFT + 14, *n);
                self.bar('l', LEFT, from - 2, 3, self.y - from - 3);
            }
            Block::Code(n) => {
                let height = 14 + 10 * n.div_ceil(LINE_CHARACTERS).clamp(1, MOST_LINES);
                self.bar('f', LEFT, self.y, RIGHT - LEFT, height);
                let end = self.y + height + 10;
                self.y += 9;
                self.lines('s', LEFT + 10, (*n).min(LINE_CHARACTERS * MOST_LINES) * 3 / 4);
                self.y = end;
            }
            Block::Picture => {
                self.bar('f', LEFT, self.y, RIGHT - LEFT, 58);
                let (x, y) = (LEFT + 20, self.y + 46);
                self.add(format_args!("<path class=\"s\" d=\"M{x} {y}l22-26 16 18 10-10 20 18z\"/>"));
                self.y += 70;
            }
            Block::Row(cells) => {
                let cells = (*cells).clamp(1, 6);
                let width = (RIGHT - LEFT) / cells;
                for cell in 0..cells {
                    self.bar('f', LEFT + cell * width, self.y, width - 3, 12);
                    self.bar('s', LEFT + cell * width + 5, self.y + 4, (width - 3) / 2, 4);
                }
                self.y += 15;
            }
            Block::Button => {
                self.bar('l', LEFT, self.y, 62, 16);
                self.y += 26;
            }
            Block::Rule => {
                self.bar('f', LEFT, self.y, RIGHT - LEFT, 2);
                self.y += 12;
            }
        }
    }

    /// Draws a small badge in the corner, over what is there.
    fn sign(&mut self, words: &str) {
        let width = 7 * words.chars().count() + 18;
        let x = WIDTH - width - 10;
        self.add(format_args!(
            "<rect class=\"i\" x=\"{x}\" y=\"170\" width=\"{width}\" height=\"20\" rx=\"10\"/>\
             <text class=\"p\" x=\"{}\" y=\"184\" text-anchor=\"middle\" font-size=\"12\">{}</text>",
            x + width / 2,
            shown(words)
        ));
    }

    fn word(&mut self, word: &str) {
        self.add(format_args!(
            "<text class=\"i\" x=\"160\" y=\"164\" text-anchor=\"middle\" font-size=\"15\">{}</text>",
            shown(word)
        ));
    }
}

pub(super) fn of_outline(blocks: &[Block], files: usize) -> String {
    let mut sheet = Sheet::new();
    for block in blocks {
        if sheet.is_full() {
            break;
        }
        sheet.block(block);
    }
    if blocks.is_empty() {
        sheet.lines('f', LEFT, LINE_CHARACTERS * MOST_LINES);
    }
    if files > 1 {
        sheet.sign(&format!("{files} files"));
    }
    sheet.finish()
}

/// Draws content that has no outline.
pub fn of_kind(kind: &str) -> String {
    let mut sheet = Sheet::new();
    match kind {
        "pdf" => {
            sheet.svg.push_str(
                "<path class=\"f\" d=\"M122 28h54l24 24v88h-78z\"/><path class=\"s\" d=\"M176 28v24h24z\"/>",
            );
            for (y, width) in [(68, 50), (82, 54), (96, 44), (110, 54)] {
                sheet.bar('s', 134, y, width, 5);
            }
            sheet.word("PDF");
        }
        "file" => {
            sheet.bar('f', 112, 36, 96, 84);
            sheet.svg.push_str(
                "<path class=\"s\" d=\"M122 110l26-34 20 24 12-12 18 22z\"/><circle class=\"l\" cx=\"186\" cy=\"60\" r=\"8\"/>",
            );
            sheet.word("One file");
        }
        "e2e" => {
            sheet.svg.push_str(
                "<path class=\"s\" d=\"M140 74v-14a20 20 0 0 1 40 0v14h-9v-14a11 11 0 0 0-22 0v14z\"/>\
                 <rect class=\"l\" x=\"128\" y=\"74\" width=\"64\" height=\"54\" rx=\"8\"/>\
                 <circle class=\"p\" cx=\"160\" cy=\"99\" r=\"7\"/>",
            );
            sheet.word("Encrypted");
        }
        "zip" => {
            for (x, y) in [(112, 40), (124, 52), (136, 64)] {
                sheet.bar('p', x - 2, y - 2, 74, 68);
                sheet.bar('f', x, y, 72, 66);
            }
            sheet.bar('l', 146, 78, 40, 6);
            sheet.word("Several files");
        }
        _ => sheet.lines('f', LEFT, LINE_CHARACTERS * MOST_LINES),
    }
    sheet.finish()
}

/// Draws a placeholder for content that no longer exists.
pub fn blank() -> String {
    let mut sheet = Sheet::new();
    sheet.svg.push_str(
        "<circle class=\"f\" cx=\"160\" cy=\"90\" r=\"34\"/><path class=\"s\" d=\"M144 86h32v8h-32z\"/>",
    );
    sheet.word("No content");
    sheet.finish()
}

/// Text for the drawing: shortened, escaped, and without characters that XML forbids.
fn shown(words: &str) -> String {
    // Twice the shown length is enough to find where the last word ends.
    let letters = words.chars().filter(|c| !c.is_control() && !is_odd(*c)).take(2 * MOST_LETTERS);
    let mut text = String::new();
    for c in shorten(&letters.collect::<String>(), MOST_LETTERS).chars() {
        match c {
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '&' => text.push_str("&amp;"),
            c => text.push(c),
        }
    }
    text
}

/// Noncharacters, and characters that change the text direction.
fn is_odd(c: char) -> bool {
    matches!(c, '\u{fffe}' | '\u{ffff}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
