//! The home page of the API host: what this is, publishing a file without an account, and the commands to use it.

use super::assets::{FRONT_PAGE_JS, Style, style};
use super::{Rendered, Size};
use askama::Template;
use std::sync::LazyLock;

/// Shared with the page that shows the result of an upload.
pub(crate) static STYLE: LazyLock<Style> = style!("drop.css", "landing.css");

#[derive(Debug, Clone, Copy)]
pub struct Landing<'a> {
    pub base_url: &'a str,
    pub site_url: &'a str,
    pub version: &'a str,
    pub anonymous_hours: i64,
    pub max_upload_bytes: i64,
    /// Whether pages can be published without an account.
    pub anonymous: bool,
    /// Whether pages can be paid for.
    pub sells: bool,
}

#[derive(Template)]
#[template(path = "landing.html")]
struct LandingTemplate<'a> {
    style: &'static str,
    script: String,
    base_url: &'a str,
    site_url: &'a str,
    version: &'a str,
    anonymous_hours: i64,
    max_upload_bytes: i64,
    largest: Size,
    anonymous: bool,
    sells: bool,
}

pub fn landing(l: &Landing<'_>) -> Rendered {
    let page = LandingTemplate {
        style: STYLE.text,
        script: FRONT_PAGE_JS.path(),
        base_url: l.base_url.trim_end_matches('/'),
        site_url: l.site_url.trim_end_matches('/'),
        version: l.version,
        anonymous_hours: l.anonymous_hours,
        max_upload_bytes: l.max_upload_bytes,
        largest: Size(l.max_upload_bytes),
        anonymous: l.anonymous,
        sells: l.sells,
    };
    // Rendering writes into a String and cannot fail.
    Rendered { html: page.render().unwrap_or_default(), style_source: &STYLE.source }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{HOSTILE, assert_sound_with};
    use super::*;

    fn assert_sound(page: &Rendered) {
        assert_sound_with(page, &FRONT_PAGE_JS);
    }

    fn sample() -> Landing<'static> {
        Landing {
            base_url: "https://api.leaf.example/",
            site_url: "https://pages.leaf.example",
            version: "0.1.0",
            anonymous_hours: 24,
            max_upload_bytes: 25 << 20,
            anonymous: true,
            sells: true,
        }
    }

    #[test]
    fn the_commands_carry_the_base_url() {
        let page = landing(&sample());
        assert_sound(&page);
        assert!(page.html.contains("curl -F file=@page.html https://api.leaf.example/sites"));
        assert!(page.html.contains("https://pages.leaf.example/p/"));
        for link in ["/docs", "/openapi.json", "/login", "/auth.md", "/llms.txt", "/design-guide"] {
            let link = format!("href=\"{link}\"");
            assert!(page.html.contains(&link), "{link}");
        }
        assert!(page.html.contains("24 hours") && page.html.contains("25 MiB"));
    }

    #[test]
    fn a_server_without_anonymous_pages_offers_none() {
        let page = landing(&Landing { anonymous: false, ..sample() });
        assert_sound(&page);
        for gone in ["/drop", "data-upload", "data-kept-pages", "claim_token", "Claim ", "24 hours"] {
            assert!(!page.html.contains(gone), "{gone}");
        }
        assert!(page.html.contains("Bearer $DROPLEAF_KEY") && page.html.contains("/login"));
        assert!(landing(&sample()).html.contains("action=\"/drop\""));
    }

    #[test]
    fn paying_is_named_where_something_is_sold() {
        assert!(landing(&sample()).html.contains("x402"));
        assert!(!landing(&Landing { sells: false, ..sample() }).html.contains("x402"));
    }

    #[test]
    fn one_hour_is_not_one_hours() {
        let html = landing(&Landing { anonymous_hours: 1, ..sample() }).html;
        assert!(html.contains("1 hour") && !html.contains("1 hours"));
    }

    #[test]
    fn hostile_text_stays_text_in_every_field() {
        let page = landing(&Landing { base_url: HOSTILE, site_url: HOSTILE, version: HOSTILE, ..sample() });
        assert_sound(&page);
    }
}
