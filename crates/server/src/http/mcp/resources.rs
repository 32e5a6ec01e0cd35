//! Serves the owner's pages as MCP resources: `dropleaf://sites/{id}` is the metadata, `…/content` the stored document.

use super::rpc::{refusal, shown};
use super::sender::Sender;
use super::{FIXED_MS, page_card};
use crate::http::api::SiteJson;
use crate::http::state::ApiState;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use dropleaf_app::{ListQuery, Notice, NoticeKind};
use dropleaf_core::account::Account;
use dropleaf_core::site::Site;
use dropleaf_core::{Code, Error, Minter, number};
use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};
use std::collections::HashSet;

const SITES: &str = "dropleaf://sites/";
const CONTENT: &str = "/content";
/// Sites per page of the list; each has two resources.
const PAGE: i64 = 50;
/// Maximum content size of one resource; several copies are in memory while it is sent.
const CONTENT_BYTES: u64 = 4 << 20;
const JSON: &str = "application/json";

/// What a resource URI refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Target<'a> {
    site_id: &'a str,
    content: bool,
}

impl<'a> Target<'a> {
    fn parse(uri: &'a str) -> Option<Self> {
        let tail = uri.strip_prefix(SITES)?;
        let (site_id, content) = match tail.strip_suffix(CONTENT) {
            Some(id) => (id, true),
            None => (tail, false),
        };
        Minter::is_id("site", site_id).then_some(Self { site_id, content })
    }
}

fn unknown(uri: &str) -> ErrorData {
    let uri = shown(uri);
    ErrorData::resource_not_found(format!("Unknown resource {uri}."), Some(json!({"uri": uri})))
}

fn uri_of(site_id: &str) -> String {
    format!("{SITES}{site_id}")
}

/// The owner's live pages, most recently changed first.
pub(super) async fn list(
    state: &ApiState,
    sender: &Sender,
    cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    let mut query = ListQuery { limit: PAGE, ..ListQuery::default() };
    if let Some(cursor) = cursor {
        let (before, id) = read_cursor(&cursor)
            .ok_or_else(|| ErrorData::invalid_params("The cursor does not belong to this list.", None))?;
        (query.before, query.before_id) = (Some(before), Some(id));
    }
    let found = state.app.list_sites(&sender.who.account, query).await.map_err(|error| refusal(&error))?;
    let last = found.sites.last().filter(|_| found.has_more);
    let next_cursor = last.map(|site| cursor_after(site.updated_at, &site.id));
    let mut result = ListResourcesResult::with_all_items(found.sites.iter().flat_map(described).collect());
    result.next_cursor = next_cursor;
    result.ttl_ms = Some(0);
    result.cache_scope = Some(CacheScope::Private);
    Ok(result)
}

fn described(site: &Site) -> [Resource; 2] {
    let uri = uri_of(&site.id);
    let about = Resource::new(&uri, format!("{}.json", site.id))
        .with_title(site.title.as_str())
        .with_description("The page's link, settings, version, views and number of unread comments.")
        .with_mime_type(JSON);
    let content = Resource::new(format!("{uri}{CONTENT}"), format!("{}-content", site.id))
        .with_title(format!("{} (content)", site.title))
        .with_description("The stored document.");
    [about, content]
}

fn cursor_after(updated_at: i64, id: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{updated_at} {id}"))
}

fn read_cursor(cursor: &str) -> Option<(i64, String)> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let (updated_at, id) = text.split_once(' ')?;
    Minter::is_id("site", id).then_some((number::integer(updated_at)?, id.to_owned()))
}

pub(super) fn templates() -> ListResourceTemplatesResult {
    let about = ResourceTemplate::new(format!("{SITES}{{id}}"), "site")
        .with_title("A page")
        .with_description("Metadata of one of your pages by its ID, as returned by get_site.")
        .with_mime_type(JSON);
    let content = ResourceTemplate::new(format!("{SITES}{{id}}{CONTENT}"), "site-content")
        .with_title("A page's content")
        .with_description("The stored document of one of your pages.");
    let mut result = ListResourceTemplatesResult::with_all_items(vec![about, content]);
    result.ttl_ms = Some(FIXED_MS);
    result.cache_scope = Some(CacheScope::Public);
    result
}

pub(super) async fn read(
    state: &ApiState,
    sender: &Sender,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    if uri == page_card::URI {
        return Ok(page_card::read(FIXED_MS));
    }
    let target = Target::parse(uri).ok_or_else(|| unknown(uri))?;
    let contents = if target.content {
        content(state, sender, uri, target.site_id).await
    } else {
        about(state, sender, uri, target.site_id).await
    };
    let mut result = ReadResourceResult::new(vec![contents.map_err(|error| refusal(&error))?]);
    result.ttl_ms = Some(0);
    result.cache_scope = Some(CacheScope::Private);
    Ok(result)
}

