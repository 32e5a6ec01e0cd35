//! The status page of an appeal, for its publisher. Anyone with the link can see it.

use super::assets::{Style, style};
use super::notice::Glyph;
use super::{Moment, Rendered};
use askama::Template;
use dropleaf_core::appeal::{Appeal, State};
use std::sync::LazyLock;

static STYLE: LazyLock<Style> = style!("notice.css");

#[derive(Template)]
#[template(path = "appeal_status.html")]
struct AppealStatusTemplate<'a> {
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
            "Your appeal is under review",
            "We sent your page to the operator of this server for review. Keep the link to this page: it will show the decision.",
        ),
        State::Allowed => (
            Glyph::Vein,
            "Your appeal was accepted",
            "The refusal was a mistake. You can now publish the same file, unchanged.",
        ),
        State::Upheld => (
            Glyph::Bar,
            "Your appeal was rejected",
            "The operator of this server reviewed your page and upheld the refusal. The copy you sent has been erased.",
        ),
        State::Lapsed => (
            Glyph::Bar,
            "Your appeal expired",
            "It was not reviewed in time. Your page still cannot be published, and the copy you sent has been erased. You can \
             appeal again.",
        ),
    };
    let (sent, decided) = (Moment(appeal.created_at), appeal.decided_at.map(Moment));
    let page = AppealStatusTemplate { style: STYLE.text, glyph, appeal, heading, message, sent, decided };
    // Rendering writes into a String and cannot fail.
    Rendered { html: page.render().unwrap_or_default(), style_source: &STYLE.source }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{HOSTILE, assert_sound};
    use super::*;
    use dropleaf_core::appeal::AppealStatement;

    #[test]
    fn every_state_has_its_words_and_hostile_text_stays_text() {
        let mut appeal = Appeal {
            id: "app_1".into(),
            account_id: None,
            digest: [0; 32],
            bundle_id: None,
            title: HOSTILE.into(),
            reasons: Vec::new(),
            statement: AppealStatement::default(),
            state: State::Open,
            answer: None,
            created_at: 0,
            decided_at: None,
        };
        let open = appeal_status(&appeal);
        assert_sound(&open);
        assert!(open.html.contains("under review") && !open.html.contains("/dashboard"));
        appeal.account_id = Some("acc_1".into());
        appeal.decided_at = Some(86_400);
        appeal.answer = Some(HOSTILE.into());
        for (state, said) in [(State::Allowed, "was accepted"), (State::Upheld, "was rejected")] {
            appeal.state = state;
            let page = appeal_status(&appeal);
            assert_sound(&page);
            assert!(page.html.contains(said) && page.html.contains("1970-01-02"), "{}", page.html);
            assert!(page.html.contains("href=\"/dashboard\""));
        }
    }
}
