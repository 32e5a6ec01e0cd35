//! What a visitor sees after publishing a file without an account and without a script: the link, or why it was refused.

use super::assets::FRONT_PAGE_JS;
use super::landing::STYLE;
use super::{Moment, Rendered, Size};
use askama::Template;
use dropleaf_core::finding::Finding;

/// Where a visitor asks for a review of a refusal.
pub const REVIEW: &str = "/login?next=%2Fdashboard%2Fappeal";

/// A page that was just published.
#[derive(Debug, Clone, Copy)]
pub struct PublishedPage<'a> {
    pub title: &'a str,
    pub url: &'a str,
    pub claim_url: &'a str,
    pub expires_at: Moment,
    pub warnings: &'a [String],
}

/// Why nothing was published.
#[derive(Debug, Clone, Copy)]
pub struct UploadProblem<'a> {
    pub message: &'a str,
    /// The findings in the content, if they are the reason.
    pub reasons: &'a [Finding],
    /// Whether the operator can overrule it.
    pub may_appeal: bool,
    /// Whether another file could be accepted now; if so, the form is shown again.
    pub may_retry: bool,
}

/// The limits that the form names.
#[derive(Debug, Clone, Copy)]
pub struct UploadLimits {
    pub anonymous_hours: i64,
    pub max_upload_bytes: i64,
}

#[derive(Template)]
#[template(path = "anonymous_upload.html")]
struct UploadTemplate<'a> {
    style: &'static str,
    script: String,
    page: Option<PublishedPage<'a>>,
    problem: Option<UploadProblem<'a>>,
    anonymous_hours: i64,
    max_upload_bytes: i64,
    largest: Size,
}

/// The page after a successful upload.
pub fn upload_published(page: PublishedPage<'_>, limits: UploadLimits) -> Rendered {
    render(Some(page), None, limits)
}

/// The page after a refused one.
pub fn upload_refused(problem: UploadProblem<'_>, limits: UploadLimits) -> Rendered {
    render(None, Some(problem), limits)
}

fn render(
    page: Option<PublishedPage<'_>>,
    problem: Option<UploadProblem<'_>>,
    limits: UploadLimits,
) -> Rendered {
    let UploadLimits { anonymous_hours, max_upload_bytes } = limits;
    let view = UploadTemplate {
        style: STYLE.text,
        script: FRONT_PAGE_JS.path(),
        page,
        problem,
        anonymous_hours,
        max_upload_bytes,
        largest: Size(max_upload_bytes),
    };
    // Rendering writes into a String and cannot fail.
    Rendered { html: view.render().unwrap_or_default(), style_source: &STYLE.source }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{HOSTILE, assert_sound_with};
    use super::*;

    const LIMITS: UploadLimits = UploadLimits { anonymous_hours: 24, max_upload_bytes: 25 << 20 };

    #[test]
    fn the_link_its_end_and_the_claim_link_are_shown() {
        let page = upload_published(
            PublishedPage {
                title: HOSTILE,
                url: "https://pages.leaf.example/p/x/",
                claim_url: "https://leaf.example/claim/site_1#clm_x",
                expires_at: Moment(1_794_706_860),
                warnings: &[HOSTILE.to_owned()],
            },
            LIMITS,
        );
        assert_sound_with(&page, &FRONT_PAGE_JS);
        assert!(page.html.contains("href=\"https://pages.leaf.example/p/x/\""));
        assert!(page.html.contains("href=\"https://leaf.example/claim/site_1#clm_x\""));
        assert!(page.html.contains("2026-11-15 01:41 UTC"));
        assert!(!page.html.contains("data-upload"));
    }

    #[test]
    fn a_refusal_gives_its_reasons_and_the_form_if_another_file_can_help() {
        let found = Finding {
            rule: "x".into(),
            file: HOSTILE.into(),
            line: Some(3),
            why: HOSTILE.into(),
            fix: HOSTILE.into(),
        };
        let problem =
            UploadProblem { message: HOSTILE, reasons: &[found], may_appeal: true, may_retry: true };
        let page = upload_refused(problem, LIMITS);
        assert_sound_with(&page, &FRONT_PAGE_JS);
        assert!(page.html.contains("line 3") && page.html.contains("action=\"/drop\""));
        assert!(page.html.contains("href=\"/login?next="));
        let later = UploadProblem { message: "Later.", reasons: &[], may_appeal: false, may_retry: false };
        let page = upload_refused(later, LIMITS);
        assert!(!page.html.contains("action=\"/drop\"") && page.html.contains("Later."));
    }
}
