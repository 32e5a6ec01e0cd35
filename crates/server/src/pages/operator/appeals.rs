//! The operator's pages about appeals: the queue, and one appeal with its content, its reasons and the decision.

use super::look::Seen;
use super::{at, sheet};
use crate::pages::Html;
use crate::pages::dashboard::{Section, Shell};
use askama::Template;
use dropleaf_app::AppealContext;
use dropleaf_core::appeal::{AdditionalAppellant, AllowedContent, Appeal, State};

#[derive(Debug, Template)]
#[template(path = "operator_appeals.html")]
pub struct Appeals<'a> {
    pub shell: Shell<'a>,
    /// The longest waiting first.
    pub open: &'a [Appeal],
    /// The most recent decisions.
    pub decided: &'a [Appeal],
    /// How many more are waiting.
    pub more: i64,
    /// For the form that upholds several at once.
    pub typed: Typed<'a>,
    pub is_recent: bool,
}

/// What was typed into the decision form.
#[derive(Debug, Clone, Copy, Default)]
pub struct Typed<'a> {
    pub answer: &'a str,
    pub problem: Option<&'a str>,
}

#[derive(Debug, Template)]
#[template(path = "operator_appeal.html")]
pub struct OneAppeal<'a> {
    pub shell: Shell<'a>,
    pub appeal: &'a Appeal,
    pub case: &'a AppealContext,
    /// `None` once it is decided: the content has been erased.
    pub seen: Option<&'a Seen>,
    pub typed: Typed<'a>,
    pub is_recent: bool,
}

impl OneAppeal<'_> {
    fn is_open(&self) -> bool {
        self.appeal.state == State::Open
    }

    /// The permission that can be withdrawn here.
    fn allowed(&self) -> Option<&AllowedContent> {
        self.case.allowed.as_ref().filter(|allowed| allowed.appeal_id.as_ref() == Some(&self.appeal.id))
    }

    /// Whether the content was taken down before; allowing it alone does not restore that.
    fn was_taken_down(&self) -> bool {
        self.appeal.reasons.iter().any(|reason| reason.rule == "taken-down-before")
    }
}

fn title(appeal: &Appeal) -> &str {
    if appeal.title.is_empty() { "Untitled page" } else { &appeal.title }
}

fn sender(appeal: &Appeal) -> &str {
    appeal.account_id.as_deref().unwrap_or("anonymous: sent without an account")
}

fn joined_by(joined: &AdditionalAppellant) -> &str {
    joined.account_id.as_deref().unwrap_or("an anonymous publisher")
}

// Rendering writes into a String and cannot fail.

pub fn appeals(page: &Appeals<'_>) -> Html {
    Html(page.render().unwrap_or_default())
}

pub fn appeal(page: &OneAppeal<'_>) -> Html {
    Html(page.render().unwrap_or_default())
}
