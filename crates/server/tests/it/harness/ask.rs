//! A short way to write requests; responses are read whole.

use super::{described, in_time};
use reqwest::RequestBuilder;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap};
use serde_json::Value;

/// A request that is not sent yet.
#[derive(Debug)]
pub(crate) struct Ask(RequestBuilder);

impl Ask {
    pub(crate) fn new(builder: RequestBuilder) -> Self {
        Self(builder)
    }

    pub(crate) fn header(self, name: &str, value: &str) -> Self {
        Self(self.0.header(name, value))
    }

    pub(crate) fn host(self, host: &str) -> Self {
        Self(self.0.header(HOST, host))
    }

    pub(crate) fn key(self, key: &str) -> Self {
        Self(self.0.header(AUTHORIZATION, format!("Bearer {key}")))
    }

    pub(crate) fn claim(self, token: &str) -> Self {
        Self(self.0.header(AUTHORIZATION, format!("Claim {token}")))
    }

    /// Like a browser that follows a link.
    pub(crate) fn browser(self) -> Self {
        self.header(
            "user-agent",
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0 Safari/537.36",
        )
        .header("sec-fetch-mode", "navigate")
        .header("accept", "text/html,application/xhtml+xml")
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        Self(self.0.header(CONTENT_TYPE, "application/json").body(body.to_string()))
    }

    pub(crate) fn body(self, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        Self(self.0.header(CONTENT_TYPE, kind).body(body.into()))
    }

    pub(crate) fn form(self, form: Form) -> Self {
        let (kind, body) = form.encode();
        self.body(&kind, body)
    }

    /// The fields of an HTML form.
    pub(crate) fn fields(self, fields: &[(&str, &str)]) -> Self {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.body("application/x-www-form-urlencoded", body)
    }

    /// Like a client behind a proxy.
    pub(crate) fn from(self, address: &str) -> Self {
        self.header("x-forwarded-for", address)
    }

    pub(crate) fn cookie(self, cookie: &str) -> Self {
        self.header("cookie", cookie)
    }

    /// Without waiting for the body.
    pub(crate) async fn begin(self) -> reqwest::Response {
        let (client, request) = self.0.build_split();
        let request = request.unwrap();
        let what = format!("the response to {} {}", request.method(), request.url().path());
        in_time(what, client.execute(request)).await.unwrap()
    }

    pub(crate) async fn send(self) -> Answer {
        let (client, request) = self.0.build_split();
        let request = request.unwrap();
        let (method, path) = (request.method().clone(), request.url().path().to_owned());
        let exchange = async {
            let response = client.execute(request).await.unwrap();
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            Answer { status, headers, body: response.bytes().await.unwrap().to_vec() }
        };
        let answer = in_time(format!("the whole response to {method} {path}"), exchange).await;
        described::check(method.as_str(), &path, &answer);
        answer
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "the body says: {}", self.text());
        self
    }

    /// The response is an error with this status and this stable code, as JSON.
    #[track_caller]
    pub(crate) fn refused(self, status: u16, code: &str) -> Self {
        let answer = self.expect(status);
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.json()["error"], code, "{}", answer.text());
        assert!(answer.json()["error_description"].is_string());
        answer
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    /// The header's value; empty if absent.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    /// `name=value` of the cookie that was set.
    #[track_caller]
    pub(crate) fn cookie(&self) -> String {
        assert!(self.has("set-cookie"), "no cookie was set");
        self.header("set-cookie").split(';').next().unwrap().to_owned()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.headers.contains_key(name)
    }
}

/// A multipart form, built by hand so that tests control every byte.
#[derive(Debug, Clone, Default)]
pub(crate) struct Form {
    body: Vec<u8>,
}

const BOUNDARY: &str = "----a-boundary-of-the-tests";

impl Form {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn file(name: &str, bytes: impl AsRef<[u8]>) -> Self {
        Self::new().and_file(name, bytes)
    }

    pub(crate) fn and_file(mut self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        self.body.extend_from_slice(head.as_bytes());
        self.body.extend_from_slice(bytes.as_ref());
        self.body.extend_from_slice(b"\r\n");
        self
    }

    pub(crate) fn field(mut self, name: &str, value: &str) -> Self {
        let part =
            format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        self.body.extend_from_slice(part.as_bytes());
        self
    }

    pub(crate) fn encode(mut self) -> (String, Vec<u8>) {
        self.body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
        (format!("multipart/form-data; boundary={BOUNDARY}"), self.body)
    }
}
