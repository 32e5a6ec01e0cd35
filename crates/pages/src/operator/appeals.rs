//! The operator's pages about appeals: the queue, and one appeal with its content, its reasons and the decision.

use super::safe_preview::SafePreview;
use super::{at, stylesheet};
use crate::Html;
use crate::dashboard::{Section, Shell};
use askama::Template;
use dropleaf_core::appeal::{AllowedContent, Appeal, JoinedSender, State};

#[derive(Debug, Template)]
#[template(path = "operator_appeals.html")]
pub struct AppealsPage<'a> {
    pub shell: Shell<'a>,
    /// The longest waiting first.
    pub open: &'a [Appeal],
    /// The most recent decisions.
    pub decided: &'a [Appeal],
    /// How many more are waiting.
    pub more: i64,
    /// For the form that upholds several at once.
    pub form: AppealDecisionForm<'a>,
    pub is_recent: bool,
}

/// What was typed into the decision form.
#[derive(Debug, Clone, Copy, Default)]
pub struct AppealDecisionForm<'a> {
    pub answer: &'a str,
    pub problem: Option<&'a str>,
}

#[derive(Debug, Template)]
#[template(path = "operator_appeal.html")]
pub struct AppealPage<'a> {
    pub shell: Shell<'a>,
    pub appeal: &'a Appeal,
    /// The taken-down page that the content resembles.
    pub similar_site_id: Option<&'a str>,
    /// Statements of other senders of the same content.
    pub joined: &'a [JoinedSender],
    /// Other appeals about the same content, newest first.
    pub earlier: &'a [Appeal],
    /// Set if the content is allowed now.
    pub allowed: Option<&'a AllowedContent>,
    /// `None` once it is decided: the content has been erased.
    pub preview: Option<&'a SafePreview>,
    pub form: AppealDecisionForm<'a>,
    pub is_recent: bool,
}

impl AppealPage<'_> {
    fn is_open(&self) -> bool {
        self.appeal.state == State::Open
    }

    /// The permission that can be withdrawn here.
    fn revocable(&self) -> Option<&AllowedContent> {
        self.allowed.filter(|allowed| allowed.appeal_id.as_ref() == Some(&self.appeal.id))
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

fn joined_by(joined: &JoinedSender) -> &str {
    joined.account_id.as_deref().unwrap_or("an anonymous publisher")
}

// Rendering writes into a String and cannot fail.

pub fn appeals(page: &AppealsPage<'_>) -> Html {
    Html(page.render().unwrap_or_default())
}

pub fn appeal(page: &AppealPage<'_>) -> Html {
    Html(page.render().unwrap_or_default())
}
