//! The HTTP client: one server address, an optional API key, and the request function that every call uses.

use crate::error::{ClientError, Reason, visible};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Method, Response, Url};
use serde_json::Value;
use std::time::Duration;

const IDEMPOTENCY_KEY: &str = "idempotency-key";
const CONNECT: Duration = Duration::from_secs(10);
/// Total request timeout: long enough for a large upload on a slow connection.
const WHOLE: Duration = Duration::from_mins(10);
/// The largest JSON response that is accepted.
const JSON_BYTES: usize = 16 << 20;

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

/// A request body: its content type and its content.
pub(crate) type Outgoing = (String, reqwest::Body);

impl Client {
    /// Creates a client for the server at this address.
    pub fn new(server: &str, key: Option<String>) -> Result<Self, ClientError> {
        let base = server_name(server)?;
        // A server that refuses an upload early closes the connection, which must not be used for the next request.
        let http = builder()
            .timeout(WHOLE)
            .pool_max_idle_per_host(0)
            .build()
            .map_err(|error| ClientError::unreachable(&base, &error))?;
        Ok(Self { http, base, key })
    }

    /// The server's base URL, without a trailing slash.
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

    /// A GET request with the key, for responses that are not JSON.
    pub(crate) fn get(&self, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.get(format!("{}{path}", self.base));
        match &self.key {
            Some(key) => request.header(AUTHORIZATION, format!("Bearer {key}")),
            None => request,
        }
    }

    /// Sends a request and parses the JSON response; any status other than 2xx is an error.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<Outgoing>,
    ) -> Result<Value, ClientError> {
        let credential = self.key.as_ref().map(|key| format!("Bearer {key}"));
        self.call_with(credential, method, path, body).await
    }

    /// The same with this `Authorization` header instead of the key.
    pub(crate) async fn call_with(
        &self,
        credential: Option<String>,
        method: Method,
        path: &str,
        body: Option<Outgoing>,
    ) -> Result<Value, ClientError> {
        let request = self.http.request(method, format!("{}{path}", self.base));
        self.exchange(request, credential, body).await
    }

    /// Like `call`, for a POST request that may be repeated: the server does the work of an idempotency key once.
    pub(crate) async fn post_once(
        &self,
        path: &str,
        body: Outgoing,
        idempotency_key: &str,
    ) -> Result<Value, ClientError> {
        let credential = self.key.as_ref().map(|key| format!("Bearer {key}"));
        let request = self.http.post(format!("{}{path}", self.base)).header(IDEMPOTENCY_KEY, idempotency_key);
        self.exchange(request, credential, Some(body)).await
    }

    async fn exchange(
        &self,
        request: reqwest::RequestBuilder,
        credential: Option<String>,
        body: Option<Outgoing>,
    ) -> Result<Value, ClientError> {
        let mut request = request.header(ACCEPT, "application/json");
        if let Some(credential) = credential {
            request = request.header(AUTHORIZATION, credential);
        }
        if let Some((kind, content)) = body {
            request = request.header(CONTENT_TYPE, kind).body(content);
        }
        let lost = |error: reqwest::Error| ClientError::unreachable(&self.base, &error);
        self.read_json(request.send().await.map_err(lost)?).await
    }

    /// Parses a JSON response; any status other than 2xx is an error.
    pub(crate) async fn read_json(&self, mut response: Response) -> Result<Value, ClientError> {
        let lost = |error: reqwest::Error| ClientError::unreachable(&self.base, &error);
        let status = response.status();
        let retry_after =
            response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let strange =
            || ClientError::UnexpectedResponse { server: self.base.clone(), status: status.as_u16() };
        let mut bytes = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(lost)? {
            if bytes.len() + piece.len() > JSON_BYTES {
                return Err(strange());
            }
            bytes.extend_from_slice(&piece);
        }
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

    /// Like `call`, with the response deserialized into `T`.
    pub(crate) async fn typed<T: serde::de::DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<Outgoing>,
    ) -> Result<T, ClientError> {
        self.parse(self.call(method, path, body).await?)
    }

    pub(crate) fn parse<T: serde::de::DeserializeOwned>(&self, json: Value) -> Result<T, ClientError> {
        serde_json::from_value(json)
            .map_err(|_| ClientError::UnexpectedResponse { server: self.base.clone(), status: 200 })
    }
}

/// The settings shared by all HTTP clients of this crate.
pub(crate) fn builder() -> reqwest::ClientBuilder {
    // Fails only when a crypto provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(concat!("dropleaf/", env!("CARGO_PKG_VERSION")))
        // An API key must reach no server other than the one it was created for.
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT)
}

pub(crate) fn json_body(json: &Value) -> Outgoing {
    ("application/json".to_owned(), json.to_string().into())
}

pub(crate) fn form_body(fields: &[(&str, &str)]) -> Outgoing {
    let text = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    ("application/x-www-form-urlencoded".to_owned(), text.into())
}

/// Normalizes a server address to the one form that is stored and compared: scheme, host, and the port unless it is the default.
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

/// Whether an `http://` address is on this machine, where no network can read what is sent.
pub fn is_loopback(server: &str) -> bool {
    let host = server.trim_start_matches("http://");
    ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .any(|name| host.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(':')))
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
    fn only_loopback_names_go_without_a_warning() {
        for (server, expected) in [
            ("http://localhost:8080", true),
            ("http://[::1]:8080", true),
            ("http://127.0.0.1", true),
            ("http://localhost.example.org", false),
            ("http://192.168.0.2:8080", false),
        ] {
            assert_eq!(is_loopback(server), expected, "{server}");
        }
    }

    #[test]
    fn a_client_shows_no_key() {
        let client = Client::new("http://localhost:1", Some("stk_live_secret".into())).unwrap();
        assert!(!format!("{client:?}").contains("secret"));
    }
}
