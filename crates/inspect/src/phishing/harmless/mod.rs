//! Proves of most pages that are only read that [`super::check`] would not refuse them, much faster than the check itself.
//!
//! Such a page has nothing to fill in, no script, no frame and no redirect, so only rules for lures without a form could refuse it;
//! those are for pages with little text, or with a telephone number on one of medium length. Whatever is not proven is checked.

mod visible_text;

use dropleaf_core::html::{Element, Tag, Token, Tokens};
use dropleaf_core::mime::{is_html, mime_of};

use super::detectors::LONG_TEXT;
use super::detectors::lures::SHORT_LURE;
use super::reader::attributes::hides_text;
use super::reader::hidden_text::Concealment;
use super::rules::Rules;
use super::upload::{File, FileKind, kind};
use visible_text::VisibleText;

/// Whether the check cannot refuse an upload of these files. False means only that it is not proven.
pub fn is_harmless(files: &[File<'_>], rules: &Rules) -> bool {
    !rules.hosts.has_blocked()
        && rules.refuse_at > 1.0
        && files.iter().all(|file| match kind(file.path) {
            FileKind::Page => is_html(mime_of(file.path)) && is_harmless_page(file.text),
            FileKind::Script => false,
            FileKind::Source | FileKind::Other => true,
        })
}

fn is_harmless_page(page: &str) -> bool {
    if page.len() <= SHORT_LURE {
        return false;
    }
    let mut concealment = Concealment::default();
    let mut text = VisibleText::default();
    let mut is_styled = false;
    let mut tokens = Tokens::new(page, false);
    while let Some(token) = tokens.next() {
        match token {
            // A style sheet in a drawing.
            Token::Text(_) if is_styled => return false,
            Token::Text(content) => text.add(content),
            Token::Open => {
                let tag = &tokens.tag;
                if !is_plain(tag, &mut concealment) {
                    return false;
                }
                is_styled = tag.name.element == Element::Style;
                text.pass(tag.name.is_inline());
                if matches!(tag.name.element, Element::Image | Element::Meta) {
                    ["alt", "title", "content"]
                        .iter()
                        .filter_map(|name| tag.get(name))
                        .for_each(|it| text.add_hint(it));
                }
            }
            Token::Close(name) => {
                is_styled = false;
                text.pass(name.is_inline());
            }
            Token::Comment(_) => {}
            Token::Raw(name, content) => match name.element {
                Element::Title => text.add(content),
                Element::Style => concealment.read_sheet(content),
                _ => return false,
            },
        }
    }
    text.bytes > LONG_TEXT || (text.bytes > SHORT_LURE && !text.may_have_phone)
}

/// Whether an element neither asks, runs, frames, redirects nor hides anything.
fn is_plain(tag: &Tag<'_>, concealment: &mut Concealment) -> bool {
    let is_known = match tag.name.element {
        Element::Other
        | Element::Heading
        | Element::Quote
        | Element::Navigation
        | Element::Image
        | Element::Picture
        | Element::Drawing
        | Element::Style
        | Element::Title
        | Element::Reference => !tag.name.is_never_shown() && !tag.name.is_shown_if_open(),
        Element::Link | Element::Area => {
            ["href", "xlink:href"].iter().all(|name| tag.get(name).is_none_or(is_plain_address))
        }
        Element::Meta => tag.get("http-equiv").is_none(),
        Element::Button
        | Element::Choice
        | Element::Form
        | Element::Field
        | Element::Label
        | Element::Script
        | Element::Frame
        | Element::Fallback
        | Element::Formula
        | Element::Island => false,
    };
    if !is_known || tag.attributes.is_empty() {
        return is_known;
    }
    concealment.note_background(tag);
    let is_handler = |name: &str| name.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("on"));
    !tag.attributes.iter().any(|(name, _)| is_handler(name))
        && !concealment.conceals(tag)
        && !tag.get("style").is_some_and(hides_text)
}

