//! The HTML pages that dropleaf itself shows: notices, home page, API reference, dashboard, operator's pages. Those outside
//! `dashboard` and `operator` are one HTML text with one inline stylesheet and, except the front page and the viewer of
//! encrypted pages, no script. Pages get plain values; the server's handlers load them and decide the headers.

mod anonymous_upload;
mod appeal;
mod assets;
mod changes;
pub mod dashboard;
mod docs;
mod error_text;
mod gate;
mod guides;
mod landing;
mod line_diff;
mod moment;
mod notice;
pub mod operator;
pub mod pay;
mod preview;
mod prose;
pub mod qr;
mod report;
mod reveal;
mod risky;
mod subscription;
mod viewer;
mod viewer_script;
mod warning;

pub use anonymous_upload::{
    PublishedPage, REVIEW, UploadLimits, UploadProblem, upload_published, upload_refused,
};
pub use appeal::appeal_status;
pub use assets::{Asset, asset};
pub use changes::{Changes, ChangesState, OtherVersion, changes};
pub use docs::docs;
pub use error_text::{error_text, owner_error_text};
pub use gate::{Gate, Step, gate};
pub use guides::{
    Guide, GuideFacts, PayFacts, PlanFacts, RailFacts, auth_md, design_guide, guide, llms_txt, skill_md,
};
pub use landing::{Landing, landing};
pub use line_diff::{ChangedFile, ChangedLine, ChangedLines};
pub use moment::{Count, Elapsed, Moment, Size};
pub use notice::{Notice, notice};
pub use preview::{Preview, preview};
pub use report::{ReportForm, report, report_thanks};
pub use reveal::{Reveal, reveal};
pub use risky::{RiskyFile, risky};
pub use subscription::{Subscription, subscription};
pub use viewer::{Viewer, ViewerPage, viewer};
pub use viewer_script::ViewerScript;
pub use warning::{Warning, warning};

/// The logo, for `/favicon.svg`.
pub const FAVICON_SVG: &str = include_str!("../assets/favicon.svg");

/// A page and the exact CSP source of its one inline stylesheet, e.g. `'sha256-…'`.
#[derive(Debug, Clone)]
pub struct Rendered {
    pub html: String,
    pub style_source: &'static str,
}

/// A page that loads its stylesheet and script from `/assets`.
#[derive(Debug, Clone)]
pub struct Html(pub String);

/// Allows only URLs that are safe in a link; anything else is left out of the page.
fn safe_link(address: &str) -> Option<&str> {
    let web = address.starts_with("https://") || address.starts_with("http://");
    let own = address.starts_with('/') && !address.starts_with("//");
    (web || own || address.starts_with("mailto:")).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest as _, Sha256};

    /// Text that would break out of an element, an attribute or a stylesheet if it were not escaped.
    pub(super) const HOSTILE: &str = "\"'><script>alert(1)</script></style>&{{ x }}";

    /// Asserts that the page has no markup of the hostile text, and one style element that matches its CSP source.
    pub(super) fn assert_sound(page: &Rendered) {
        assert!(page.html.starts_with("<!doctype html>"));
        assert!(!page.html.contains("<script"), "{}", page.html);
        assert!(!page.html.contains(" style="), "an inline style attribute is blocked by the CSP");
        assert!(!page.html.contains("src="), "no page loads anything");
        assert_eq!(page.html.matches("<h1").count(), 1);
        let (_, rest) = page.html.split_once("<style>").expect("a style");
        let (text, rest) = rest.split_once("</style>").expect("its end");
        assert!(!rest.contains("<style"), "one style only");
        let source = format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
        assert_eq!(page.style_source, source);
    }

    /// The same for a page that loads one of our scripts.
    pub(super) fn assert_sound_with(page: &Rendered, script: &Asset) {
        let tag = format!("<script src=\"{}\" defer></script>", script.path());
        assert_eq!(page.html.matches(&tag).count(), 1);
        assert_sound(&Rendered { html: page.html.replace(&tag, ""), style_source: page.style_source });
    }

    #[test]
    fn only_web_own_and_mail_addresses_become_links() {
        for good in
            ["https://a.example/x", "http://localhost:8080", "/_dropleaf/report", "mailto:a@b.example"]
        {
            assert_eq!(safe_link(good), Some(good));
        }
        for bad in ["javascript:alert(1)", "//evil.example", "data:text/html,x", "", "x"] {
            assert_eq!(safe_link(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_favicon_is_a_bare_svg() {
        assert!(FAVICON_SVG.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
        assert!(!FAVICON_SVG.contains("script"));
    }
}
