//! Publishing, replacing and claiming pages.

use crate::answer::segment;
use crate::client::{Client, json_body};
use crate::error::ClientError;
use crate::published::Gate;
use crate::upload::Upload;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A page as the server describes it. Fields not listed here are kept in `more`.
#[derive(Clone, Deserialize, Serialize)]
pub struct Site {
    pub id: String,
    pub url: String,
    pub title: Option<String>,
    pub visibility: String,
    pub expires_at: Option<i64>,
    pub expires_at_iso: Option<String>,
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Present only when a page without an owner was just created. Secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim_token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim_url: Option<String>,
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Site {
    /// What restricts the page.
    pub fn gates(&self) -> Vec<Gate> {
        let has_password = self.more.get("password_protected").and_then(Value::as_bool).unwrap_or_default();
        let has_email_gate = self.more.get("email_gate").is_some_and(|gate| !gate.is_null());
        let gates = [
            (has_password, Gate::Password),
            (has_email_gate, Gate::Email),
            (self.visibility == "burn", Gate::Burn),
        ];
        gates.into_iter().filter_map(|(is_set, gate)| is_set.then_some(gate)).collect()
    }
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
    /// Whether unknown paths get `index.html`; `None` lets the server decide by the content.
    pub spa: Option<bool>,
    /// The file is encrypted end to end.
    pub e2e: bool,
    /// Open pages show a new version by themselves.
    pub live: bool,
    /// Viewers can comment with the feedback toolbar.
    pub feedback: bool,
}

impl std::fmt::Debug for PageOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PageOptions").field("slug", &self.slug).finish_non_exhaustive()
    }
}

impl PageOptions {
    /// Those that concern only the content: a page without an account keeps all other settings.
    #[must_use]
    pub fn content_only(&self) -> Self {
        Self { pii_check: self.pii_check.clone(), spa: self.spa, e2e: self.e2e, ..Self::default() }
    }

    /// Whether anything but the content would change.
    pub fn changes_settings(&self) -> bool {
        self.fields().len() > self.content_only().fields().len()
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        let yes = |is_set: bool| is_set.then(|| "true".to_owned());
        [
            ("slug", self.slug.clone()),
            ("password", self.password.clone()),
            ("expires_in_hours", self.expires_in_hours.clone()),
            ("visibility", self.visibility.clone()),
            ("burn_after_read", yes(self.burn)),
            ("title", self.title.clone()),
            ("pii_check", self.pii_check.clone()),
            ("spa", self.spa.map(|spa| spa.to_string())),
            ("e2e", yes(self.e2e)),
            ("live", yes(self.live)),
            ("agentation", yes(self.feedback)),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }
}

impl Client {
    /// Publishes a file; without a key the page has no owner and expires after a day. If the response is lost, the same call
    /// with the same idempotency key returns the same page.
    pub async fn publish(
        &self,
        upload: &Upload,
        options: &PageOptions,
        idempotency_key: &str,
    ) -> Result<Site, ClientError> {
        self.parse(self.post_once("/sites", upload.form(&options.fields()), idempotency_key).await?)
    }

    /// Replaces the content of a page; its link stays the same. `name` is its id, slug or token.
    pub async fn update(
        &self,
        name: &str,
        upload: &Upload,
        options: &PageOptions,
    ) -> Result<Site, ClientError> {
        self.typed(Method::PUT, &format!("/sites/{}", segment(name)), Some(upload.form(&options.fields())))
            .await
    }

    /// The same for a page without an owner. Its claim token can replace only the content.
    pub async fn update_unclaimed(
        &self,
        name: &str,
        claim_token: &str,
        upload: &Upload,
        options: &PageOptions,
    ) -> Result<Site, ClientError> {
        let form = upload.form(&options.content_only().fields());
        let credential = Some(format!("Claim {claim_token}"));
        let path = format!("/sites/{}", segment(name));
        self.parse(self.call_with(credential, Method::PUT, &path, Some(form)).await?)
    }

    /// Moves a page that was published without an account into the account of the key.
    pub async fn claim(&self, id: &str, claim_token: &str) -> Result<(), ClientError> {
        let body = json_body(&json!({"claim_token": claim_token}));
        self.call(Method::POST, &format!("/sites/{}/claim", segment(id)), Some(body)).await.map(|_| ())
    }
}
