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
    /// open, reopened or resolved; empty from an older server.
    #[serde(default)]
    pub state: String,
    #[serde(default)]
    pub reply_count: i64,
    /// The newest replies, oldest first.
    #[serde(default)]
    pub replies: Vec<CommentReply>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct CommentReply {
    pub author: String,
    #[serde(default)]
    pub name: Option<String>,
    pub text: String,
    #[serde(default)]
    pub created_at: i64,
}

/// Which comments to list, as the words of the API.
#[derive(Debug, Clone, Default)]
pub struct CommentFilter {
    pub state: Option<String>,
    pub severity: Option<String>,
    pub intent: Option<String>,
    pub query: Option<String>,
    pub order: Option<String>,
}

impl CommentFilter {
    /// The filters that are set, with their names.
    pub fn pairs(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("state", &self.state),
            ("severity", &self.severity),
            ("intent", &self.intent),
            ("query", &self.query),
            ("order", &self.order),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)))
    }
}

#[derive(Debug, Clone, Deserialize)]
pub struct RepliedComment {
    pub id: String,
    pub state: String,
    #[serde(default)]
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ReopenedComment {
    pub id: String,
    pub state: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ResolvedComments {
    pub ids: Vec<String>,
    #[serde(default)]
    pub warnings: Vec<String>,
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
        filter: &CommentFilter,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<Answer<CommentList>, ClientError> {
        let mut query = form_urlencoded::Serializer::new(format!("limit={limit}"));
        query.extend_pairs(filter.pairs());
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

    /// Replies to a comment, as the owner or as a program.
    pub async fn reply_to_feedback(
        &self,
        name: &str,
        id: &str,
        text: &str,
        author: &str,
        resolve: bool,
    ) -> Result<Answer<RepliedComment>, ClientError> {
        let path = format!("/sites/{}/feedback/{}/replies", segment(name), segment(id));
        let body = json!({ "text": text, "author": author, "resolve": resolve });
        self.answer(Method::POST, &path, Some(json_body(&body))).await
    }

    pub async fn reopen_feedback(
        &self,
        name: &str,
        id: &str,
    ) -> Result<Answer<ReopenedComment>, ClientError> {
        let path = format!("/sites/{}/feedback/{}/reopen", segment(name), segment(id));
        self.answer(Method::POST, &path, None).await
    }

    /// Resolves all unresolved comments of a page that a filter selects.
    pub async fn resolve_feedback_by(
        &self,
        name: &str,
        filter: &CommentFilter,
        note: Option<&str>,
    ) -> Result<Answer<ResolvedComments>, ClientError> {
        let mut body = json!({ "note": note });
        for (name, value) in filter.pairs().filter(|(name, _)| *name != "order") {
            body[name] = value.into();
        }
        let path = format!("/sites/{}/feedback/resolve", segment(name));
        self.answer(Method::POST, &path, Some(json_body(&body))).await
    }
}
