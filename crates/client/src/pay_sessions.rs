//! Pay sessions: requests a link at which a person pays by card, then polls until the payment is completed, failed or expired.

use crate::answer::segment;
use crate::client::{Client, json_body};
use crate::error::ClientError;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fmt;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Errors that may pass are tolerated for this long, counted from the last successful poll.
const PATIENCE: Duration = Duration::from_mins(5);
/// After such an error, at least this long passes before the next poll.
const AFTER_ERROR: Duration = Duration::from_secs(5);
/// The longest time between two polls.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// A new pay session.
#[derive(Clone, Serialize, Deserialize)]
pub struct PaySession {
    /// Secret: any client that polls with it gets the key.
    pub code: String,
    /// For the person who pays.
    pub url: String,
    /// The link as a QR code of block characters.
    #[serde(default)]
    pub qr: String,
    /// In dollars.
    pub amount: String,
    pub feature: String,
    pub interval_seconds: u64,
    #[serde(default)]
    pub sandbox: bool,
    /// All other fields of the response.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// The state of a pay session.
#[derive(Clone, Serialize, Deserialize)]
pub struct PolledPaySession {
    pub feature: String,
    /// `pending`, `processing`, `completed`, `expired` or `failed`.
    pub status: String,
    /// In dollars.
    pub amount: String,
    pub interval_seconds: u64,
    /// The new API key; the server returns it only once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_delivered: Option<bool>,
    #[serde(default)]
    pub sandbox: bool,
    /// All other fields of the response.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl fmt::Debug for PaySession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PaySession").field("feature", &self.feature).finish_non_exhaustive()
    }
}

impl fmt::Debug for PolledPaySession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("PolledPaySession");
        shown.field("feature", &self.feature).field("status", &self.status).finish_non_exhaustive()
    }
}

impl PolledPaySession {
    /// Whether a key was paid for that is not in this response.
    pub fn lacks_key(&self) -> bool {
        self.feature == "provision" && self.api_key.is_none()
    }

    /// Whether the card was accepted, but the money has not arrived yet.
    pub fn is_processing(&self) -> bool {
        self.status == "processing"
    }

    /// Whether polling again can change something.
    fn is_open(&self) -> bool {
        matches!(self.status.as_str(), "pending" | "processing")
    }
}

impl Client {
    /// Creates a link to pay for this feature. Without an amount in cents, it is the server's default.
    pub async fn create_pay_session(
        &self,
        feature: &str,
        amount_minor: Option<i64>,
    ) -> Result<PaySession, ClientError> {
        let mut body = json!({ "feature": feature });
        if let Some(cents) = amount_minor {
            body["amount_minor"] = cents.into();
        }
        self.typed(Method::POST, "/pay/sessions", Some(json_body(&body))).await
    }

    /// Cancelling this call may lose the key of a new account, which is in one response only.
    pub async fn poll_pay_session(&self, code: &str) -> Result<PolledPaySession, ClientError> {
        self.typed(Method::GET, &format!("/pay/sessions/{}/poll", segment(code)), None).await
    }
}

/// Polls until the payment is completed, failed or expired. `poll` is called at once and then at the interval of the server.
/// While the server is unreachable, busy or failing, polling continues for a few minutes.
pub async fn wait_for_payment(
    mut poll: impl AsyncFnMut() -> Result<PolledPaySession, ClientError>,
) -> Result<PolledPaySession, ClientError> {
    let mut last_success = Instant::now();
    loop {
        let wait = match poll().await {
            Ok(polled) if !polled.is_open() => return Ok(polled),
            Ok(polled) => {
                last_success = Instant::now();
                Duration::from_secs(polled.interval_seconds.max(1))
            }
            Err(error) => match error.retry_after() {
                Some(wait) if last_success.elapsed() < PATIENCE => wait.max(AFTER_ERROR),
                _ => return Err(error),
            },
        };
        sleep(wait.min(LONGEST_WAIT)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "one of several results")]
    fn polled(status: &str) -> Result<PolledPaySession, ClientError> {
        let json = json!({
            "code": "c0de", "feature": "provision", "status": status, "amount": "1.00", "interval_seconds": 3,
            "api_key": "stk_live_secret", "expires_at": 1
        });
        Ok(serde_json::from_value(json).unwrap())
    }

    fn away() -> Result<PolledPaySession, ClientError> {
        Err(ClientError::Unreachable { server: "x".into(), why: "refused".into() })
    }

    fn refused(status: u16, retry_after: Option<u64>) -> Result<PolledPaySession, ClientError> {
        let (code, description) = ("x".to_owned(), "x".to_owned());
        let (reasons, body) = (Vec::new(), Value::Null);
        Err(ClientError::Refused { status, code, description, retry_after, reasons, body })
    }

    /// Replays these results; returns the outcome and the second at which each poll was made.
    async fn play(
        results: Vec<Result<PolledPaySession, ClientError>>,
    ) -> (Result<String, ClientError>, Vec<u64>) {
        let start = Instant::now();
        let (mut results, mut times) = (results.into_iter(), Vec::new());
        let outcome = wait_for_payment(async || {
            times.push(start.elapsed().as_secs());
            results.next().unwrap_or_else(away)
        })
        .await;
        (outcome.map(|polled| polled.status), times)
    }

    #[tokio::test(start_paused = true)]
    async fn polls_keep_the_interval_until_the_session_ends() {
        for end in ["completed", "expired", "failed"] {
            let (outcome, times) =
                play(vec![polled("pending"), polled("pending"), polled("processing"), polled(end)]).await;
            assert_eq!((outcome.unwrap().as_str(), times), (end, vec![0, 3, 6, 9]));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn errors_that_may_pass_are_tolerated_for_a_while() {
        let results =
            vec![away(), refused(429, Some(20)), refused(502, None), polled("pending"), polled("completed")];
        let (outcome, times) = play(results).await;
        assert_eq!((outcome.unwrap().as_str(), times), ("completed", vec![0, 5, 25, 30, 33]));
        let (outcome, times) = play(vec![polled("pending")]).await;
        assert!(matches!(outcome, Err(ClientError::Unreachable { .. })));
        assert_eq!(times.last(), Some(&303));
    }

    #[tokio::test(start_paused = true)]
    async fn other_errors_end_the_wait() {
        let (outcome, times) = play(vec![polled("pending"), refused(404, None)]).await;
        assert_eq!((outcome.unwrap_err().status(), times), (Some(404), vec![0, 3]));
    }

    #[test]
    fn secrets_are_not_shown_and_other_fields_are_kept() {
        let polled = polled("completed").unwrap();
        assert!(!format!("{polled:?}").contains("secret"));
        let json = serde_json::to_value(&polled).unwrap();
        assert_eq!((&json["code"], &json["expires_at"]), (&json!("c0de"), &json!(1)));
    }
}
