//! The guides for agents: how to get access, what makes a good page, where everything is. All URLs and numbers come from the
//! settings. Programs get Markdown; browsers get the same text as HTML.

use super::style::{Style, style};
use super::{Rendered, Size};
use crate::config::Resolved;
use askama::Template;
use dropleaf_core::expiry::ANONYMOUS_LIFE_SECONDS;
use dropleaf_core::host::Origin;
use dropleaf_core::ledger::dollars;
use dropleaf_core::oauth::GRANT_SECONDS;
use dropleaf_core::payment::Item;
use dropleaf_core::plan::Plan;
use std::sync::LazyLock;

static STYLE: LazyLock<Style> = style!("guide.css");

/// The values that the guides mention about this server.
#[derive(Debug)]
pub struct Facts {
    base_url: String,
    site_url: String,
    slug_url: String,
    anonymous_hours: i64,
    hours: &'static str,
    upload: Size,
    unpacked: Size,
    files: usize,
    depth: usize,
    name_bytes: usize,
    versions_kept: i64,
    restore_days: i64,
    anonymous_per_hour: i64,
    anonymous_per_day: i64,
    key_per_minute: i64,
    grant_days: i64,
    client_documents: bool,
    plans: Vec<PlanFacts>,
    /// `None` if nothing is sold.
    pay: Option<PayFacts>,
}

/// What can be bought.
#[derive(Debug)]
struct PayFacts {
    publish: String,
    provision: String,
    publish_size: Size,
    sandbox: bool,
    agents_url: Option<String>,
}

/// A plan as text.
#[derive(Debug)]
struct PlanFacts {
    name: String,
    life: String,
    pages: String,
    publishes: String,
}

impl Facts {
    pub fn of(resolved: &Resolved) -> Self {
        let (hosts, config) = (&resolved.hosts, &resolved.config);
        let plans = &resolved.settings.plans;
        let anonymous_hours = ANONYMOUS_LIFE_SECONDS / 3600;
        let size = |bytes: u64| Size(i64::try_from(bytes).unwrap_or(i64::MAX));
        Self {
            base_url: hosts.base.url(),
            site_url: hosts.site.url(),
            slug_url: hosts.slug_url("my-report"),
            anonymous_hours,
            hours: if anonymous_hours == 1 { "hour" } else { "hours" },
            upload: size(config.limits.upload_bytes),
            unpacked: size(config.limits.unpacked_bytes),
            files: config.limits.files,
            depth: config.limits.depth,
            name_bytes: config.limits.name_bytes,
            versions_kept: config.storage.versions_kept,
            restore_days: config.retention.restore_days,
            anonymous_per_hour: config.limits.anonymous_per_hour,
            anonymous_per_day: config.limits.anonymous_per_day,
            key_per_minute: config.limits.key_per_minute,
            grant_days: GRANT_SECONDS / 86_400,
            client_documents: config.oauth.client_documents,
            plans: plans.names().map(|name| PlanFacts::of(&plans.find(name))).collect(),
            pay: resolved.settings.payments.as_ref().map(|payments| PayFacts {
                publish: format!("${}", dollars(payments.prices.of(Item::Publish))),
                provision: format!("${}", dollars(payments.prices.of(Item::Provision))),
                publish_size: size(payments.publish_bytes),
                sandbox: payments.is_sandbox(),
                agents_url: hosts.agents.as_ref().map(Origin::url),
            }),
        }
    }
}

impl PlanFacts {
    fn of(plan: &Plan) -> Self {
        let capped = |cap: Option<i64>, unit: &str, none: &str| {
            cap.map_or_else(|| none.to_owned(), |cap| format!("{cap} {unit}"))
        };
        let days = plan.longest_life_seconds.map(|seconds| seconds / 86_400);
        Self {
            name: plan.name.clone(),
            life: capped(days, "days", "no expiry"),
            pages: capped(plan.active_pages, "pages", "unlimited pages"),
            publishes: capped(plan.publishes_a_day, "publishes per day", "no daily limit"),
        }
    }
}

macro_rules! guides {
    ($($name:ident = $kind:ident $path:literal;)*) => {
        $(#[derive(Template)]
        #[template(path = $path, escape = "none")]
        struct $kind<'a> { facts: &'a Facts }

        pub fn $name(facts: &Facts) -> String {
            // Rendering writes into a String and cannot fail.
            $kind { facts }.render().unwrap_or_default()
        })*
    };
}

guides! {
    auth_md = AuthMd "guides/auth.md";
    llms_txt = LlmsTxt "guides/llms.txt";
    design_guide = DesignGuide "guides/design-guide.md";
}

#[derive(Template)]
#[template(path = "guide.html")]
struct Page<'a> {
    style: &'static str,
    title: &'a str,
    path: &'a str,
    base_url: &'a str,
    body: &'a str,
}

/// One of the guides for a browser. The Markdown is ours, and its values come from the settings.
pub fn guide(markdown: &str, path: &str, facts: &Facts) -> Rendered {
    let title = markdown.lines().next().unwrap_or_default().trim_start_matches("# ");
    let body = dropleaf_content::render_fragment(markdown);
    let page = Page { style: STYLE.text, title, path, base_url: &facts.base_url, body: &body };
    Rendered { html: page.render().unwrap_or_default(), style_source: &STYLE.source }
}
