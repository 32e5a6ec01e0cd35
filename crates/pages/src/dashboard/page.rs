//! The page of one site for its owner: link, details, and forms for everything that can be changed.

use super::badge::{Badge, badges};
use super::figures::{self, date_field, size, span};
use super::{Attempt, DomainRow, Section, Shell};
use crate::assets::{PAGES_CSS, UPLOAD_JS};
use crate::{Html, Size, qr};
use askama::Template;
use dropleaf_core::feedback::Feedback;
use dropleaf_core::plan::Plan;
use dropleaf_core::share_token::ShareToken;
use dropleaf_core::site::{Site, State, Visibility};

/// A version that can be restored.
#[derive(Debug)]
pub struct VersionRow {
    pub version: i64,
    pub title: String,
    pub byte_size: i64,
    pub file_count: i64,
    pub restored_from: Option<i64>,
    /// What made it, such as an API key, and its name.
    pub made_by: Option<(&'static str, Option<String>)>,
    /// There is an older version to compare it with.
    pub has_older: bool,
    pub created_at: i64,
}

/// A share link with its URL.
#[derive(Debug)]
pub struct ShareLinkRow {
    pub token: ShareToken,
    pub url: String,
}

#[derive(Debug)]
pub struct PageView<'a> {
    pub shell: Shell<'a>,
    pub site: &'a Site,
    pub url: &'a str,
    /// The text before and after the slug in a public URL.
    pub slug_around: (&'a str, &'a str),
    pub plan: &'a Plan,
    pub restorable_until: Option<i64>,
    /// How many seconds a deleted page can be restored.
    pub restore_seconds: i64,
    pub max_upload_bytes: u64,
    pub versions: Vec<VersionRow>,
    pub links: Vec<ShareLinkRow>,
    /// The custom domains that show it.
    pub domains: Vec<DomainRow<'a>>,
    /// The newest unresolved comments.
    pub feedback: Vec<Feedback>,
    /// How many comments are unresolved.
    pub open_feedback: i64,
    /// Notes about the operation that was just done.
    pub notes: Vec<String>,
    pub attempt: Attempt,
    pub now: i64,
}

#[derive(Template)]
#[template(path = "dashboard/page.html")]
struct PageTemplate<'a> {
    shell: Shell<'a>,
    site: &'a Site,
    page: &'a PageView<'a>,
    attempt: &'a Attempt,
    badges: Vec<Badge>,
    /// Empty if the link does not fit into a code.
    qr: String,
    longest: Option<String>,
    largest: Size,
    restore_for: String,
    pages_css: String,
    upload_js: String,
}

impl PageTemplate<'_> {
    fn is_live(&self) -> bool {
        self.site.state == State::Live
    }

    fn burns(&self) -> bool {
        self.site.visibility == Visibility::Burn
    }

    /// Whether the link is gated or burns: the owner needs another way to open the page.
    fn is_guarded(&self) -> bool {
        self.burns() || self.site.has_gate()
    }

    fn slug(&self) -> &str {
        self.site.slug.as_deref().unwrap_or_default()
    }

    fn domain(&self) -> &str {
        self.site.email_gate_domain.as_deref().unwrap_or_default()
    }

    fn is_over(&self, token: &ShareToken) -> bool {
        token.is_expired(self.page.now)
    }

    /// The initially selected expiry option.
    fn expiry_choice(&self) -> &'static str {
        if self.site.expires_at.is_some() { "date" } else { "never" }
    }

    fn until(&self) -> String {
        self.site.expires_at.map(date_field).unwrap_or_default()
    }
}

pub fn page(page: &PageView<'_>) -> Html {
    let view = PageTemplate {
        shell: page.shell,
        site: page.site,
        page,
        attempt: &page.attempt,
        badges: badges(page.site, page.now),
        qr: if page.site.state == State::Live { qr::svg(page.url) } else { String::new() },
        longest: page.plan.longest_life_seconds.map(span),
        largest: size(i64::try_from(page.max_upload_bytes).unwrap_or(i64::MAX)),
        restore_for: span(page.restore_seconds),
        pages_css: PAGES_CSS.path(),
        upload_js: UPLOAD_JS.path(),
    };
    // Rendering writes into a String and cannot fail.
    Html(view.render().unwrap_or_default())
}
