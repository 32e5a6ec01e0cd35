//! Webhooks: where events of the account are sent, their deliveries, and events that this program fetches.

use crate::answer::{Answer, segment};
use crate::client::{Client, json_body};
use crate::error::ClientError;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Deserialize)]
pub struct Webhook {
    pub id: String,
    #[serde(default)]
    pub url: Option<String>,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub events: Vec<String>,
    #[serde(default)]
    pub state: String,
    #[serde(default)]
    pub waiting: i64,
    /// Only in the response that creates or rotates it.
    #[serde(default)]
    pub secret: Option<String>,
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").field("id", &self.id).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Deserialize)]
pub struct Webhooks {
    /// Oldest first.
    pub webhooks: Vec<Webhook>,
}

/// The options of a new webhook; those left unset use the server's default.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NewWebhook {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Instead of a URL: the events are fetched.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub listen: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site_id: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct WebhookDelivery {
    pub id: String,
    #[serde(rename = "type")]
    pub event_type: String,
    pub state: String,
    #[serde(default)]
    pub attempts: i64,
    #[serde(default)]
    pub status: Option<i64>,
    #[serde(default)]
    pub error: Option<String>,
    #[serde(default)]
    pub created_at: i64,
}

#[derive(Debug, Clone, Deserialize)]
pub struct WebhookDeliveries {
    /// Newest first.
    pub deliveries: Vec<WebhookDelivery>,
}

/// A signed event that was fetched.
#[derive(Debug, Clone, Deserialize)]
pub struct FetchedEvent {
    pub seq: i64,
    pub webhook_id: String,
    pub webhook_timestamp: i64,
    pub webhook_signature: String,
    pub payload: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct FetchedEvents {
    /// Oldest first.
    pub events: Vec<FetchedEvent>,
}

impl Client {
    pub async fn list_webhooks(&self) -> Result<Answer<Webhooks>, ClientError> {
        self.answer(Method::GET, "/webhooks", None).await
    }

    pub async fn create_webhook(&self, webhook: &NewWebhook) -> Result<Answer<Webhook>, ClientError> {
        let body = json_body(&serde_json::to_value(webhook).unwrap_or_default());
        self.answer(Method::POST, "/webhooks", Some(body)).await
    }

    /// Enables a webhook, or pauses it.
    pub async fn set_webhook_enabled(&self, id: &str, enabled: bool) -> Result<Answer<Webhook>, ClientError> {
        let body = json_body(&json!({ "enabled": enabled }));
        self.answer(Method::PATCH, &format!("/webhooks/{}", segment(id)), Some(body)).await
    }

    /// Sends a test event to a webhook.
    pub async fn test_webhook(&self, id: &str) -> Result<Answer<WebhookDelivery>, ClientError> {
        self.answer(Method::POST, &format!("/webhooks/{}/test", segment(id)), None).await
    }

    pub async fn delete_webhook(&self, id: &str) -> Result<Value, ClientError> {
        self.call(Method::DELETE, &format!("/webhooks/{}", segment(id)), None).await
    }

    pub async fn rotate_webhook(&self, id: &str) -> Result<Answer<Webhook>, ClientError> {
        self.answer(Method::POST, &format!("/webhooks/{}/rotate", segment(id)), None).await
    }

    /// With `state` only deliveries in that state.
    pub async fn list_webhook_deliveries(
        &self,
        id: &str,
        state: Option<&str>,
    ) -> Result<Answer<WebhookDeliveries>, ClientError> {
        let query = state.map(|state| format!("?state={}", segment(state))).unwrap_or_default();
        self.answer(Method::GET, &format!("/webhooks/{}/deliveries{query}", segment(id)), None).await
    }

    pub async fn retry_webhook_delivery(
        &self,
        id: &str,
        delivery: &str,
    ) -> Result<Answer<WebhookDelivery>, ClientError> {
        let path = format!("/webhooks/{}/deliveries/{}/retry", segment(id), segment(delivery));
        self.answer(Method::POST, &path, None).await
    }

    /// Acknowledges events up to `received`, and waits for the next ones.
    pub async fn receive_webhook_events(
        &self,
        id: &str,
        received: Option<i64>,
        wait_seconds: i64,
    ) -> Result<FetchedEvents, ClientError> {
        let mut body = json!({"wait_seconds": wait_seconds});
        if let Some(seq) = received {
            body["received"] = seq.into();
        }
        let path = format!("/webhooks/{}/receive", segment(id));
        Ok(self.answer(Method::POST, &path, Some(json_body(&body))).await?.value)
    }
}
