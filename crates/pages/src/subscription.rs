//! The page behind the link in emails to owners: which emails they get, with buttons that change it. Anyone with the email
//! can see it, so it tells nothing about the account.

use super::assets::{Style, style};
use super::notice::Glyph;
use super::{Rendered, safe_link};
use askama::Template;
use dropleaf_core::notification::NotifyMode;
use std::sync::LazyLock;

static STYLE: LazyLock<Style> = style!("notice.css", "gate.css", "subscription.css");

#[derive(Debug, Clone, Copy)]
pub struct Subscription<'a> {
    /// Where the buttons lead.
    pub action: &'a str,
    pub host: &'a str,
    pub mode: NotifyMode,
    /// Whether it was changed just now.
    pub is_changed: bool,
}

/// A button of the page: the mode that it chooses, and its text.
type Choice = (&'static str, &'static str);

#[derive(Template)]
#[template(path = "subscription.html")]
struct SubscriptionTemplate<'a> {
    style: &'static str,
    glyph: Glyph,
    heading: &'static str,
    message: &'static str,
    action: &'a str,
    host: &'a str,
    choices: [Choice; 2],
}

pub fn subscription(shown: &Subscription<'_>) -> Rendered {
    const OFF: Choice = ("off", "Unsubscribe");
    const INSTANT: Choice = ("instant", "Email me right away");
    const DAILY: Choice = ("daily", "Send a daily digest");
    let (heading, message, choices) = match (shown.mode, shown.is_changed) {
        (NotifyMode::Off, true) => (
            "You are unsubscribed",
            "You will get no more emails about comments on your pages and pages that expire soon. Changed your mind? You can undo this.",
            [("instant", "Undo: email me again"), ("daily", "Send a daily digest instead")],
        ),
        (NotifyMode::Off, false) => (
            "These emails are turned off",
            "You get no emails about comments on your pages and pages that expire soon.",
            [INSTANT, DAILY],
        ),
        (NotifyMode::Instant, true) => (
            "Emails are turned on",
            "You get an email when there are new comments on your pages, and before a page expires.",
            [OFF, ("daily", "Send a daily digest instead")],
        ),
        (NotifyMode::Instant, false) => (
            "Unsubscribe from these emails?",
            "You get an email when there are new comments on your pages, and before a page expires.",
            [OFF, ("daily", "Send a daily digest instead")],
        ),
        (NotifyMode::Daily, true) => (
            "You get a daily digest",
            "You get one email a day, if there are new comments on your pages or pages that expire soon.",
            [OFF, INSTANT],
        ),
        (NotifyMode::Daily, false) => (
            "Unsubscribe from these emails?",
            "You get one email a day, if there are new comments on your pages or pages that expire soon.",
            [OFF, INSTANT],
        ),
    };
    let page = SubscriptionTemplate {
        style: STYLE.text,
        glyph: if shown.is_changed { Glyph::Check } else { Glyph::Letter },
        heading,
        message,
        action: safe_link(shown.action).unwrap_or_default(),
        host: shown.host,
        choices,
    };
    // Rendering writes into a String and cannot fail.
    Rendered { html: page.render().unwrap_or_default(), style_source: &STYLE.source }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{HOSTILE, assert_sound};
    use super::*;

    #[test]
    fn every_state_has_a_form_that_changes_it() {
        for mode in NotifyMode::ALL {
            for is_changed in [false, true] {
                let shown = Subscription { action: "/unsubscribe/x", host: HOSTILE, mode: *mode, is_changed };
                let page = subscription(&shown);
                assert_sound(&page);
                assert!(
                    page.html.contains("<form method=\"post\" action=\"/unsubscribe/x\">"),
                    "{}",
                    page.html
                );
                let offers = |mode: &str| page.html.contains(&format!("name=\"notify\" value=\"{mode}\""));
                assert!(!offers(mode.as_str()), "it is chosen");
                assert_eq!(NotifyMode::ALL.iter().filter(|mode| offers(mode.as_str())).count(), 2);
            }
        }
    }
}
