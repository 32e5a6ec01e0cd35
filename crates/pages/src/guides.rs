//! The guides for agents: how to get access, what makes a good page, where everything is. All URLs and numbers come from the
//! settings. Programs get Markdown; browsers get the same text as HTML.

use super::assets::{Style, style};
use super::{Rendered, Size};
use askama::Template;
use dropleaf_core::plan::Plan;
use std::sync::LazyLock;

static STYLE: LazyLock<Style> = style!("guide.css");

/// The values that the guides mention about this server.
#[derive(Debug)]
pub struct GuideFacts {
    pub base_url: String,
    pub site_url: String,
    pub slug_url: String,
    pub anonymous_hours: i64,
    pub hours: &'static str,
    pub upload: Size,
    pub unpacked: Size,
    pub files: usize,
    pub depth: usize,
    pub name_bytes: usize,
    pub versions_kept: i64,
    pub restore_days: i64,
    pub anonymous_per_hour: i64,
    pub anonymous_per_day: i64,
    pub key_per_minute: i64,
    pub grant_days: i64,
    pub client_documents: bool,
    pub plans: Vec<PlanFacts>,
    /// `None` if nothing is sold.
    pub pay: Option<PayFacts>,
}

/// What can be bought.
#[derive(Debug)]
pub struct PayFacts {
    pub publish: String,
    pub provision: String,
    pub publish_size: Size,
    pub sandbox: bool,
    pub agents_url: Option<String>,
    pub rails: Vec<RailFacts>,
}

/// A way to pay.
#[derive(Debug)]
pub struct RailFacts {
    pub protocol: &'static str,
    /// `live`, or `not live` and why.
    pub status: String,
    pub how: &'static str,
}

/// A plan as text.
#[derive(Debug)]
pub struct PlanFacts {
    pub name: String,
    pub life: String,
    pub pages: String,
    pub publishes: String,
}

impl PlanFacts {
    pub fn of(plan: &Plan) -> Self {
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
        struct $kind<'a> { facts: &'a GuideFacts }

        pub fn $name(facts: &GuideFacts) -> String {
            // Rendering writes into a String and cannot fail.
            $kind { facts }.render().unwrap_or_default()
        })*
    };
}

guides! {
    auth_md = AuthMd "guides/auth.md";
    llms_txt = LlmsTxt "guides/llms.txt";
    design_guide = DesignGuide "guides/design-guide.md";
    skill_md = SkillMd "guides/SKILL.md";
}

#[derive(Template)]
#[template(path = "guide.html")]
struct GuideTemplate<'a> {
    style: &'static str,
    title: &'a str,
    path: &'a str,
    base_url: &'a str,
    body: &'a str,
}

/// A guide as HTML for a browser.
#[derive(Debug, Clone, Copy)]
pub struct Guide<'a> {
    pub title: &'a str,
    pub path: &'a str,
    pub base_url: &'a str,
    /// Written into the page as it is: rendered from our own Markdown, with values from the settings.
    pub body_html: &'a str,
}

/// One of the guides for a browser.
pub fn guide(guide: &Guide<'_>) -> Rendered {
    let Guide { title, path, base_url, body_html } = *guide;
    let page = GuideTemplate { style: STYLE.text, title, path, base_url, body: body_html };
    Rendered { html: page.render().unwrap_or_default(), style_source: &STYLE.source }
}
