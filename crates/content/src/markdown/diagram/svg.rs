//! Rewrites a drawing from an allowlist of SVG elements and attributes. The renderer is not trusted, because its output
//! contains untrusted text. Unneeded attributes, links and tooltips are dropped; anything else that is not listed rejects the
//! drawing. The result has no script, style, link or URL, every element is closed, and the only ids are those of markers and
//! gradients, with a prefix that is unique to each drawing.

use dropleaf_core::html::character_references::{Context, decode};

use super::values::{self, AttributeValue};
use crate::sanitize::{push_attribute, push_text};

/// The elements that are kept.
const ELEMENTS: [&str; 13] = [
    "circle",
    "defs",
    "ellipse",
    "g",
    "line",
    "linearGradient",
    "marker",
    "path",
    "polygon",
    "polyline",
    "rect",
    "stop",
    "text",
];
/// Dropped with its content: a tooltip.
const WITHOUT_CONTENT: &str = "title";
/// The maximum nesting of elements; drawings have about five levels.
const DEEPEST: usize = 32;

/// A drawing that is safe to put into a page.
#[derive(Debug)]
pub(super) struct Drawing {
    /// The content of the `svg` element.
    pub(super) content: String,
    pub(super) view_box: String,
    pub(super) width: f32,
    pub(super) height: f32,
}

/// `None` if the input contains anything but a drawing, or the result would be longer than `most_bytes`.
pub(super) fn rewrite(svg: &str, prefix: &str, most_bytes: usize) -> Option<Drawing> {
    let rest = svg.strip_prefix("<svg ")?;
    let (root, rest) = rest.split_once('>')?;
    let mut view_box = None;
    for (name, value) in attributes(root)? {
        if name == "viewBox" {
            view_box = Some(value);
        }
    }
    let view_box = view_box?;
    let numbers = values::numbers(view_box).filter(|numbers| numbers.len() == 4)?;
    let content = rest.strip_suffix("</svg>")?;
    let mut writer = Writer { made: String::with_capacity(content.len()), open: Vec::new(), prefix };
    writer.read(content, most_bytes)?;
    let (width, height) = (numbers[2], numbers[3]);
    let is_drawn = width > 0.0 && height > 0.0 && !writer.made.is_empty();
    is_drawn.then(|| Drawing { content: writer.made, view_box: view_box.to_owned(), width, height })
}

struct Writer<'a> {
    made: String,
    open: Vec<&'static str>,
    prefix: &'a str,
}

impl Writer<'_> {
    fn read(&mut self, content: &str, most_bytes: usize) -> Option<()> {
        let mut rest = content;
        while let Some((text, after)) = rest.split_once('<') {
            self.text(text)?;
            let (tag, next) = after.split_once('>')?;
            rest = next;
            if tag.split([' ', '/']).next() == Some(WITHOUT_CONTENT) {
                let (dropped, next) = rest.split_once("</title>")?;
                if dropped.contains('<') {
                    return None;
                }
                rest = next;
                continue;
            }
            self.tag(tag)?;
            if self.made.len() > most_bytes {
                return None;
            }
        }
        self.text(rest)?;
        self.open.is_empty().then_some(())
    }

    /// Text is allowed only inside `text`; elsewhere there may only be white space.
    fn text(&mut self, text: &str) -> Option<()> {
        if text.contains('>') {
            return None;
        }
        if self.open.contains(&"text") {
            push_text(&mut self.made, &decode(text, Context::Text).replace(is_unseen, ""));
            return Some(());
        }
        text.trim().is_empty().then_some(())
    }

    fn tag(&mut self, tag: &str) -> Option<()> {
        if let Some(name) = tag.strip_prefix('/') {
            // The content of a link is kept, the link is not.
            if name == "a" {
                return Some(());
            }
            let open = self.open.pop().filter(|open| *open == name)?;
            self.made.push_str("</");
            self.made.push_str(open);
            self.made.push('>');
            return Some(());
        }
        let (tag, is_closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, written) = tag.split_once(' ').unwrap_or((tag, ""));
        let attributes = attributes(written)?;
        if name == "a" {
            return Some(());
        }
        let name = if name == "tspan" { "tspan" } else { *ELEMENTS.iter().find(|known| **known == name)? };
        self.made.push('<');
        self.made.push_str(name);
        for (attribute, value) in attributes {
            self.attribute(name, attribute, value)?;
        }
        if is_closed {
            self.made.push_str("/>");
            return Some(());
        }
        self.made.push('>');
        self.open.push(name);
        (self.open.len() <= DEEPEST).then_some(())
    }

    fn attribute(&mut self, element: &str, name: &str, value: &str) -> Option<()> {
        let value = decode(value, Context::Attribute);
        let value = match values::check_attribute(element, name, value.trim(), self.prefix) {
            AttributeValue::Kept(value) => value,
            AttributeValue::LeftOut => return Some(()),
            AttributeValue::Refused => return None,
        };
        self.made.push(' ');
        self.made.push_str(name);
        self.made.push_str("=\"");
        push_attribute(&mut self.made, &value);
        self.made.push('"');
        Some(())
    }
}

