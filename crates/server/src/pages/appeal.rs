//! The status page of an appeal, for its publisher. Anyone with the link can see it.

use super::notice::Glyph;
use super::style::{Style, style};
use super::{Moment, Rendered};
use askama::Template;
use dropleaf_core::appeal::{Appeal, State};
use std::sync::LazyLock;

static STYLE: LazyLock<Style> = style!("notice.css");

#[derive(Template)]
#[template(path = "appeal_status.html")]
struct Page<'a> {
    style: &'static str,
    glyph: Glyph,
    appeal: &'a Appeal,
    heading: &'static str,
    message: &'static str,
    sent: Moment,
    decided: Option<Moment>,
}

pub fn appeal_status(appeal: &Appeal) -> Rendered {
    let (glyph, heading, message) = match appeal.state {
        State::Open => (
            Glyph::Dots,
            "Waiting for a second look",
            "Your page has reached the people who run this server. They will look at it and decide. Keep this address: what \
             they say is shown here.",
        ),
        State::Allowed => (
            Glyph::Vein,
            "Your page is allowed",
            "The refusal was a mistake. Publish the same file again, unchanged: what it was refused for is not held against it any more.",
        ),
        State::Upheld => (
            Glyph::Bar,
            "Your page stays refused",
            "The people who run this server have looked at it, and the refusal holds. The copy you sent them is erased.",
        ),
        State::Lapsed => (
            Glyph::Bar,
            "Nobody has looked at it in time",
            "Your page stays refused for now, and the copy you sent is erased. You may send it again.",
        ),
    };
    let (sent, decided) = (Moment(appeal.created_at), appeal.decided_at.map(Moment));
    let page = Page { style: STYLE.text, glyph, appeal, heading, message, sent, decided };
    // Rendering writes into a String and cannot fail.
    Rendered { html: page.render().unwrap_or_default(), style_source: &STYLE.source }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{HOSTILE, assert_sound};
    use super::*;
    use dropleaf_core::appeal::Plea;

    #[test]
    fn every_state_has_its_words_and_hostile_text_stays_text() {
        let mut appeal = Appeal {
            id: "app_1".into(),
            account_id: None,
            digest: [0; 32],
            bundle_id: None,
            title: HOSTILE.into(),
            reasons: Vec::new(),
            plea: Plea::default(),
            state: State::Open,
            answer: None,
            created_at: 0,
            decided_at: None,
        };
        let open = appeal_status(&appeal);
        assert_sound(&open);
        assert!(open.html.contains("Waiting") && !open.html.contains("/dashboard"));
        appeal.account_id = Some("acc_1".into());
        appeal.decided_at = Some(86_400);
        appeal.answer = Some(HOSTILE.into());
        for (state, said) in [(State::Allowed, "is allowed"), (State::Upheld, "stays refused")] {
            appeal.state = state;
            let page = appeal_status(&appeal);
            assert_sound(&page);
            assert!(page.html.contains(said) && page.html.contains("1970-01-02"), "{}", page.html);
            assert!(page.html.contains("href=\"/dashboard\""));
        }
    }
}
