//! Sets the text direction of each block of a rendered page, by the letters in it. Works on the renderer's HTML, in linear
//! time. Code and URLs do not count: they are left-to-right in every language.

/// Elements that get their own direction.
const BLOCKS: [&str; 17] = [
    "p",
    "li",
    "td",
    "th",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "blockquote",
    "div",
    "summary",
    "dt",
    "dd",
    "caption",
    "figcaption",
];
/// The label of an alert and that of a diagram's source are generated, not the author's text.
const OURS: [&str; 2] = ["<p class=\"alert\">", "<summary class=\"source\">"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Ltr,
    Rtl,
}

impl Direction {
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "ltr" => Some(Self::Ltr),
            "rtl" => Some(Self::Rtl),
            _ => None,
        }
    }

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Ltr => "ltr",
            Self::Rtl => "rtl",
        }
    }

    /// The direction of a letter; `None` for digits, punctuation and spaces (the strong types of UAX #9).
    fn of(c: char) -> Option<Self> {
        match c {
            '\u{200e}' => Some(Self::Ltr),
            '\u{200f}' | '\u{61c}' => Some(Self::Rtl),
            c if !c.is_alphabetic() => None,
            '\u{590}'..='\u{8ff}'
            | '\u{fb1d}'..='\u{fdff}'
            | '\u{fe70}'..='\u{fefe}'
            | '\u{10800}'..='\u{10fff}'
            | '\u{1e800}'..='\u{1efff}' => Some(Self::Rtl),
            _ => Some(Self::Ltr),
        }
    }
}

/// The page with `dir` on each block whose direction differs from that of the enclosing block, and the direction of the page
/// itself: the stated one, else that of most letters. The direction of a block is that of its first letter.
pub(super) fn annotate(html: String, stated: Option<Direction>) -> (String, Direction) {
    let is_plain =
        stated != Some(Direction::Rtl) && html.chars().all(|c| Direction::of(c) != Some(Direction::Rtl));
    if is_plain {
        return (html, Direction::Ltr);
    }
    let mut scan = Scan::default();
    scan.read(&html);
    let by_letters = if scan.rtl_letters > scan.ltr_letters { Direction::Rtl } else { Direction::Ltr };
    let page = stated.unwrap_or(by_letters);
    (scan.written(&html, page), page)
}

/// A block, in 12 bytes: a page may have more than a million.
struct Block {
    /// The offset of its attributes in the page, which is far smaller than 4 GiB.
    attributes_at: u32,
    /// The index of the enclosing block plus one; 0 if there is none.
    parent: u32,
    direction: Option<Direction>,
    is_stated: bool,
}

#[derive(Default)]
struct Scan<'h> {
    blocks: Vec<Block>,
    /// Names and indices of the open blocks.
    open: Vec<(&'h str, u32)>,
    /// The open blocks without a letter so far.
    undecided: Vec<u32>,
    /// An element whose text is skipped, and its nesting depth.
    skipped: Option<(&'h str, usize)>,
    ltr_letters: usize,
    rtl_letters: usize,
}

impl<'h> Scan<'h> {
    fn read(&mut self, html: &'h str) {
        let mut at = 0;
        while let Some(tag_at) = html[at..].find('<').map(|found| at + found) {
            self.text(&html[at..tag_at]);
            let Some(len) = tag_len(&html[tag_at..]) else { return };
            self.tag(&html[tag_at..tag_at + len], tag_at);
            at = tag_at + len;
        }
        self.text(&html[at..]);
    }

    fn tag(&mut self, tag: &'h str, at: usize) {
        let is_end = tag.starts_with("</");
        let name_at = if is_end { 2 } else { 1 };
        let rest = &tag[name_at..];
        let name = &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len())];
        if let Some((skipped, depth)) = &mut self.skipped {
            if name == *skipped {
                *depth = if is_end { *depth - 1 } else { *depth + 1 };
            }
            if *depth == 0 {
                self.skipped = None;
            }
        } else if !is_end && (matches!(name, "code" | "pre" | "math" | "svg") || OURS.contains(&tag)) {
            self.skipped = Some((name, 1));
        } else if BLOCKS.contains(&name) {
            if is_end {
                self.close(name);
            } else {
                self.open(name, at + name_at + name.len());
                self.state(tag);
            }
        }
    }

    fn open(&mut self, name: &'h str, attributes_at: usize) {
        let number = number(self.blocks.len());
        let parent = self.open.last().map_or(0, |(_, around)| around + 1);
        self.blocks.push(Block {
            attributes_at: self::number(attributes_at),
            parent,
            direction: None,
            is_stated: false,
        });
        self.open.push((name, number));
        self.undecided.push(number);
    }

    /// Uses the direction that the author states for a block.
    fn state(&mut self, tag: &str) {
        let Some((_, rest)) = tag.split_once(" dir=\"") else { return };
        let Some(number) = self.undecided.pop() else { return };
        let block = &mut self.blocks[number as usize];
        block.direction = rest.split('"').next().and_then(Direction::parse);
        block.is_stated = true;
    }

    /// The renderer closes what it opens; any other end tag is ignored.
    fn close(&mut self, name: &str) {
        let Some((_, number)) = self.open.pop_if(|(open, _)| *open == name) else { return };
        self.undecided.pop_if(|undecided| *undecided == number);
    }

    fn text(&mut self, text: &str) {
        if self.skipped.is_some() || is_address(text) {
            return;
        }
        let mut in_entity = false;
        for c in text.chars() {
            if in_entity || c == '&' {
                in_entity = c != ';';
                continue;
            }
            let Some(direction) = Direction::of(c) else { continue };
            match direction {
                Direction::Ltr => self.ltr_letters += 1,
                Direction::Rtl => self.rtl_letters += 1,
            }
            for number in self.undecided.drain(..) {
                self.blocks[number as usize].direction = Some(direction);
            }
        }
    }

    fn written(mut self, html: &str, page: Direction) -> String {
        let mut written = String::with_capacity(html.len() + html.len() / 16);
        let mut done = 0;
        for number in 0..self.blocks.len() {
            let Block { attributes_at, parent, direction, is_stated } = self.blocks[number];
            // Blocks come after their enclosing blocks, whose direction is known by now.
            let around = (parent as usize).checked_sub(1).and_then(|parent| self.blocks[parent].direction);
            let around = around.unwrap_or(page);
            let own = direction.unwrap_or(around);
            self.blocks[number].direction = Some(own);
            if own != around && !is_stated {
                written.push_str(&html[done..attributes_at as usize]);
                written.push_str(match own {
                    Direction::Ltr => " dir=\"ltr\"",
                    Direction::Rtl => " dir=\"rtl\"",
                });
                done = attributes_at as usize;
            }
        }
        written.push_str(&html[done..]);
        written
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The length of the tag at the start of the text; a `>` inside quotes does not end it.
pub(super) fn tag_len(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, b) in text.bytes().enumerate() {
        match (b, quote) {
            (b'>', None) => return Some(at + 1),
            (b'"' | b'\'', None) => quote = Some(b),
            (b, Some(open)) if b == open => quote = None,
            _ => {}
        }
    }
    None
}