/// The names and values of a tag written as `name="value" …`; no other syntax is accepted.
fn attributes(written: &str) -> Option<Vec<(&str, &str)>> {
    if written.contains('<') {
        return None;
    }
    let parts: Vec<&str> = written.split('"').collect();
    let (pairs, end) = parts.as_chunks::<2>();
    // What follows the last quote; without it, the last value is not closed.
    if end.first()?.trim() != "" {
        return None;
    }
    let mut found: Vec<(&str, &str)> = Vec::with_capacity(pairs.len());
    for [name, value] in pairs {
        let name = name.trim_start().strip_suffix('=')?;
        let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b':'));
        if !is_name || name.is_empty() || found.iter().any(|(known, _)| *known == name) {
            return None;
        }
        found.push((name, value));
    }
    Some(found)
}

/// Control characters do not belong in a page, and characters that set the text direction could affect text outside their
/// label.
fn is_unseen(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(inside: &str) -> Option<String> {
        let svg = format!("<svg xmlns=\"x\" viewBox=\"0 0 10 20\">{inside}</svg>");
        rewrite(&svg, "d1-", 10_000).map(|drawing| drawing.content)
    }

    #[test]
    fn shapes_and_text_are_kept_and_the_rest_of_them_is_left_out() {
        for (inside, expected) in [
            (
                "<g class=\"node\" data-x=\"1\"><rect id=\"a\" x=\"-1.5\" width=\"10\" fill=\"#ECECFF\"/></g>",
                "<g><rect x=\"-1.5\" width=\"10\" fill=\"#ECECFF\"/></g>",
            ),
            (
                "<text font-family=\"x, &quot;y&quot;\" text-anchor=\"middle\"><tspan dy=\"1em\">a &lt;b&gt; &amp; c</tspan></text>",
                "<text text-anchor=\"middle\"><tspan dy=\"1em\">a &lt;b&gt; &amp; c</tspan></text>",
            ),
            (
                "<defs><marker id=\"arrow-0\" orient=\"auto\"><path d=\"M 0 0 L 10 5 z\" fill=\"red\"/></marker></defs>",
                "<defs><marker id=\"d1-arrow-0\" orient=\"auto\"><path d=\"M 0 0 L 10 5 z\" fill=\"red\"/></marker></defs>",
            ),
            (
                "<path d=\"M0 0\"  marker-end=\"url(#arrow-0)\" />",
                "<path d=\"M0 0\" marker-end=\"url(#d1-arrow-0)\"/>",
            ),
            ("<a href=\"javascript:x\"><rect/><title>tip</title></a>", "<rect/>"),
            ("<text>a\u{202e}b\u{1}</text>", "<text>ab</text>"),
        ] {
            assert_eq!(content(inside).as_deref(), Some(expected), "{inside}");
        }
    }

    #[test]
    fn anything_else_means_no_drawing() {
        for inside in [
            "",
            "<script>alert(1)</script>",
            "<style>*{}</style>",
            "<foreignObject><div>x</div></foreignObject>",
            "<image href=\"x\"/>",
            "<use href=\"#x\"/>",
            "<animate attributeName=\"x\"/>",
            "<set/>",
            "<G/>",
            "<svg></svg>",
            "<g>",
            "</g>",
            "<g></rect>",
            "words",
            "<g>words</g>",
            "<text>a > b</text>",
            "<text><b>x</b></text>",
            "<title><script></title>",
            "<title>",
            "<!-- x --><rect/>",
            "<![CDATA[x]]><rect/>",
            "<?xml?><rect/>",
            "<rect x='1'/>",
            "<rect x=1/>",
            "<rect x/>",
            "<rect x=\"1\" x=\"2\"/>",
            "<rect x=\"1/>",
            "<rect x=\"NaN\"/>",
            "<rect fill=\"url(https://evil.example/)\"/>",
            "<rect fill=\"url(#a) url(//b)\"/>",
            "<path d=\"M0 0;alert(1)\"/>",
            "<rect transform=\"foo(1)\"/>",
            "<rect fill=\"red\" onload=\"a<b\"/>",
        ] {
            assert_eq!(content(inside), None, "{inside}");
        }
        for svg in [
            "",
            "<svg>",
            "<svg viewBox=\"0 0 1 1\"><rect/>",
            "<svg width=\"1\"><rect/></svg>",
            "x<svg ></svg>",
        ] {
            assert!(rewrite(svg, "d1-", 1000).is_none(), "{svg}");
        }
        for view_box in ["0 0 0 5", "0 0 5 -1", "0 0 5", "NaN 0 5 5", "0 0 inf 5", "0 0 1e9 5"] {
            let svg = format!("<svg viewBox=\"{view_box}\"><rect/></svg>");
            assert!(rewrite(&svg, "d1-", 1000).is_none(), "{view_box}");
        }
    }

    #[test]
    fn handlers_and_styles_are_left_out() {
        let made =
            content("<rect onload=\"alert(1)\" style=\"background:url(x)\" href=\"x\" xlink:href=\"y\"/>");
        assert_eq!(made.as_deref(), Some("<rect/>"));
    }

    #[test]
    fn depth_and_length_are_bounded() {
        let deep = |levels: usize| format!("{}{}", "<g>".repeat(levels), "</g>".repeat(levels));
        assert!(content(&deep(DEEPEST)).is_some());
        assert_eq!(content(&deep(DEEPEST + 1)), None);
        assert_eq!(content(&"<rect/>".repeat(10_000)), None);
    }
}
