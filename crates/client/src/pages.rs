//! Publishing, replacing and listing pages.

use crate::client::Client;
use crate::error::ClientError;
use crate::multipart;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A page as the server describes it. Fields not listed here are kept in `more`.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Site {
    pub id: String,
    pub url: String,
    pub title: Option<String>,
    pub visibility: String,
    pub expires_at: Option<i64>,
    pub expires_at_iso: Option<String>,
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Present only when a page without an owner was just created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim_url: Option<String>,
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct SiteList {
    pub sites: Vec<Site>,
    #[serde(default)]
    pub has_more: bool,
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A file to publish.
#[derive(Debug, Clone)]
pub struct File {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// The options of an upload; those left unset use the server's default.
#[derive(Clone, Default)]
pub struct PageOptions {
    pub slug: Option<String>,
    pub password: Option<String>,
    pub expires_in_hours: Option<String>,
    pub visibility: Option<String>,
    pub burn: bool,
    pub title: Option<String>,
    /// What to do about secrets and personal data: `off`, `warn` or `block`.
    pub pii_check: Option<String>,
}

impl std::fmt::Debug for PageOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PageOptions").field("slug", &self.slug).finish_non_exhaustive()
    }
}

impl PageOptions {
    fn fields(&self) -> Vec<(&'static str, String)> {
        let burn = self.burn.then(|| "true".to_owned());
        [
            ("slug", self.slug.clone()),
            ("password", self.password.clone()),
            ("expires_in_hours", self.expires_in_hours.clone()),
            ("visibility", self.visibility.clone()),
            ("burn_after_read", burn),
            ("title", self.title.clone()),
            ("pii_check", self.pii_check.clone()),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }
}

impl Client {
    /// Publishes a file; without a key the page has no owner and expires after a day.
    pub async fn publish(&self, file: &File, options: &PageOptions) -> Result<Site, ClientError> {
        let body = multipart::body(&file.name, &file.bytes, &options.fields());
        self.typed(Method::POST, "/sites", Some(body)).await
    }

    /// Replaces the content of a page; its link stays the same. `name` is its id, slug or token.
    pub async fn update(&self, name: &str, file: &File, options: &PageOptions) -> Result<Site, ClientError> {
        let name: String = form_urlencoded::byte_serialize(name.as_bytes()).collect();
        let body = multipart::body(&file.name, &file.bytes, &options.fields());
        self.typed(Method::PUT, &format!("/sites/{name}"), Some(body)).await
    }

    /// The account's pages, most recently changed first.
    pub async fn list(&self, limit: u32) -> Result<SiteList, ClientError> {
        self.typed(Method::GET, &format!("/sites?limit={limit}"), None).await
    }
}
