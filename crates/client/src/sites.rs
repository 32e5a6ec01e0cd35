//! Pages that are already published: lists them, reads, deletes and restores one.

use crate::answer::{Answer, segment};
use crate::client::Client;
use crate::error::ClientError;
use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;

/// A page as the server describes it; servers of other versions may leave out what has a default.
#[derive(Debug, Clone, Deserialize)]
pub struct PageInfo {
    pub id: String,
    pub url: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub state: String,
    pub visibility: String,
    #[serde(default)]
    pub slug: Option<String>,
    #[serde(default)]
    pub byte_size: i64,
    #[serde(default)]
    pub version: i64,
    #[serde(default)]
    pub view_count: i64,
    #[serde(default)]
    pub created_at: i64,
    #[serde(default)]
    pub updated_at: i64,
    #[serde(default)]
    pub expires_at: Option<i64>,
    #[serde(default)]
    pub last_viewed_at: Option<i64>,
    #[serde(default)]
    pub password_protected: bool,
    #[serde(default)]
    pub e2e: bool,
    #[serde(default)]
    pub email_gate: Option<EmailGate>,
    #[serde(default)]
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct EmailGate {
    #[serde(default)]
    pub domain: String,
}

/// One part of the list of pages.
#[derive(Debug, Clone, Deserialize)]
pub struct PageList {
    pub sites: Vec<PageInfo>,
    #[serde(default)]
    pub has_more: bool,
    #[serde(default)]
    pub next_before: Option<i64>,
    #[serde(default)]
    pub next_before_id: Option<String>,
}

/// Where the next part of the list begins.
#[derive(Debug, Clone)]
pub struct ListCursor {
    before: i64,
    before_id: String,
}

impl PageList {
    pub fn next(&self) -> Option<ListCursor> {
        let cursor = ListCursor { before: self.next_before?, before_id: self.next_before_id.clone()? };
        self.has_more.then_some(cursor)
    }
}

#[derive(Debug, Clone, Deserialize)]
pub struct DeletedPage {
    #[serde(default)]
    pub restorable_until: Option<i64>,
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl Client {
    /// A part of the account's pages, most recently changed first. `state`: `live` or `expired`.
    pub async fn list_pages(
        &self,
        state: Option<&str>,
        limit: u32,
        from: Option<&ListCursor>,
    ) -> Result<Answer<PageList>, ClientError> {
        let mut query = form_urlencoded::Serializer::new(format!("limit={limit}"));
        if let Some(state) = state {
            query.append_pair("state", state);
        }
        if let Some(ListCursor { before, before_id }) = from {
            query.append_pair("before", &before.to_string()).append_pair("before_id", before_id);
        }
        self.answer(Method::GET, &format!("/sites?{}", query.finish()), None).await
    }

    /// One page of the account; `name` is its ID, slug or token.
    pub async fn get_page(&self, name: &str) -> Result<Answer<PageInfo>, ClientError> {
        self.answer(Method::GET, &format!("/sites/{}", segment(name)), None).await
    }

    /// Deletes a page. With `purge`, its content is erased and cannot be restored.
    pub async fn delete_page(&self, name: &str, purge: bool) -> Result<Answer<DeletedPage>, ClientError> {
        let purge = if purge { "?purge=true" } else { "" };
        self.answer(Method::DELETE, &format!("/sites/{}{purge}", segment(name)), None).await
    }

    pub async fn restore_page(&self, name: &str) -> Result<Answer<PageInfo>, ClientError> {
        self.answer(Method::POST, &format!("/sites/{}/restore", segment(name)), None).await
    }

    /// The ID of the page that a verified or pending custom domain of the account shows; `None` if it has no such domain.
    pub async fn find_page_of_domain(&self, host: &str) -> Result<Option<String>, ClientError> {
        let path = format!("/custom-domains/{}", segment(host));
        match self.call(Method::GET, &path, None).await {
            Ok(json) => Ok(json.get("site_id").and_then(Value::as_str).map(str::to_owned)),
            Err(error) if matches!(error.status(), Some(400 | 404)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
