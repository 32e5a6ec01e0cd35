//! The text of a page as a reader sees it, one line for each block: for programs that want to read a page, not its markup.
//! Styles are not applied, so text that they hide is included.

use super::character_references::{Context, decode};
use super::{Element, Name, Token, Tokens};

/// The text of an HTML document. Its title is the first line.
pub fn visible_text(page: &str) -> String {
    let mut text = VisibleText::default();
    let mut tokens = Tokens::new(page, false);
    while let Some(token) = tokens.next() {
        match token {
            Token::Text(raw) => text.write(&decode(raw, Context::Text)),
            Token::Open => {
                let name = tokens.tag.name;
                text.open(name);
                if name.is("img")
                    && let Some(alt) = tokens.tag.get("alt")
                {
                    text.write(&decode(alt, Context::Attribute));
                }
            }
            Token::Close(name) => text.close(name),
            Token::Raw(name, raw) if name.element == Element::Title || name.is("textarea") => {
                text.write(&decode(raw, Context::Text));
            }
            Token::Raw(..) | Token::Comment(_) => {}
        }
    }
    text.finish()
}

#[derive(Default)]
struct VisibleText {
    made: String,
    /// Space to write before the next word.
    space: bool,
    /// Open `pre` elements, whose space is kept.
    verbatim: usize,
}

impl VisibleText {
    fn open(&mut self, name: Name) {
        if name.is("td") || name.is("th") {
            self.space = true;
            return;
        }
        if !name.is_inline() {
            self.end_line();
        }
        if name.is("li") {
            self.made.push_str("- ");
        }
        if name.is("pre") {
            self.verbatim += 1;
        }
    }

    fn close(&mut self, name: Name) {
        if name.is("pre") {
            self.verbatim = self.verbatim.saturating_sub(1);
        }
        if name.is("td") || name.is("th") {
            self.space = true;
        } else if !name.is_inline() {
            self.end_line();
        }
    }

    fn write(&mut self, text: &str) {
        if self.verbatim > 0 {
            self.made.push_str(text);
            return;
        }
        self.space |= text.starts_with(char::is_whitespace);
        for word in text.split_whitespace() {
            if self.space && !self.made.is_empty() && !self.made.ends_with(['\n', ' ']) {
                self.made.push(' ');
            }
            self.made.push_str(word);
            self.space = true;
        }
        self.space = text.ends_with(char::is_whitespace) || (self.space && text.trim().is_empty());
    }

    fn end_line(&mut self) {
        self.space = false;
        if !self.made.is_empty()
            && !self.made.ends_with('\n')
            && !self.made.ends_with("\n- ")
            && self.made != "- "
        {
            self.made.push('\n');
        }
    }

    fn finish(mut self) -> String {
        self.end_line();
        self.made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_lines_and_markup_is_left_out() {
        let page = "<!doctype html><title>A &amp; B</title><style>p{}</style><script>x</script>\
                    <h1>One  <b>bold</b>word</h1><!-- no --><p>Two\n lines<br>three</p>\
                    <ul><li>a<li><p>b</p></ul><table><tr><td>1<td>2</table><img alt='A tree'>";
        assert_eq!(visible_text(page), "A & B\nOne boldword\nTwo lines\nthree\n- a\n- b\n1 2\nA tree\n");
    }

    #[test]
    fn preformatted_text_keeps_its_space() {
        assert_eq!(visible_text("<p>x</p><pre>a\n  b</pre>y"), "x\na\n  b\ny\n");
        assert_eq!(visible_text(""), "");
        assert_eq!(visible_text("plain text"), "plain text\n");
    }
}
