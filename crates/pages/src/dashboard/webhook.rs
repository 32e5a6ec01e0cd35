//! `/dashboard/webhooks/{id}`: one endpoint with its secret when it is new, its deliveries and the forms that change it.

use super::{Attempt, PageChoice, Section, Shell, figures, webhook_text as text};
use crate::Html;
use crate::assets::PAGES_CSS;
use askama::Template;
use dropleaf_core::webhook::{Delivery, Endpoint, EndpointKind, EndpointState, EventType};

#[derive(Debug)]
pub struct WebhookPage<'a> {
    pub shell: Shell<'a>,
    pub webhook: &'a Endpoint,
    /// A secret that was just made; it is shown this once.
    pub secret: Option<&'a str>,
    pub deliveries: &'a [Delivery],
    /// The address of the next page of the list.
    pub more: Option<String>,
    /// Whether the person confirmed their identity recently; otherwise no secret can be made.
    pub is_recent: bool,
    /// Live pages, newest first, and the page that it is for.
    pub pages: &'a [PageChoice],
    /// The names of the events that are checked in the form; none means all.
    pub checked: Vec<&'a str>,
    pub attempt: Attempt,
}

#[derive(Template)]
#[template(path = "dashboard/webhook.html")]
struct WebhookTemplate<'a> {
    shell: Shell<'a>,
    page: &'a WebhookPage<'a>,
    attempt: &'a Attempt,
    pages_css: String,
}

pub fn webhook(page: &WebhookPage<'_>) -> Html {
    let view =
        WebhookTemplate { shell: page.shell, page, attempt: &page.attempt, pages_css: PAGES_CSS.path() };
    // Rendering writes into a String and cannot fail.
    Html(view.render().unwrap_or_default())
}

impl WebhookPage<'_> {
    fn is_enabled(&self) -> bool {
        self.webhook.state == EndpointState::Enabled
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
    fn is_event_checked(&self, event: &EventType) -> bool {
        self.checked.contains(&event.as_str())
    }

    /// The only page whose events it gets; empty for all pages.
    fn site(&self) -> &str {
        self.webhook.site_id.as_deref().unwrap_or_default()
    }

    fn is_url(&self) -> bool {
        self.webhook.kind == EndpointKind::Url
    }
}
