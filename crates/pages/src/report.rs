//! The form to report a page to the operator, and its confirmation. Shows nothing of the page itself.

use super::assets::{Style, style};
use super::{Notice, Rendered, notice};
use askama::Template;
use dropleaf_core::report::{COMMENT_CHARACTERS, CONTACT_CHARACTERS, Reason};
use std::sync::LazyLock;

static STYLE: LazyLock<Style> = style!("report.css");

/// The form, empty or as it was sent.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReportForm<'a> {
    pub action: &'a str,
    pub reason: &'a str,
    pub comment: &'a str,
    pub contact: &'a str,
    /// What has to be corrected before it can be sent.
    pub problem: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "report.html")]
struct ReportTemplate<'a> {
    style: &'static str,
    form: ReportForm<'a>,
    reasons: &'static [Reason],
    comment_most: usize,
    contact_most: usize,
}

pub fn report(form: &ReportForm<'_>) -> Rendered {
    let page = ReportTemplate {
        style: STYLE.text,
        form: *form,
        reasons: Reason::ALL,
        comment_most: COMMENT_CHARACTERS,
        contact_most: CONTACT_CHARACTERS,
    };
    // Rendering writes into a String and cannot fail.
    Rendered { html: page.render().unwrap_or_default(), style_source: &STYLE.source }
}

pub fn report_thanks() -> Rendered {
    notice(&Notice {
        status: 200,
        code: "reported",
        heading: "Thank you for your report",
        message: "We sent it to the operator of this server. If you entered a password or card details on the page, change \
                  the password or block the card now.",
        hint: None,
        home: None,
        report: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{HOSTILE, assert_sound};
    use super::*;

    #[test]
    fn every_reason_can_be_chosen_and_none_is_chosen_before() {
        let page = report(&ReportForm { action: "/_dropleaf/report", ..ReportForm::default() });
        assert_sound(&page);
        assert!(page.html.contains("<form method=\"post\" action=\"/_dropleaf/report\">"));
        for reason in Reason::ALL {
            assert!(page.html.contains(&format!("value=\"{}\"", reason.as_str())), "{}", reason.as_str());
        }
        assert!(!page.html.contains("\" checked") && !page.html.contains("role=\"alert\""));
    }

    #[test]
    fn a_form_that_was_refused_keeps_what_was_typed() {
        let page = report(&ReportForm {
            action: "/x",
            reason: "malware",
            comment: "It \"blinks\"",
            contact: "a@b.example",
            problem: Some("Too long."),
        });
        assert_sound(&page);
        assert!(page.html.contains("value=\"malware\" checked"));
        assert!(page.html.contains("It &#34;blinks&#34;</textarea>"));
        assert!(page.html.contains("value=\"a@b.example\""));
        assert!(page.html.contains("role=\"alert\""));
    }

    #[test]
    fn hostile_text_stays_text_in_every_field() {
        let page = report(&ReportForm {
            action: HOSTILE,
            reason: HOSTILE,
            comment: HOSTILE,
            contact: HOSTILE,
            problem: Some(HOSTILE),
        });
        assert_sound(&page);
        assert_sound(&report_thanks());
    }
}
