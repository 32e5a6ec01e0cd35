//! The page before a burn-after-reading page. It reveals nothing of the content.

use super::assets::{Style, style};
use super::{Rendered, safe_link};
use askama::Template;
use std::sync::LazyLock;

static STYLE: LazyLock<Style> = style!("notice.css", "reveal.css");

#[derive(Debug, Clone, Copy)]
pub struct Reveal<'a> {
    /// The target of the button; `None` for the page's own URL, which keeps the key in its fragment.
    pub action: Option<&'a str>,
    /// How long the viewer may view the page again.
    pub window_seconds: i64,
    /// The link to report this page.
    pub report: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "reveal.html")]
struct RevealTemplate<'a> {
    style: &'static str,
    action: Option<&'a str>,
    minutes: &'static str,
    report: Option<&'a str>,
}

pub fn reveal(reveal: &Reveal<'_>) -> Rendered {
    let page = RevealTemplate {
        style: STYLE.text,
        action: reveal.action.and_then(safe_link),
        minutes: if reveal.window_seconds > 60 { "ten minutes" } else { "one minute" },
        report: reveal.report.and_then(safe_link),
    };
    // Rendering writes into a String and cannot fail.
    Rendered { html: page.render().unwrap_or_default(), style_source: &STYLE.source }
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_sound;
    use super::*;

    const PLAIN: Reveal<'_> =
        Reveal { action: Some("/p/x/_dropleaf/reveal"), window_seconds: 60, report: None };

    #[test]
    fn the_button_works_without_script_and_says_how_long() {
        let page = reveal(&PLAIN);
        assert_sound(&page);
        assert!(
            page.html.contains("<form method=\"post\" action=\"/p/x/_dropleaf/reveal\">"),
            "{}",
            page.html
        );
        assert!(page.html.contains("one minute"));
        assert!(reveal(&Reveal { window_seconds: 600, ..PLAIN }).html.contains("ten minutes"));
    }

    #[test]
    fn without_an_action_the_form_keeps_the_address_and_its_fragment() {
        let page = reveal(&Reveal { action: None, ..PLAIN });
        assert_sound(&page);
        assert!(page.html.contains("<form method=\"post\">"));
    }

    #[test]
    fn the_report_link_appears_only_when_given() {
        assert!(!reveal(&PLAIN).html.contains("<a "));
        let page = reveal(&Reveal { report: Some("/p/x/_dropleaf/report"), ..PLAIN });
        assert!(page.html.contains("href=\"/p/x/_dropleaf/report\""));
    }
}
