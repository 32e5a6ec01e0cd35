//! Sends signed events of the sandbox card processor to a webhook. Which events are sent, and when again, is left to the caller.

use super::exchange::{ANSWER_BYTES, client, exchange};
use anyhow::{Result, ensure};
use dropleaf_core::Clock;
use dropleaf_pay::stripe;
use http::header::CONTENT_TYPE;
use reqwest::{Client, Url};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(20);

/// A webhook endpoint with its signing secret.
pub(crate) struct Webhook {
    client: Client,
    url: Url,
    secret: String,
    clock: Arc<dyn Clock>,
}

impl Webhook {
    pub(crate) fn new(url: &str, secret: &str, clock: Arc<dyn Clock>) -> Result<Self> {
        let url: Url = url.parse().map_err(|_| anyhow::anyhow!("`{url}` is not a URL"))?;
        ensure!(matches!(url.scheme(), "http" | "https"), "a webhook URL begins with http:// or https://");
        ensure!(
            secret.len() > "whsec_".len() && secret.starts_with("whsec_"),
            "a webhook secret begins with whsec_"
        );
        Ok(Self { client: client()?, url, secret: secret.to_owned(), clock })
    }

    /// Sends a body with a new signature. Any status but 2xx is an error, with the reason for the log.
    pub(crate) async fn send(&self, body: &str) -> Result<(), String> {
        let signature = stripe::sign(&self.secret, self.clock.now(), body.as_bytes());
        let request =
            self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json; charset=utf-8");
        let request = request.header("stripe-signature", signature).body(body.to_owned());
        match exchange(request, TIMEOUT, ANSWER_BYTES).await? {
            (200..300, _) => Ok(()),
            (status, _) => Err(format!("it returned status {status}")),
        }
    }
}

/// Keeps the secret out of logs.
impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("host", &self.url.host_str()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbound::scripted_server::{ScriptedServer, answer};
    use dropleaf_core::ManualClock;

    const NOW: i64 = 1_767_225_600;
    const SECRET: &str = "whsec_hunter2";

    fn webhook(url: &str) -> Webhook {
        crate::tls::install_provider();
        Webhook::new(url, SECRET, Arc::new(ManualClock::at(NOW))).unwrap()
    }

    #[tokio::test]
    async fn an_event_is_sent_with_a_signature_that_verifies() {
        let there = ScriptedServer::new(vec![answer(204, "")]);
        webhook(&format!("{}/webhooks/stripe", there.url)).send(r#"{"id":"evt_1"}"#).await.unwrap();
        let received = there.requests();
        let (head, body) = received[0].split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /webhooks/stripe "), "{head}");
        let signature = head.lines().find_map(|line| line.strip_prefix("stripe-signature: ")).unwrap();
        assert_eq!(stripe::verify_signature(signature, &[SECRET], body.as_bytes(), NOW), Ok(()));
    }

    #[tokio::test]
    async fn anything_but_success_is_an_error() {
        for status in [302, 400, 500] {
            let there = ScriptedServer::new(vec![answer(status, "{}")]);
            let error = webhook(&there.url).send("{}").await.unwrap_err();
            assert!(error.contains(&status.to_string()), "{error}");
        }
    }

    #[test]
    fn wrong_addresses_and_secrets_are_refused() {
        crate::tls::install_provider();
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(NOW));
        for (url, secret) in
            [("x", SECRET), ("ftp://x", SECRET), ("http://x", "whsec_"), ("http://x", "secret")]
        {
            assert!(Webhook::new(url, secret, Arc::clone(&clock)).is_err(), "{url} {secret}");
        }
        assert!(!format!("{:?}", webhook("http://x")).contains("hunter2"));
    }
}
