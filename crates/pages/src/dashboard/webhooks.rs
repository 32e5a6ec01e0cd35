//! `/dashboard/webhooks`: the endpoints of the account, and the form that adds one.

use super::{Attempt, PageChoice, Section, Shell, webhook_text as text};
use crate::Html;
use crate::assets::PAGES_CSS;
use askama::Template;
use dropleaf_core::webhook::{Endpoint, EventType};

#[derive(Debug)]
pub struct WebhooksPage<'a> {
    pub shell: Shell<'a>,
    pub webhooks: &'a [Endpoint],
    /// Live pages, newest first, for a webhook of one page.
    pub pages: &'a [PageChoice],
    /// Whether the person confirmed their identity recently; otherwise no webhook can be added.
    pub is_recent: bool,
    /// The names of the events that were checked; none means all.
    pub checked: Vec<&'a str>,
    pub attempt: Attempt,
}

#[derive(Template)]
#[template(path = "dashboard/webhooks.html")]
struct WebhooksTemplate<'a> {
    shell: Shell<'a>,
    page: &'a WebhooksPage<'a>,
    attempt: &'a Attempt,
    pages_css: String,
}

pub fn webhooks(page: &WebhooksPage<'_>) -> Html {
    let view =
        WebhooksTemplate { shell: page.shell, page, attempt: &page.attempt, pages_css: PAGES_CSS.path() };
    // Rendering writes into a String and cannot fail.
    Html(view.render().unwrap_or_default())
}

impl WebhooksPage<'_> {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
    fn is_event_checked(&self, event: &EventType) -> bool {
        self.checked.contains(&event.as_str())
    }
}