/// Whether a link leads to a page: it contains no file, runs nothing and calls no number.
fn is_plain_address(address: &str) -> bool {
    let begins = ["https://", "http://", "mailto:", "#", "/", "./", "../"];
    begins.iter().any(|start| address.starts_with(start))
        || address
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn harmless(page: &str) -> bool {
        is_harmless(&[File { path: "index.html", text: page }], &Rules::builtin())
    }

    /// A report of this many paragraphs of about 90 visible bytes, with something in the middle.
    fn report(paragraphs: usize, inside: &str) -> String {
        let line = "<p class=line>The quarterly figures of the northern region grew by 12 % &amp; more.</p>\
                    <ul><li>Sales of 1800 units at 4.50 each, returned: 18</ul>\n";
        let half = line.repeat(paragraphs / 2);
        format!(
            "<!doctype html><html lang=en><head><meta charset=utf-8><title>Report</title><style>p{{margin:0}}</style>\
             </head><body><h1>Report</h1>{half}{inside}{half}<a href=https://acorn.example/>More</a></body></html>"
        )
    }

    #[test]
    fn pages_that_are_only_read_are_proven() {
        assert!(harmless(&report(60, "")));
        assert!(harmless(&report(
            60,
            "<table><tr><td>800<td>555<td>1234567</table><img src=a.png alt=Chart>"
        )));
        assert!(
            harmless(&report(200, "Call 1-800-555-0199 now.")),
            "on a long page a number is nothing special"
        );
        assert!(harmless(&report(60, "<b>1800</b> units, <b>8</b>, 80, <i>88</i> 3, <b>800</b>")));
        assert!(harmless(&report(60, "<b>Größe</b> – „äöü“ 数 ✓")));
    }

    #[test]
    fn what_could_be_refused_is_not_proven() {
        for inside in [
            "<form action=x.php>",
            "<input name=q>",
            "<textarea></textarea>",
            "<button>Go</button>",
            "<script>1</script>",
            "<p onclick=go()>",
            "<iframe src=https://acorn.example></iframe>",
            "<meta http-equiv=refresh content='0;url=https://acorn.example'>",
            "<a href=javascript:go()>",
            "<a href=' javascript:go()'>",
            "<a href='java&#115;cript:go()'>",
            "<a href='data:text/html,x' download>",
            "<a href=tel:+18005550199>",
            "<map><area href=javascript:go()></map>",
            "<svg><a xlink:href=javascript:go()>x</a></svg>",
            "<dialog>x</dialog>",
            "<canvas>x</canvas>",
            "<style>p.line{display:none}</style>",
            "<div hidden>x",
            "<div style='display:none'>x",
            "<span style='font-size:0'>x</span>",
            "<style>.line{display:none}</style><p class=line>",
            "<template>x</template>",
            "<noscript>x</noscript>",
            "<svg><script>1</script></svg>",
            "Call 1-800-555-0199 now.",
            "Call 8<b>00</b> 555 0199 44.",
            "Call 80<b>0</b>5550199 44.",
            "Call 800<b> 555 0199 44</b>.",
            "Call 8<b>0<i>0</i> 5</b>55 0199 44.",
            "<img alt='Call 800 555 0199 44' src=a.png>",
            "<meta name=application-name content='800 555 0199 44'>",
            "<svg><style>p{}</style></svg>",
            "Call &#56;00 555 0199 44.",
            "Call ８00 555 0199 44.",
            "Call 8\u{200b}00 555 0199 44.",
            "Call 8\u{ad}00 555 0199 44.",
            "Call 800,\n\t   555,   \n\n  0199 44.",
            "Call 800&#1;555&#31;0199&#127;44.",
            "Call 800 &nbsp; &nbsp; -----5550199.",
            "Call 800 &shy; ------555019.",
        ] {
            assert!(!harmless(&report(60, inside)), "{inside}");
        }
        assert!(!harmless(&report(6, "")), "short pages are checked");
        let hidden = format!("<p>{}</p>", "&zwnj;".repeat(3000));
        assert!(!harmless(&hidden), "references may stand for nothing");
    }

    #[test]
    fn an_endless_number_takes_no_longer_than_other_text() {
        for part in [" <b>", " <!---->", ", </b>", "<i>8</i>", " 8<b> "] {
            // Quadratic time would take minutes.
            let page = report(60, &format!("<p>800{}", part.repeat(200_000)));
            let is_long_text = part.contains('8');
            assert_eq!(harmless(&page), is_long_text, "{part}");
        }
    }

    #[test]
    fn every_page_must_be_harmless_and_scripts_are_checked() {
        let rules = Rules::builtin();
        let (page, script) = (report(60, ""), "let a = 1");
        let of = |path, text| File { path, text };
        assert!(is_harmless(
            &[of("a.html", &page), of("b.html", &page), of("c.css", ""), of("d.md", "")],
            &rules
        ));
        for other in [of("b.html", "<input>"), of("b.js", script), of("b.svg", &page)] {
            assert!(!is_harmless(&[of("a.html", &page), other], &rules), "{}", other.path);
        }
        let blocked =
            Rules::with(crate::phishing::Lists { hosts: "[blocked]\nacorn.example\n", ..Default::default() });
        assert!(!is_harmless(&[of("a.html", &page)], &blocked));
    }
}
