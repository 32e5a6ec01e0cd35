//! Edits the source of a page in place.

use crate::answer::{Answer, segment};
use crate::client::{Client, json_body};
use crate::error::ClientError;
use crate::sites::PageInfo;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// One literal replacement.
#[derive(Debug, Clone, Serialize)]
pub struct ContentEdit {
    pub find: String,
    pub replace: String,
    pub all: bool,
    /// The file of an archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// The edited page and what changed.
#[derive(Debug, Clone, Deserialize)]
pub struct EditedPage {
    #[serde(flatten)]
    pub page: PageInfo,
    /// In the unified format.
    #[serde(default)]
    pub diff: String,
}

impl Client {
    /// Applies all edits or none. With `dry_run` they are only checked.
    pub async fn edit_content(
        &self,
        name: &str,
        edits: &[ContentEdit],
        dry_run: bool,
    ) -> Result<Answer<EditedPage>, ClientError> {
        let body = json_body(&json!({ "edits": edits, "dry_run": dry_run }));
        self.answer(Method::PATCH, &format!("/sites/{}/content", segment(name)), Some(body)).await
    }
}
