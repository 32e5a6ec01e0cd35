//! The page before a page that is waiting for the operator's review. It shows nothing of the content.

use super::assets::{Style, style};
use super::{Rendered, safe_link};
use askama::Template;
use std::sync::LazyLock;

static STYLE: LazyLock<Style> = style!("notice.css", "reveal.css");

#[derive(Debug, Clone, Copy)]
pub struct Warning<'a> {
    /// The target of the button; `None` for the page's own URL, which keeps the key in its fragment.
    pub action: Option<&'a str>,
    /// Where the button leads in the end.
    pub to: &'a str,
    /// The page was published without an account.
    pub is_anonymous: bool,
    /// The link to report this page.
    pub report: &'a str,
}

#[derive(Template)]
#[template(path = "warning.html")]
struct WarningTemplate<'a> {
    style: &'static str,
    action: Option<&'a str>,
    to: &'a str,
    is_anonymous: bool,
    report: Option<&'a str>,
}

pub fn warning(warning: &Warning<'_>) -> Rendered {
    let page = WarningTemplate {
        style: STYLE.text,
        action: warning.action.and_then(safe_link),
        to: warning.to,
        is_anonymous: warning.is_anonymous,
        report: safe_link(warning.report),
    };
    // Rendering writes into a String and cannot fail.
    Rendered { html: page.render().unwrap_or_default(), style_source: &STYLE.source }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{HOSTILE, assert_sound};
    use super::*;

    const PLAIN: Warning<'_> = Warning {
        action: Some("/p/x/_dropleaf/continue"),
        to: "/p/x/a.html?b=1",
        is_anonymous: true,
        report: "/p/x/_dropleaf/report",
    };

    #[test]
    fn the_page_warns_and_continues_without_script() {
        let page = warning(&PLAIN);
        assert_sound(&page);
        for part in [
            "<form method=\"post\" action=\"/p/x/_dropleaf/continue\">",
            "<input type=\"hidden\" name=\"to\" value=\"/p/x/a.html?b=1\">",
            "published without an account",
            "Do not enter a password",
            "href=\"/p/x/_dropleaf/report\"",
        ] {
            assert!(page.html.contains(part), "{part}: {}", page.html);
        }
        let owned = warning(&Warning { is_anonymous: false, ..PLAIN });
        assert!(!owned.html.contains("without an account") && owned.html.contains("not been reviewed"));
    }

    #[test]
    fn without_an_action_the_form_keeps_the_address_and_its_fragment() {
        assert!(warning(&Warning { action: None, ..PLAIN }).html.contains("<form method=\"post\">"));
    }

    #[test]
    fn hostile_addresses_stay_text() {
        assert_sound(&warning(&Warning { action: Some(HOSTILE), to: HOSTILE, report: HOSTILE, ..PLAIN }));
    }
}
