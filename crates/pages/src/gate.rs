//! The pages that ask a viewer for a password, an email address or a code before they show the page. The forms work without
//! scripts; errors are shown next to their field.

use super::assets::{Style, style};
use super::notice::Glyph;
use super::{Rendered, safe_link};
use askama::Template;
use std::sync::LazyLock;

static STYLE: LazyLock<Style> = style!("notice.css", "gate.css");

/// What the viewer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    Password,
    Address,
    /// The code that was sent to this address, if the address is allowed.
    Code {
        email: &'a str,
    },
}

#[derive(Debug, Clone, Copy)]
pub struct Gate<'a> {
    pub step: Step<'a>,
    /// The target of the form: a path on this host. `None` for the page's own URL, which keeps the fragment with the key of
    /// an encrypted page.
    pub action: Option<&'a str>,
    /// The path that the viewer requested.
    pub to: &'a str,
    /// What was wrong with the last attempt.
    pub problem: Option<&'a str>,
    /// The link to report this page.
    pub report: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "gate.html")]
struct GateTemplate<'a> {
    style: &'static str,
    heading: &'static str,
    glyph: Glyph,
    step: Step<'a>,
    action: Option<&'a str>,
    to: &'a str,
    problem: Option<&'a str>,
    report: Option<&'a str>,
}

pub fn gate(gate: &Gate<'_>) -> Rendered {
    let (heading, glyph) = match gate.step {
        Step::Password => ("This page requires a password", Glyph::Keyhole),
        Step::Address => ("This page requires your email address", Glyph::Letter),
        Step::Code { .. } => ("Enter the code from the email", Glyph::Letter),
    };
    let page = GateTemplate {
        style: STYLE.text,
        heading,
        glyph,
        step: gate.step,
        action: gate.action.and_then(safe_link),
        to: safe_link(gate.to).unwrap_or_default(),
        problem: gate.problem,
        report: gate.report.and_then(safe_link),
    };
    // Rendering writes into a String and cannot fail.
    Rendered { html: page.render().unwrap_or_default(), style_source: &STYLE.source }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{HOSTILE, assert_sound};
    use super::*;

    fn plain(step: Step<'_>) -> Gate<'_> {
        Gate { step, action: Some("/p/t/_dropleaf/gate"), to: "/p/t/a?x=1", problem: None, report: None }
    }

    #[test]
    fn every_step_is_a_form_with_one_labelled_field() {
        for (step, field) in [
            (Step::Password, "password"),
            (Step::Address, "email"),
            (Step::Code { email: "ann@example.org" }, "code"),
        ] {
            let page = gate(&plain(step));
            assert_sound(&page);
            let html = &page.html;
            assert!(html.contains("<form method=\"post\" action=\"/p/t/_dropleaf/gate\">"), "{html}");
            assert!(html.contains("<input type=\"hidden\" name=\"to\" value=\"/p/t/a?x=1\">"), "{html}");
            assert!(html.contains("<label for=\"field\">") && html.contains("id=\"field\""), "{html}");
            assert!(html.contains(&format!("name=\"{field}\"")), "{html}");
            assert!(!html.contains("role=\"alert\""), "nothing went wrong yet");
        }
    }

    #[test]
    fn what_went_wrong_is_read_out_and_tied_to_the_field() {
        let page = gate(&Gate { problem: Some("That is not it."), ..plain(Step::Password) });
        assert_sound(&page);
        assert!(page.html.contains("role=\"alert\"") && page.html.contains("That is not it."));
        assert!(page.html.contains("aria-invalid=\"true\" aria-describedby=\"problem\""));
    }

    #[test]
    fn the_gate_of_an_encrypted_page_stays_at_its_address() {
        for step in [Step::Password, Step::Address, Step::Code { email: "ann@example.org" }] {
            let page = gate(&Gate { action: None, ..plain(step) });
            assert_sound(&page);
            assert!(
                page.html.contains("<form method=\"post\">") && !page.html.contains("<a "),
                "{}",
                page.html
            );
        }
    }

    #[test]
    fn hostile_text_stays_text() {
        let hostile = Gate {
            step: Step::Code { email: HOSTILE },
            action: Some("/p/\"><script>"),
            to: "/p/\"><script>",
            problem: Some(HOSTILE),
            report: Some("/r\"><script>"),
        };
        assert_sound(&gate(&hostile));
        let elsewhere = Gate { action: Some("https:evil"), to: "javascript:x", ..plain(Step::Address) };
        let html = gate(&elsewhere).html;
        assert!(!html.contains("evil") && !html.contains("javascript"), "{html}");
    }
}
