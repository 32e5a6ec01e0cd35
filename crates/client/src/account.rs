//! Account calls: `/me`, and finding and revoking an API key.

use crate::answer::segment;
use crate::client::{Client, json_body};
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

/// The limits of an upload, as far as the server tells them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct UploadLimits {
    pub upload_bytes: Option<u64>,
    /// The unpacked size of an archive.
    pub unpacked_bytes: Option<u64>,
    /// The number of files in an archive.
    pub files: Option<u64>,
}

impl Client {
    /// The limits of uploads with this key.
    pub async fn upload_limits(&self) -> Result<UploadLimits, ClientError> {
        let me = self.me().await?;
        let limits = me.more.get("limits").cloned().unwrap_or_default();
        Ok(serde_json::from_value(limits).unwrap_or_default())
    }

    pub async fn me(&self) -> Result<Me, ClientError> {
        self.typed(Method::GET, "/me", None).await
    }

    /// Chooses which emails the account gets: off, instant or daily.
    pub async fn set_notify(&self, mode: &str) -> Result<Me, ClientError> {
        self.typed(Method::PATCH, "/me", Some(json_body(&serde_json::json!({"notify": mode})))).await
    }

    /// The id of the account's API key that starts with this prefix; `None` if there is no such key or more than one.
    pub async fn find_key_id(&self, prefix: &str) -> Result<Option<String>, ClientError> {
        let json = self.call(Method::GET, "/api-keys", None).await?;
        let keys = json["keys"].as_array().into_iter().flatten();
        let mut ids = keys.filter(|key| key["prefix"] == prefix).filter_map(|key| key["id"].as_str());
        let first = ids.next().map(str::to_owned);
        Ok(first.filter(|_| ids.next().is_none()))
    }

    /// Revokes an API key of the account by its id.
    pub async fn revoke_key(&self, id: &str) -> Result<(), ClientError> {
        self.call(Method::DELETE, &format!("/api-keys/{}", segment(id)), None).await.map(|_| ())
    }
}
