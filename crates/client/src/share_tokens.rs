//! Share links: URLs that open a page without its password.

use crate::answer::{Answer, segment};
use crate::client::{Client, json_body};
use crate::error::ClientError;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Deserialize)]
pub struct ShareLink {
    pub id: String,
    /// Secret: any client that has it can see the page.
    pub url: String,
    #[serde(default)]
    pub note: Option<String>,
    #[serde(default)]
    pub expires_at: Option<i64>,
    #[serde(default)]
    pub max_uses: Option<i64>,
    #[serde(default)]
    pub uses: i64,
    #[serde(default)]
    pub created_at: i64,
    #[serde(default)]
    pub last_used_at: Option<i64>,
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl std::fmt::Debug for ShareLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShareLink").field("id", &self.id).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Deserialize)]
pub struct ShareLinks {
    /// Newest first.
    pub tokens: Vec<ShareLink>,
}

/// The options of a new link; those left unset use the server's default.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NewShareLink {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in_hours: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_uses: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bypass_email_gate: bool,
}

impl Client {
    pub async fn create_share_link(
        &self,
        name: &str,
        link: &NewShareLink,
    ) -> Result<Answer<ShareLink>, ClientError> {
        let body = json_body(&serde_json::to_value(link).unwrap_or_default());
        self.answer(Method::POST, &format!("/sites/{}/share-tokens", segment(name)), Some(body)).await
    }

    pub async fn list_share_links(&self, name: &str) -> Result<Answer<ShareLinks>, ClientError> {
        self.answer(Method::GET, &format!("/sites/{}/share-tokens", segment(name)), None).await
    }

    pub async fn revoke_share_link(&self, id: &str) -> Result<Value, ClientError> {
        self.call(Method::DELETE, &format!("/share-tokens/{}", segment(id)), None).await
    }
}
