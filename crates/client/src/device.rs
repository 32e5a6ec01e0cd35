//! Device login (RFC 8628): requests a code to show to the user, then polls until the user approves or denies it. Also supports
//! the older endpoints that return an API key.

use crate::client::{Client, form_body, json_body};
use crate::error::ClientError;
use reqwest::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The client id that every server accepts without registration.
pub const OWN_CLIENT: &str = "dropleaf-cli";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// RFC 8628 §3.5: the default polling interval, and the increase after `slow_down`, in seconds.
const INTERVAL: u64 = 5;
const SLOWER: Duration = Duration::from_secs(5);

/// A pending device login: the code and URL to show to the user, and the device code to poll with.
#[derive(Clone, Deserialize)]
pub struct DeviceCode {
    pub device_code: String,
    pub user_code: String,
    pub verification_uri: String,
    #[serde(default)]
    pub verification_uri_complete: Option<String>,
    pub expires_in: u64,
    #[serde(default = "default_interval")]
    pub interval: u64,
}

impl std::fmt::Debug for DeviceCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeviceCode").field("user_code", &self.user_code).finish_non_exhaustive()
    }
}

const fn default_interval() -> u64 {
    INTERVAL
}

/// A newly created API key. The server returns it only once.
#[derive(Clone, Deserialize)]
pub struct Key {
    pub access_token: String,
    pub key_id: Option<String>,
}

/// The OAuth token response.
#[derive(Clone, Deserialize)]
pub struct Tokens {
    pub access_token: String,
    pub refresh_token: Option<String>,
    pub expires_in: Option<u64>,
    pub scope: Option<String>,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").field("scope", &self.scope).finish_non_exhaustive()
    }
}

/// The state of a device login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Polled<T> {
    Pending,
    SlowDown,
    Denied,
    Expired,
    Ready(T),
}

impl Client {
    /// Starts a login that yields an API key with this name.
    pub async fn start_device(&self, client_name: &str) -> Result<DeviceCode, ClientError> {
        let body = json_body(&json!({"client_id": OWN_CLIENT, "client_name": client_name}));
        self.typed(Method::POST, "/device/code", Some(body)).await
    }

    pub async fn poll_device(&self, device_code: &str) -> Result<Polled<Key>, ClientError> {
        let body = json_body(&json!({"device_code": device_code}));
        self.poll("/device/token", body).await
    }

    /// Starts a login that yields OAuth tokens.
    pub async fn authorize_device(&self, client_id: &str, scope: &str) -> Result<DeviceCode, ClientError> {
        let body = form_body(&[("client_id", client_id), ("scope", scope)]);
        self.typed(Method::POST, "/oauth/device_authorization", Some(body)).await
    }

    pub async fn poll_tokens(
        &self,
        client_id: &str,
        device_code: &str,
    ) -> Result<Polled<Tokens>, ClientError> {
        let fields = [("grant_type", GRANT), ("client_id", client_id), ("device_code", device_code)];
        self.poll("/oauth/token", form_body(&fields)).await
    }

    async fn poll<T: DeserializeOwned>(
        &self,
        path: &str,
        body: crate::client::Outgoing,
    ) -> Result<Polled<T>, ClientError> {
        match self.typed(Method::POST, path, Some(body)).await {
            Ok(given) => Ok(Polled::Ready(given)),
            Err(error) => match error.code() {
                Some("authorization_pending") => Ok(Polled::Pending),
                Some("slow_down") => Ok(Polled::SlowDown),
                Some("access_denied") => Ok(Polled::Denied),
                Some("expired_token") => Ok(Polled::Expired),
                _ => Err(error),
            },
        }
    }
}

/// Polls until the result is `Ready`, `Denied` or `Expired`. When the server is unreachable, polling continues with a longer
/// interval until the code expires.
pub async fn wait_for_answer<T>(
    code: &DeviceCode,
    mut poll: impl AsyncFnMut() -> Result<Polled<T>, ClientError>,
) -> Result<Polled<T>, ClientError> {
    let ends = Instant::now() + Duration::from_secs(code.expires_in);
    let mut wait = Duration::from_secs(code.interval.clamp(1, 600));
    loop {
        if Instant::now() + wait > ends {
            return Ok(Polled::Expired);
        }
        sleep(wait).await;
        match poll().await {
            Ok(Polled::Pending) => {}
            Ok(Polled::SlowDown) | Err(ClientError::Unreachable { .. }) => wait += SLOWER,
            Ok(answer) => return Ok(answer),
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code() -> DeviceCode {
        DeviceCode {
            device_code: "secret".into(),
            user_code: "BCDF-GHJK".into(),
            verification_uri: "http://localhost/device".into(),
            verification_uri_complete: None,
            expires_in: 600,
            interval: 5,
        }
    }

    /// Replays these poll results; returns the outcome and the second at which each poll was made.
    async fn play(answers: Vec<Result<Polled<u8>, ClientError>>) -> (Polled<u8>, Vec<u64>) {
        let start = Instant::now();
        let (mut answers, mut asked) = (answers.into_iter(), Vec::new());
        let end = wait_for_answer(&code(), async || {
            asked.push(start.elapsed().as_secs());
            answers.next().unwrap_or(Ok(Polled::Pending))
        })
        .await;
        (end.unwrap(), asked)
    }

    #[tokio::test(start_paused = true)]
    async fn questions_keep_the_interval_and_slow_down_lengthens_it() {
        let answers =
            vec![Ok(Polled::Pending), Ok(Polled::SlowDown), Ok(Polled::Pending), Ok(Polled::Ready(7))];
        assert_eq!(play(answers).await, (Polled::Ready(7), vec![5, 10, 20, 30]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_away_for_a_moment_is_asked_again() {
        let away = ClientError::Unreachable { server: "x".into(), why: "refused".into() };
        assert_eq!(play(vec![Err(away), Ok(Polled::Denied)]).await, (Polled::Denied, vec![5, 15]));
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_ends_with_the_code() {
        let (end, asked) = play(Vec::new()).await;
        assert_eq!((end, asked.len()), (Polled::Expired, 120));
    }

    #[test]
    fn secrets_are_not_shown() {
        assert!(!format!("{:?}", code()).contains("secret"));
        let key = Key { access_token: "stk_live_x".into(), key_id: None };
        assert!(!format!("{key:?}").contains("stk_live_x"));
    }
}
