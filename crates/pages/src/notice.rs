//! One page for everything that prevents a viewer from seeing a page: missing, gone, locked, broken.

use super::assets::{Style, style};
use super::prose::{Prose, Span};
use super::{Rendered, safe_link};
use askama::Template;
use std::sync::LazyLock;

static STYLE: LazyLock<Style> = style!("notice.css");

#[derive(Debug, Clone, Copy)]
pub struct Notice<'a> {
    pub status: u16,
    pub code: &'a str,
    pub heading: &'a str,
    pub message: &'a str,
    /// A further sentence, such as the setting to change or the request id.
    pub hint: Option<&'a str>,
    /// The base URL, only where it is safe to link to it.
    pub home: Option<&'a str>,
    /// The link to report this page.
    pub report: Option<&'a str>,
}

/// The symbol drawn inside the leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Glyph {
    Missing,
    Clock,
    Cross,
    Check,
    Flame,
    Bar,
    Keyhole,
    Letter,
    Turn,
    Dots,
    Crack,
    Vein,
}

impl Glyph {
    fn of(code: &str) -> Self {
        match code {
            "not_found" => Self::Missing,
            "expired" => Self::Clock,
            "deleted" => Self::Cross,
            "burnt" => Self::Flame,
            "taken_down" => Self::Bar,
            "auth required" | "invalid_credential" | "forbidden" | "cross_site" | "password_required"
            | "wrong_password" => Self::Keyhole,
            "email_required" | "invalid_code" | "mail_not_configured" => Self::Letter,
            "headers_too_large" | "misdirected_host" => Self::Turn,
            "rate_limited" | "overloaded" | "request_timeout" => Self::Dots,
            "internal" | "storage_unavailable" | "storage_full" => Self::Crack,
            _ => Self::Vein,
        }
    }
}

#[derive(Template)]
#[template(path = "notice.html")]
struct NoticeTemplate<'a> {
    style: &'static str,
    status: u16,
    code: &'a str,
    heading: &'a str,
    message: Prose<'a>,
    hint: Prose<'a>,
    home: Option<&'a str>,
    report: Option<&'a str>,
    glyph: Glyph,
}

pub fn notice(n: &Notice<'_>) -> Rendered {
    let page = NoticeTemplate {
        style: STYLE.text,
        status: n.status,
        code: n.code,
        heading: n.heading,
        message: Prose::parse(n.message),
        hint: Prose::parse(n.hint.unwrap_or_default()),
        home: n.home.and_then(safe_link),
        report: n.report.and_then(safe_link),
        glyph: Glyph::of(n.code),
    };
    // Rendering writes into a String and cannot fail.
    Rendered { html: page.render().unwrap_or_default(), style_source: &STYLE.source }
}

#[cfg(test)]
mod tests {
    use super::super::error_text;
    use super::super::tests::{HOSTILE, assert_sound};
    use super::*;

    const CODES: [&str; 17] = [
        "not_found",
        "expired",
        "deleted",
        "burnt",
        "taken_down",
        "password_required",
        "wrong_password",
        "email_required",
        "invalid_code",
        "mail_not_configured",
        "cross_site",
        "headers_too_large",
        "misdirected_host",
        "rate_limited",
        "internal",
        "storage_unavailable",
        "overloaded",
    ];

    fn plain<'a>(code: &'a str, heading: &'a str, message: &'a str) -> Notice<'a> {
        Notice { status: 410, code, heading, message, hint: None, home: None, report: None }
    }

    #[test]
    fn every_code_a_viewer_meets_has_words_and_a_glyph_of_its_own_kind() {
        for code in CODES {
            let (heading, message) = error_text(code).expect(code);
            let page = notice(&plain(code, heading, message));
            assert_sound(&page);
            assert!(page.html.contains(&format!("<h1>{heading}</h1>")), "{code}");
            assert_ne!(Glyph::of(code), Glyph::Vein, "{code}");
        }
    }

    #[test]
    fn hostile_text_stays_text_in_every_field() {
        let page = notice(&Notice {
            status: 404,
            code: HOSTILE,
            heading: HOSTILE,
            message: HOSTILE,
            hint: Some(HOSTILE),
            home: Some("https://a.example/\"><script>"),
            report: Some("/report?\"><script>"),
        });
        assert_sound(&page);
        assert!(page.html.contains("&#60;script&#62;alert(1)"));
    }

    #[test]
    fn links_appear_only_when_given_and_safe() {
        let mut bare = plain("deleted", "Gone", "It is gone.");
        assert!(!notice(&bare).html.contains("<a "));
        bare.home = Some("javascript:alert(1)");
        assert!(!notice(&bare).html.contains("<a "));
        bare.home = Some("https://leaf.example");
        bare.report = Some("/_dropleaf/report");
        let html = notice(&bare).html;
        assert!(
            html.contains("href=\"https://leaf.example\"") && html.contains("href=\"/_dropleaf/report\"")
        );
    }

    #[test]
    fn a_hint_may_hold_code() {
        let mut page = plain("misdirected_host", "Nothing", "Here.");
        page.hint = Some("Set `base_url`.");
        assert!(notice(&page).html.contains("<code>base_url</code>"));
    }
}