/// Whether this is the text of a link that shows its own URL.
fn is_address(text: &str) -> bool {
    let starts = ["https://", "http://", "www."].iter().any(|start| text.starts_with(start));
    starts || (text.contains('@') && !text.contains(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn annotated(html: &str) -> (String, Direction) {
        annotate(html.to_owned(), None)
    }

    #[test]
    fn blocks_follow_their_first_letter_and_state_only_what_differs() {
        let (html, page) = annotated("<h1>Title</h1><p>שלום <b>world</b></p><p>12:30</p><p>של</p>");
        assert_eq!(page, Direction::Ltr);
        assert_eq!(
            html,
            "<h1>Title</h1><p dir=\"rtl\">שלום <b>world</b></p><p>12:30</p><p dir=\"rtl\">של</p>"
        );
        let (html, page) = annotated("<p>مرحبا بالعالم</p><p>ok</p><p>100 %</p>");
        assert_eq!(page, Direction::Rtl);
        assert_eq!(html, "<p>مرحبا بالعالم</p><p dir=\"ltr\">ok</p><p>100 %</p>");
    }

    #[test]
    fn nested_blocks_are_compared_with_the_one_around_them() {
        let (html, _) = annotated(
            "<blockquote class=\"x\">\n<p>עברית</p><ul>\n<li>אחת<ul>\n<li>two</li></ul></li></ul></blockquote><p>English is longer here</p>",
        );
        assert!(html.starts_with("<blockquote dir=\"rtl\" class=\"x\">\n<p>עברית"), "{html}");
        assert!(html.contains("<li>אחת<ul>\n<li dir=\"ltr\">two"), "{html}");
        assert!(html.ends_with("<p>English is longer here</p>"), "{html}");
    }

    #[test]
    fn code_addresses_entities_and_our_own_words_have_no_say() {
        for first in [
            "<code>npm install</code>",
            "<math><mi>x</mi></math>",
            "<a href=\"https://a.example/\">https://a.example/</a>",
            "<a href=\"mailto:a@b.example\">a@b.example</a>",
            "&lt;&amp;&quot;",
            "<img src=\"a.png\" alt=\"a > b\" />",
        ] {
            let (html, _) = annotated(&format!("<p>Latin letters are the most here</p><p>{first} עברית</p>"));
            assert!(html.contains(&format!("<p dir=\"rtl\">{first}")), "{html}");
        }
        let alert = "<blockquote>\n<p class=\"alert\">Note</p>\n<p>עברית</p>\n</blockquote>";
        let (html, _) = annotated(&format!("<p>Latin letters</p>{alert}"));
        assert!(html.contains("<blockquote dir=\"rtl\">\n<p class=\"alert\">Note</p>\n<p>"), "{html}");
    }

    #[test]
    fn a_stated_direction_is_that_of_the_page() {
        let (html, page) = annotate("<p>only Latin</p><p>1</p>".to_owned(), Some(Direction::Rtl));
        assert_eq!((html.as_str(), page), ("<p dir=\"ltr\">only Latin</p><p>1</p>", Direction::Rtl));
        let html = "<p dir=\"ltr\">א</p><p>ב</p><div dir=\"auto\">ג</div>";
        assert_eq!(annotated(html).0, html, "a block keeps the direction that its author states");
        let (html, page) = annotate("<p>עברית</p>".to_owned(), Some(Direction::Ltr));
        assert_eq!((html.as_str(), page), ("<p dir=\"rtl\">עברית</p>", Direction::Ltr));
    }

    #[test]
    fn odd_html_is_left_as_it_is() {
        for html in ["", "<", "<p", "</p>א", "</li></li>א<", "א<p title=\"", "<code>א", "</code>א", "&א"]
        {
            let (made, _) = annotated(html);
            assert_eq!(made.replace(" dir=\"rtl\"", ""), html);
        }
    }

    #[test]
    fn deep_nesting_takes_linear_time() {
        let deep = format!("{}א", "<blockquote>\n".repeat(200_000));
        assert!(annotated(&deep).0.len() >= deep.len());
        let wide = format!("א{}", "<td>א</td><td>a</td>".repeat(200_000));
        assert!(annotated(&wide).0.len() > wide.len());
    }
}
