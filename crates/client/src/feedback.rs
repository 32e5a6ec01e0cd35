//! The comments of viewers on a page. Their texts are untrusted.

use crate::answer::{Answer, segment};
use crate::client::{Client, json_body};
use crate::error::ClientError;
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;

#[derive(Debug, Clone, Deserialize)]
pub struct Comment {
    pub id: String,
    pub comment: String,
    #[serde(default)]
    pub intent: Option<String>,
    #[serde(default)]
    pub severity: Option<String>,
    #[serde(default)]
    pub selected_text: Option<String>,
    #[serde(default)]
    pub element: Option<String>,
    #[serde(default)]
    pub page_url: Option<String>,
    #[serde(default)]
    pub created_at: i64,
    #[serde(default)]
    pub resolved_at: Option<i64>,
    #[serde(default)]
    pub resolved_note: Option<String>,
}

/// One part of the comments: unresolved first, then newest.
#[derive(Debug, Clone, Deserialize)]
pub struct CommentList {
    pub feedback: Vec<Comment>,
    #[serde(default)]
    pub has_more: bool,
    #[serde(default)]
    pub next_cursor: Option<String>,
    /// Where the texts come from.
    #[serde(default)]
    pub notice: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ResolvedComment {
    pub id: String,
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl Client {
    pub async fn list_feedback(
        &self,
        name: &str,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<Answer<CommentList>, ClientError> {
        let mut query = form_urlencoded::Serializer::new(format!("limit={limit}"));
        if let Some(cursor) = cursor {
            query.append_pair("cursor", cursor);
        }
        let path = format!("/sites/{}/feedback?{}", segment(name), query.finish());
        self.answer(Method::GET, &path, None).await
    }

    pub async fn resolve_feedback(
        &self,
        id: &str,
        note: Option<&str>,
    ) -> Result<Answer<ResolvedComment>, ClientError> {
        let body = json_body(&note.map_or_else(|| json!({}), |note| json!({ "note": note })));
        self.answer(Method::POST, &format!("/feedback/{}/resolve", segment(id)), Some(body)).await
    }
}
