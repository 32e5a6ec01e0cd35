//! The comments on one page for its owner: filters, threads with replies, resolving many at once. Rendered as a page, and as
//! fragments that the page's script puts in place of changed threads.

use super::figures;
use super::{Attempt, Section, Shell};
use crate::Html;
use crate::assets::{FEEDBACK_CSS, FEEDBACK_JS};
use askama::Template;
use dropleaf_core::feedback::{Feedback, Intent, Severity};
use dropleaf_core::feedback_filter::{FeedbackFilter, Order, StateFilter};
use dropleaf_core::feedback_thread::{Author, Reply, Thread};
use dropleaf_core::site::{Site, State};
use std::borrow::Borrow;

/// A comment with the newest replies to it.
#[derive(Debug)]
pub struct ThreadRow {
    pub item: Feedback,
    pub thread: Thread,
}

/// What was just done to comments.
#[derive(Debug, Default)]
pub struct FeedbackOutcome {
    pub message: String,
    /// The comments that were resolved together, and when: they can be opened again.
    pub undo: Option<(Vec<String>, i64)>,
    /// A comment that was deleted.
    pub deleted: Option<String>,
}

#[derive(Debug)]
pub struct FeedbackPage<'a> {
    pub shell: Shell<'a>,
    pub site: &'a Site,
    pub threads: Vec<ThreadRow>,
    /// All unresolved comments, whether or not the filter selects them.
    pub open: i64,
    pub filter: &'a FeedbackFilter,
    /// The filter as a query string, which forms carry along.
    pub query: &'a str,
    /// The address of the next comments.
    pub next: Option<String>,
    /// Only one thread is shown, with all replies.
    pub is_single: bool,
    pub outcome: Option<FeedbackOutcome>,
    pub attempt: Attempt,
}

#[derive(Template)]
#[template(path = "dashboard/feedback.html")]
struct FeedbackTemplate<'a> {
    shell: Shell<'a>,
    site: &'a Site,
    page: &'a FeedbackPage<'a>,
    attempt: &'a Attempt,
    feedback_css: String,
    feedback_js: String,
}

#[derive(Template)]
#[template(path = "dashboard/feedback_fragment.html")]
struct FragmentTemplate<'a> {
    shell: Shell<'a>,
    site: &'a Site,
    page: &'a FeedbackPage<'a>,
    attempt: &'a Attempt,
}

/// A choice of a filter: its value, its label, and whether it is selected.
type Choice = (&'static str, &'static str, bool);

impl FeedbackPage<'_> {
    fn states(&self) -> [Choice; 4] {
        let names = [
            (StateFilter::Open, "Unresolved"),
            (StateFilter::Reopened, "Reopened"),
            (StateFilter::Resolved, "Resolved"),
            (StateFilter::All, "All"),
        ];
        names.map(|(state, name)| (state.as_str(), name, self.filter.state == state))
    }

    fn severities(&self) -> [Choice; 4] {
        let names = [
            (None, "Any severity"),
            (Some(Severity::Blocking), "Blocking"),
            (Some(Severity::Important), "Important"),
            (Some(Severity::Suggestion), "Suggestion"),
        ];
        names.map(|(it, name)| (it.map_or("", Severity::as_str), name, self.filter.severity == it))
    }

    fn intents(&self) -> [Choice; 5] {
        let names = [
            (None, "Any kind"),
            (Some(Intent::Fix), "Fix"),
            (Some(Intent::Change), "Change"),
            (Some(Intent::Question), "Question"),
            (Some(Intent::Approve), "Approve"),
        ];
        names.map(|(it, name)| (it.map_or("", Intent::as_str), name, self.filter.intent == it))
    }

    fn orders(&self) -> [Choice; 3] {
        let names = [
            (Order::Severity, "Most severe first"),
            (Order::Newest, "Newest first"),
            (Order::Oldest, "Oldest first"),
        ];
        names.map(|(order, name)| (order.as_str(), name, self.filter.order == order))
    }

    fn text(&self) -> &str {
        self.filter.query.as_deref().unwrap_or_default()
    }

    fn can_show(&self) -> bool {
        self.site.state == State::Live && self.site.takes_feedback()
    }

    fn is_filtered(&self) -> bool {
        self.filter.severity.is_some() || self.filter.intent.is_some() || self.filter.query.is_some()
    }
}

impl ThreadRow {
    fn is_resolved(&self) -> bool {
        self.item.resolved_at.is_some()
    }

    fn earlier(&self) -> i64 {
        self.thread.count - i64::try_from(self.thread.replies.len()).unwrap_or_default()
    }

    /// The first words, which tell a screen reader which comment a button is about.
    fn start(&self) -> String {
        let line = self.item.content.comment.split_whitespace().collect::<Vec<_>>().join(" ");
        let short: String = line.chars().take(60).collect();
        if short.len() < line.len() { format!("{short}…") } else { short }
    }
}

/// Who did something, for people.
fn who(author: impl Borrow<Option<Author>>) -> &'static str {
    match author.borrow() {
        Some(Author::Viewer) => "a viewer",
        Some(Author::Owner) => "you",
        Some(Author::Agent) => "an agent",
        None => "",
    }
}

fn speaker(reply: &Reply) -> String {
    match (reply.author, reply.name.as_deref()) {
        (Author::Owner, _) => "You".to_owned(),
        (Author::Agent, _) => "Your agent".to_owned(),
        (Author::Viewer, None) => "Viewer".to_owned(),
        (Author::Viewer, Some(name)) => format!("{name} (viewer)"),
    }
}

pub fn feedback(page: &FeedbackPage<'_>) -> Html {
    let view = FeedbackTemplate {
        shell: page.shell,
        site: page.site,
        page,
        attempt: &page.attempt,
        feedback_css: FEEDBACK_CSS.path(),
        feedback_js: FEEDBACK_JS.path(),
    };
    // Rendering writes into a String and cannot fail.
    Html(view.render().unwrap_or_default())
}

/// What was done, and the threads that changed.
pub fn feedback_fragment(page: &FeedbackPage<'_>) -> Html {
    let view = FragmentTemplate { shell: page.shell, site: page.site, page, attempt: &page.attempt };
    Html(view.render().unwrap_or_default())
}
