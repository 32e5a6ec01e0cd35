//! One server and, if there is one, the key to it. Every call goes through here.

use crate::error::{ClientError, Reason};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Method, Url};
use serde_json::Value;
use std::time::Duration;

const CONNECT: Duration = Duration::from_secs(10);
/// Long enough for a large upload on a slow line.
const WHOLE: Duration = Duration::from_mins(10);

#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    key: Option<String>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("base", &self.base).finish_non_exhaustive()
    }
}

/// A body on its way: its type and its bytes.
pub(crate) type Outgoing = (String, Vec<u8>);

impl Client {
    /// A client of the server at this address.
    pub fn new(server: &str, key: Option<String>) -> Result<Self, ClientError> {
        let base = server_name(server)?;
        let http =
            builder().timeout(WHOLE).build().map_err(|error| ClientError::on_the_way(&base, &error))?;
        Ok(Self { http, base, key })
    }

    /// The server's address, without a slash at its end.
    pub fn server(&self) -> &str {
        &self.base
    }

    pub const fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// The same server with another key.
    #[must_use]
    pub fn with_key(self, key: Option<String>) -> Self {
        Self { key, ..self }
    }

    /// Sends a request and reads its JSON answer; anything but success is an error.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<Outgoing>,
    ) -> Result<Value, ClientError> {
        let mut request =
            self.http.request(method, format!("{}{path}", self.base)).header(ACCEPT, "application/json");
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, format!("Bearer {key}"));
        }
        if let Some((kind, bytes)) = body {
            request = request.header(CONTENT_TYPE, kind).body(bytes);
        }
        let lost = |error: reqwest::Error| ClientError::on_the_way(&self.base, &error);
        let response = request.send().await.map_err(lost)?;
        let status = response.status();
        let retry_after =
            response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let bytes = response.bytes().await.map_err(lost)?;
        let strange = || ClientError::Strange { server: self.base.clone(), status: status.as_u16() };
        let json: Value = serde_json::from_slice(&bytes).map_err(|_| strange())?;
        if status.is_success() {
            return Ok(json);
        }
        let text = |name: &str| json.get(name).and_then(Value::as_str).map(visible);
        let code = text("error").ok_or_else(strange)?;
        let description = text("error_description").unwrap_or_else(|| code.clone());
        let reasons = Reason::list(&json);
        let status = status.as_u16();
        Err(ClientError::Refused { status, code, description, retry_after, reasons, body: json })
    }

    /// The same, with the answer as a type.
    pub(crate) async fn typed<T: serde::de::DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<Outgoing>,
    ) -> Result<T, ClientError> {
        let json = self.call(method, path, body).await?;
        serde_json::from_value(json)
            .map_err(|_| ClientError::Strange { server: self.base.clone(), status: 200 })
    }
}

/// What every connection has in common.
pub(crate) fn builder() -> reqwest::ClientBuilder {
    // Fails only when a provider is installed already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(concat!("dropleaf/", env!("CARGO_PKG_VERSION")))
        // A key goes to the server it was made for and nowhere else.
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT)
}

pub(crate) fn json_body(json: &Value) -> Outgoing {
    ("application/json".to_owned(), json.to_string().into_bytes())
}

pub(crate) fn form_body(fields: &[(&str, &str)]) -> Outgoing {
    let text = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    ("application/x-www-form-urlencoded".to_owned(), text.into_bytes())
}

/// A server's address in the one form it is stored and compared in: scheme, host, and the port if it is unusual.
pub fn server_name(text: &str) -> Result<String, ClientError> {
    let bad = || ClientError::Address(text.to_owned());
    let text = text.trim();
    let url = Url::parse(text).map_err(|_| bad())?;
    let plain = matches!(url.scheme(), "http" | "https")
        && url.username().is_empty()
        && url.password().is_none()
        && matches!(url.path(), "" | "/")
        && url.query().is_none()
        && url.fragment().is_none();
    let host = url.host_str().filter(|_| plain).ok_or_else(bad)?;
    let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
    Ok(format!("{}://{host}{port}", url.scheme()))
}

/// Without what could move a terminal's cursor: servers and strangers wrote this.
pub(crate) fn visible(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(2000).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_one_name() {
        for (text, name) in [
            ("http://localhost:8080", "http://localhost:8080"),
            (" HTTPS://Pages.Example.org:443/ ", "https://pages.example.org"),
            ("http://[::1]:8080/", "http://[::1]:8080"),
        ] {
            assert_eq!(server_name(text).unwrap(), name);
        }
        for bad in
            ["", "localhost:8080", "ftp://x", "https://x/path", "https://a:b@x", "https://x?y", "https://"]
        {
            assert!(server_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn nothing_a_server_says_moves_the_cursor() {
        assert_eq!(visible("a\u{1b}[2Jb\r\n"), "a[2Jb");
    }

    #[test]
    fn a_client_shows_no_key() {
        let client = Client::new("http://localhost:1", Some("stk_live_secret".into())).unwrap();
        assert!(!format!("{client:?}").contains("secret"));
    }
}
