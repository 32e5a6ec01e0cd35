//! The list of an owner's pages, with search, filters, and help for the first page.

use super::badge::{Badge, badges};
use super::figures::{self, size};
use super::{Attempt, Section, Shell};
use crate::assets::{PAGES_CSS, UPLOAD_JS};
use crate::{Html, Size};
use askama::Template;
use dropleaf_core::site::{Site, State};
use dropleaf_core::site_filter::Filter;

/// One page in the list.
#[derive(Debug)]
pub struct PageCard<'a> {
    pub site: &'a Site,
    pub url: String,
    pub open_feedback: i64,
}

#[derive(Debug)]
pub struct PageList<'a> {
    pub shell: Shell<'a>,
    pub cards: Vec<PageCard<'a>>,
    pub filter: Filter,
    pub words: &'a str,
    /// The query string of the next page of the list.
    pub next: Option<String>,
    pub base_url: &'a str,
    pub max_upload_bytes: u64,
    pub attempt: Attempt,
    pub now: i64,
}

#[derive(Template)]
#[template(path = "dashboard/list.html")]
struct ListTemplate<'a> {
    shell: Shell<'a>,
    cards: &'a [PageCard<'a>],
    filter: Filter,
    words: &'a str,
    next: Option<&'a str>,
    base_url: &'a str,
    largest: Size,
    attempt: &'a Attempt,
    now: i64,
    pages_css: String,
    upload_js: String,
}

impl ListTemplate<'_> {
    /// The filters with their labels and links.
    fn filters(&self) -> Vec<(Filter, &'static str, String)> {
        let names = [
            (Filter::All, "All"),
            (Filter::Public, "Public"),
            (Filter::Unlisted, "Unlisted"),
            (Filter::Protected, "Protected"),
            (Filter::Burn, "View once"),
            (Filter::Expiring, "Expiring"),
            (Filter::Ended, "Ended"),
        ];
        names.map(|(filter, name)| (filter, name, address(filter, self.words))).into()
    }

    fn is_first_visit(&self) -> bool {
        self.cards.is_empty() && self.words.is_empty() && self.filter == Filter::All
    }

    fn badges(&self, site: &Site) -> Vec<Badge> {
        badges(site, self.now)
    }
}

/// The address of the list with a filter and search words.
fn address(filter: Filter, words: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    if filter != Filter::All {
        query.append_pair("show", filter.as_str());
    }
    if !words.is_empty() {
        query.append_pair("q", words);
    }
    let query = query.finish();
    if query.is_empty() { "/dashboard".into() } else { format!("/dashboard?{query}") }
}

pub fn list(list: &PageList<'_>) -> Html {
    let view = ListTemplate {
        shell: list.shell,
        cards: &list.cards,
        filter: list.filter,
        words: list.words,
        next: list.next.as_deref(),
        base_url: list.base_url,
        largest: size(i64::try_from(list.max_upload_bytes).unwrap_or(i64::MAX)),
        attempt: &list.attempt,
        now: list.now,
        pages_css: PAGES_CSS.path(),
        upload_js: UPLOAD_JS.path(),
    };
    // Rendering writes into a String and cannot fail.
    Html(view.render().unwrap_or_default())
}
