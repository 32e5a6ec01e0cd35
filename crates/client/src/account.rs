//! Account calls: `GET /me` and revoking an API key.

use crate::client::Client;
use crate::error::ClientError;
use reqwest::Method;
use serde::{Deserialize, Serialize};

/// The response to `GET /me`.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Me {
    pub id: String,
    pub email: Option<String>,
    pub plan: String,
    /// All other fields of the response, such as counts and limits.
    #[serde(flatten)]
    pub more: serde_json::Map<String, serde_json::Value>,
}

impl Client {
    pub async fn me(&self) -> Result<Me, ClientError> {
        self.typed(Method::GET, "/me", None).await
    }

    /// Revokes an API key of the account by its id.
    pub async fn revoke_key(&self, id: &str) -> Result<(), ClientError> {
        let id: String = form_urlencoded::byte_serialize(id.as_bytes()).collect();
        self.call(Method::DELETE, &format!("/api-keys/{id}"), None).await.map(|_| ())
    }
}