async fn about(state: &ApiState, sender: &Sender, uri: &str, id: &str) -> Result<ResourceContents, Error> {
    let site = state.app.get_site(&sender.who.account, id).await?;
    let unread = state.app.count_unread_feedback(&site.id).await?;
    let mut about = serde_json::to_value(SiteJson::new(&state.app, site)).map_err(Error::internal)?;
    if let Value::Object(about) = &mut about {
        about.insert("unread_feedback".into(), unread.into());
    }
    Ok(ResourceContents::text(about.to_string(), uri).with_mime_type(JSON))
}

async fn content(state: &ApiState, sender: &Sender, uri: &str, id: &str) -> Result<ResourceContents, Error> {
    let fits = |_: &str, size: u64| {
        if size <= CONTENT_BYTES {
            return Ok(());
        }
        let detail = format!(
            "The content is {size} bytes; the limit for resources is {CONTENT_BYTES}. Read it in parts with the tool \
             get_content, or fetch it directly: GET {}/sites/{id}/content with your key.",
            state.app.hosts.base.url()
        );
        Err(Error::new(Code::TooLarge, detail))
    };
    let content = state.app.read_content_if(&sender.who.account, id, false, fits).await?;
    let contents = match str::from_utf8(&content.bytes) {
        Ok(text) if content.is_text() => ResourceContents::text(text, uri),
        _ => ResourceContents::blob(STANDARD.encode(&content.bytes), uri),
    };
    Ok(contents.with_mime_type(content.mime))
}

/// The entry that a session stores to watch this resource, which must belong to a page of the caller.
pub(super) async fn watchable(state: &ApiState, sender: &Sender, uri: &str) -> Result<String, ErrorData> {
    let target = Target::parse(uri).ok_or_else(|| unknown(uri))?;
    match state.app.get_site(&sender.who.account, target.site_id).await {
        Ok(_) => Ok(tail(uri).to_owned()),
        Err(error) => Err(refusal(&error)),
    }
}

/// Those of these resources that belong to pages of the account, without duplicates.
pub(super) async fn all_watchable(
    state: &ApiState,
    account: &Account,
    uris: &[String],
) -> Result<Vec<String>, Error> {
    let mut seen = HashSet::new();
    let requested: Vec<(&String, &str)> = uris
        .iter()
        .filter_map(|uri| Some((uri, Target::parse(uri)?.site_id)))
        .filter(|(uri, _)| seen.insert(*uri))
        .collect();
    let ids: HashSet<&str> = requested.iter().map(|(_, id)| *id).collect();
    let own = state.app.filter_visible(account, &ids.into_iter().collect::<Vec<_>>()).await?;
    Ok(requested.into_iter().filter(|(_, id)| own.contains(*id)).map(|(uri, _)| uri.clone()).collect())
}

/// The URI without the common prefix.
pub(super) fn tail(uri: &str) -> &str {
    uri.strip_prefix(SITES).unwrap_or(uri)
}

/// The URIs to notify about, for a subscriber that watches `watched`. A session that never subscribed is notified about
/// new feedback on every page.
pub(super) fn named_by(notice: &Notice, watched: Option<&[String]>) -> Vec<String> {
    let about = uri_of(&notice.site_id);
    let content = format!("{about}{CONTENT}");
    let Some(watched) = watched else {
        return if notice.kind == NoticeKind::Feedback { vec![about] } else { Vec::new() };
    };
    let changed = [Some(about), (notice.kind == NoticeKind::Change).then_some(content)];
    changed.into_iter().flatten().filter(|uri| watched.iter().any(|entry| entry == tail(uri))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "site_k3v5q7x2m4n6p8r1t9w0";

    #[test]
    fn an_address_is_of_a_page_or_of_its_content() {
        let target = |content| Some(Target { site_id: ID, content });
        assert_eq!(Target::parse(&format!("dropleaf://sites/{ID}")), target(false));
        assert_eq!(Target::parse(&format!("dropleaf://sites/{ID}/content")), target(true));
        for other in
            ["", "dropleaf://sites/", "dropleaf://sites/x", "https://sites/x", "dropleaf://sites/a/b"]
        {
            assert_eq!(Target::parse(other), None, "{other}");
        }
    }

    #[test]
    fn cursors_come_back_as_they_went() {
        assert_eq!(read_cursor(&cursor_after(17, ID)), Some((17, ID.to_owned())));
        for bad in ["", "x", "!!", &URL_SAFE_NO_PAD.encode("17"), &URL_SAFE_NO_PAD.encode("x site_1")] {
            assert_eq!(read_cursor(bad), None, "{bad}");
        }
    }
}
