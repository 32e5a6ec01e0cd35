//! An OAuth client that asks people for access.

use super::{Answer, Node, Person};
use dropleaf_core::secret;
use serde_json::{Value, json};

pub(crate) const CALLBACK: &str = "http://127.0.0.1:7777/callback";
pub(crate) const VERIFIER: &str = "a-verifier-that-is-long-enough-to-be-one-0123456789";

pub(crate) fn challenge() -> String {
    secret::text(&secret::hash(VERIFIER))
}

impl Person<'_> {
    /// Answers a consent page.
    pub(crate) async fn consent(&self, page: &Answer, answer: &str) -> Answer {
        let request = request_of(page);
        self.submit("/oauth/consent", &[("request", &request), ("answer", answer)]).await
    }
}

/// The request id in a consent page.
#[track_caller]
pub(crate) fn request_of(page: &Answer) -> String {
    let text = page.text();
    let (_, rest) = text.split_once("name=\"request\" value=\"").expect("a consent page");
    rest.split('"').next().unwrap().to_owned()
}

/// Registers a public client with the redirect address [`CALLBACK`]; returns its id.
pub(crate) async fn register(node: &Node, name: &str) -> String {
    register_at(node, name, CALLBACK).await
}

/// The same with another redirect address.
pub(crate) async fn register_at(node: &Node, name: &str, callback: &str) -> String {
    let body = json!({
        "client_name": name, "redirect_uris": [callback], "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
    });
    let made = node.post("/oauth/register").json(&body).send().await.expect(201).json();
    made["client_id"].as_str().unwrap().to_owned()
}

/// The authorization URL. A change with an empty value removes the parameter.
pub(crate) fn authorize_path(client_id: &str, changes: &[(&str, &str)]) -> String {
    let challenge = challenge();
    let mut pairs = vec![
        ("response_type", "code"),
        ("client_id", client_id),
        ("redirect_uri", CALLBACK),
        ("code_challenge", challenge.as_str()),
        ("code_challenge_method", "S256"),
        ("state", "st at&e"),
    ];
    for (name, value) in changes {
        pairs.retain(|(known, _)| known != name);
        if !value.is_empty() {
            pairs.push((name, value));
        }
    }
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    format!("/oauth/authorize?{query}")
}

/// The parameters of the redirect in a response.
#[track_caller]
pub(crate) fn sent_to(answer: &Answer, uri: &str) -> Value {
    assert_eq!(answer.status, 303, "{}", answer.text());
    let location = answer.header("location");
    let rest = location.strip_prefix(uri).unwrap_or_else(|| panic!("{location} is not {uri}"));
    let pairs = form_urlencoded::parse(rest.trim_start_matches(['?', '&']).as_bytes());
    Value::Object(pairs.map(|(name, value)| (name.into_owned(), Value::from(value.into_owned()))).collect())
}

/// An authorization code that the person granted.
pub(crate) async fn code(person: &Person<'_>, client_id: &str, changes: &[(&str, &str)]) -> String {
    let page = person.get(&authorize_path(client_id, changes)).await.expect(200);
    let answer = person.consent(&page, "allow").await;
    sent_to(&answer, CALLBACK)["code"].as_str().unwrap().to_owned()
}

/// Requests tokens. A change with an empty value removes the parameter.
pub(crate) async fn trade(node: &Node, client_id: &str, code: &str, changes: &[(&str, &str)]) -> Answer {
    let mut pairs = vec![
        ("grant_type", "authorization_code"),
        ("client_id", client_id),
        ("code", code),
        ("code_verifier", VERIFIER),
        ("redirect_uri", CALLBACK),
    ];
    for (name, value) in changes {
        pairs.retain(|(known, _)| known != name);
        if !value.is_empty() {
            pairs.push((name, value));
        }
    }
    node.post("/oauth/token").fields(&pairs).send().await
}

pub(crate) async fn refresh(node: &Node, client_id: &str, token: &str, more: &[(&str, &str)]) -> Answer {
    let pairs = [("grant_type", "refresh_token"), ("client_id", client_id), ("refresh_token", token)];
    node.post("/oauth/token").fields(&[&pairs, more].concat()).send().await
}

/// An authorized program: its id, its access token, its refresh token.
#[derive(Debug, Clone)]
pub(crate) struct LetIn {
    pub(crate) client_id: String,
    pub(crate) access: String,
    pub(crate) refresh: String,
}

pub(crate) async fn let_in(person: &Person<'_>, scope: &str) -> LetIn {
    let client_id = register(person.node, "A program").await;
    let code = code(person, &client_id, &[("scope", scope)]).await;
    let tokens = trade(person.node, &client_id, &code, &[]).await.expect(200).json();
    let text = |name: &str| tokens[name].as_str().unwrap().to_owned();
    LetIn { client_id, access: text("access_token"), refresh: text("refresh_token") }
}

/// There is no grant, no code and no token.
pub(crate) async fn assert_nothing_granted(node: &Node) {
    for sql in [
        "SELECT COUNT(*) FROM oauth_grants",
        "SELECT COUNT(*) FROM oauth_codes",
        "SELECT COUNT(*) FROM oauth_tokens",
    ] {
        assert_eq!(node.count(sql).await, 0, "{sql}");
    }
}
