//! The tool that lists pages: short rows, because a model pays for every word of a list.

use super::{Call, READS, Tool, schema};
use crate::http::api::list_query;
use crate::http::extract::{nullable, words_schema};
use crate::http::mcp::tool_result::ToolOutput;
use dropleaf_app::{App, SiteList};
use dropleaf_core::Result;
use dropleaf_core::scope::Scope;
use dropleaf_core::site::{Site, Visibility};
use dropleaf_core::site_change::Field;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use utoipa::ToSchema;
use utoipa::openapi::schema::Object;

/// Default number of listed pages.
const LISTED: i64 = 50;

/// Which part of the list.
#[derive(Debug, Deserialize, ToSchema)]
struct ListSites {
    /// Only pages with these words in title or slug.
    #[schema(nullable = false, max_length = 200)]
    query: Option<String>,
    #[schema(schema_with = listed_state, required = false)]
    state: Option<String>,
    /// 50 by default.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 1, maximum = 500)]
    limit: Field<i64>,
    /// `next_before`.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, nullable = false)]
    before: Field<i64>,
    /// `next_before_id`.
    #[schema(nullable = false)]
    before_id: Option<String>,
}

fn listed_state() -> Object {
    words_schema(&["live", "expired"], "live by default.")
}

/// A page in a list. `get_site` has everything else.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct ListedSiteJson {
    id: String,
    title: String,
    #[schema(format = "uri")]
    url: String,
    /// `live` or `expired`.
    state: String,
    /// Epoch seconds.
    updated_at: i64,
    /// Epoch seconds; absent if the page does not expire.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    expires_at: Option<i64>,
    view_count: i64,
    /// `public` or `burn`; absent for a page that opens with its link only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    visibility: Option<&'static str>,
    /// Unresolved comments.
    open_feedback: i64,
}

/// Pages as `list_sites` returns them.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct ListedSitesJson {
    sites: Vec<ListedSiteJson>,
    /// Whether there are more pages.
    has_more: bool,
    /// Send as `before` to get them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next_before: Option<i64>,
    /// Send as `before_id` to get them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next_before_id: Option<String>,
}

pub(super) static LIST_SITES: Tool = Tool {
    name: "list_sites",
    title: "List pages",
    description: "List or search your pages, most recently changed first. While `has_more`, send `next_before` and \
                  `next_before_id` as `before` and `before_id`.",
    needs: Scope::Read,
    hints: READS,
    input: schema::of::<ListSites>,
    output: schema::output::<ListedSitesJson>,
    run: |call| Box::pin(list_sites(call)),
};

async fn list_sites(mut call: Call) -> Result<ToolOutput> {
    let ListSites { query: words, state, limit, before, before_id } = call.fields.take()?;
    let mut pairs = vec![("limit", limit.value().unwrap_or(LISTED).to_string())];
    pairs.extend(before.value().map(|before| ("before", before.to_string())));
    pairs.extend(before_id.map(|text| ("before_id", text)));
    pairs.extend(state.map(|text| ("state", text)));
    let mut query = list_query(pairs.iter().map(|(name, value)| (*name, value.as_str())))?;
    query.words = words.unwrap_or_default();
    let app = &call.state.app;
    let found = app.list_sites(call.account(), query).await?;
    let comments = app.count_open_feedback(call.account()).await?;
    Ok(ToolOutput::json(listed(app, found, &comments)).warned(call.fields.warnings()))
}

fn listed(app: &App, found: SiteList, comments: &HashMap<String, i64>) -> ListedSitesJson {
    let last = found.sites.last().filter(|_| found.has_more).map(|site| (site.updated_at, site.id.clone()));
    let (next_before, next_before_id) = last.unzip();
    let row = |site: Site| ListedSiteJson {
        url: app.canonical_url(&site),
        state: site.state_at(app.now()).as_str().to_owned(),
        open_feedback: comments.get(&site.id).copied().unwrap_or_default(),
        id: site.id,
        title: site.title,
        updated_at: site.updated_at,
        expires_at: site.expires_at,
        view_count: site.view_count,
        visibility: (site.visibility != Visibility::Unlisted).then(|| site.visibility.as_str()),
    };
    let sites = found.sites.into_iter().map(row).collect();
    ListedSitesJson { sites, has_more: found.has_more, next_before, next_before_id }
}
