//! The examples of the OpenAPI document: each body has one, a server accepts those of requests, and those of responses
//! match their schemas and show the server's own addresses.

use crate::harness::described::DOCUMENT;
use crate::harness::{Answer, Form, Node, Setup, json_schema, site_path};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Every operation: its method, its path and its description.
fn operations(document: &Value) -> impl Iterator<Item = (String, &str, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    paths.flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (method.to_uppercase(), path.as_str(), operation))
    })
}

fn contents(body: &Value) -> impl Iterator<Item = (&str, &Value)> {
    body["content"].as_object().into_iter().flatten().map(|(kind, media)| (kind.as_str(), media))
}

fn is_json(kind: &str) -> bool {
    kind == "application/json" || kind.ends_with("+json")
}

/// Errors about the form of a request, not its subject.
const MALFORMED: &[&str] = &[
    "invalid_request",
    "invalid_field",
    "not_multipart",
    "missing_file",
    "empty_file",
    "unsupported_type",
    "not_text",
    "too_large",
    "invalid_client_metadata",
    "invalid_redirect_uri",
    "unsupported_grant_type",
    "invalid_scope",
];

/// Examples that are valid but refused: they name something that does not exist, or are not paid for.
const REFUSED: &[(&str, u16)] = &[
    ("addCustomDomain", 404),
    ("changeCustomDomain", 404),
    ("changeWebhook", 404),
    ("claimSite", 403),
    ("createDeviceToken", 400),
    ("createToken", 400),
    ("createWalletChallenge", 404),
    ("provisionKey", 402),
    ("publishPaid", 402),
    ("putFile", 422),
    ("receiveCardEvent", 400),
    ("receiveWebhookEvents", 404),
    ("replyToFeedback", 404),
    ("resolveFeedback", 404),
];

/// The path with existing names filled in.
async fn filled(node: &Node, path: &str, site: &Value) -> String {
    let mut filled = path
        .replace("{idOrSlug}", site["id"].as_str().unwrap())
        .replace("{id}", "fb_aaaaaaaaaaaaaaaaaaaa")
        .replace("{hostname}", "reports.customer.example")
        .replace("{filename}", "a.html")
        .replace("{path}", "css/style.css");
    if path.contains("{ticket}") {
        let made = node.mcp_modern(&node.key).give("create_upload", json!({})).await;
        let url = made["upload_url"].as_str().unwrap().trim_end_matches('/');
        filled = filled.replace("{ticket}", url.rsplit('/').next().unwrap());
    }
    filled
}

/// The headers in the operation's own sample, except those of the body.
fn sample_headers(operation: &Value) -> impl Iterator<Item = (&str, &str)> {
    let sample = operation["x-codeSamples"][0]["source"].as_str().unwrap_or_default();
    let headers = sample.split("-H '").skip(1).filter_map(|rest| rest.split('\'').next()?.split_once(": "));
    headers.filter(|(name, _)| !name.eq_ignore_ascii_case("content-type"))
}

async fn sent(
    node: &Node,
    (method, path): (&str, &str),
    operation: &Value,
    kind: &str,
    example: &Value,
) -> Answer {
    let ask = node.ask(method.parse().unwrap(), path);
    let ask =
        if path.starts_with("/oauth") || path.starts_with("/device") { ask } else { ask.key(&node.key) };
    let fields =
        || example.as_object().unwrap().iter().map(|(name, value)| (name.as_str(), value.as_str().unwrap()));
    match kind {
        "multipart/form-data" => {
            let form = fields().fold(Form::new(), |form, (name, value)| match name {
                "file" => form.and_file("page.html", value),
                _ => form.field(name, value),
            });
            ask.form(form).send().await
        }
        "application/x-www-form-urlencoded" => ask.fields(&fields().collect::<Vec<_>>()).send().await,
        "application/json" => {
            let ask = sample_headers(operation).fold(ask, |ask, (name, value)| ask.header(name, value));
            ask.json(example).send().await
        }
        kind => ask.body(kind, example.as_str().unwrap()).send().await,
    }
}

#[tokio::test]
async fn every_request_body_has_an_example_that_a_server_understands() {
    let node = Node::start().await;
    let site = node.publish_page("An example").await;
    let (mut bodies, mut refused) = (0, BTreeSet::new());
    for (method, path, operation) in operations(&DOCUMENT) {
        for (kind, media) in contents(&operation["requestBody"]) {
            bodies += 1;
            let told = format!("{method} {path} {kind}");
            let example = media.get("example").unwrap_or_else(|| panic!("{told} has no example"));
            json_schema::check_in(&DOCUMENT, &media["schema"], example)
                .unwrap_or_else(|why| panic!("{told}: {why}"));
            let path = filled(&node, path, &site).await;
            let answer = sent(&node, (&method, &path), operation, kind, example).await;
            assert!(answer.status < 500, "{told}: {}", answer.text());
            let is_json = answer.header("content-type").starts_with("application/json");
            let body = if is_json { answer.json() } else { Value::Null };
            let code = body["error"].as_str().unwrap_or_default();
            assert!(!MALFORMED.contains(&code), "{told}: {}", answer.text());
            if answer.status >= 300 {
                refused.insert((operation["operationId"].as_str().unwrap(), answer.status));
            }
        }
    }
    assert!(bodies >= 25, "{bodies}");
    assert_eq!(refused, REFUSED.iter().copied().collect(), "the other examples succeed");
    node.get(&site_path(&site)).key(&node.key).send().await.expect(200);
}

#[test]
fn every_answer_with_a_body_has_an_example_that_fits_its_schema() {
    let mut answers = 0;
    for (method, path, operation) in operations(&DOCUMENT) {
        for (status, response) in operation["responses"].as_object().unwrap() {
            for (kind, media) in contents(response).filter(|_| status.starts_with('2') || status == "402") {
                answers += 1;
                let told = format!("{method} {path} {status} {kind}");
                let example = media.get("example").unwrap_or_else(|| panic!("{told} has no example"));
                json_schema::check_in(&DOCUMENT, &media["schema"], example)
                    .unwrap_or_else(|why| panic!("{told}: {why}"));
                assert!(!is_json(kind) || example.is_object(), "{told}");
            }
        }
    }
    assert!(answers >= 60, "{answers}");
}

#[test]
fn fixed_sets_of_words_and_addresses_are_declared_as_such() {
    let property =
        |schema: &str, name: &str| DOCUMENT["components"]["schemas"][schema]["properties"][name].clone();
    let words = |schema: &str, name: &str| {
        let found = property(schema, name);
        let all = found.get("enum").or_else(|| found["anyOf"][0].get("enum")).cloned().unwrap_or_default();
        all.as_array().into_iter().flatten().map(|word| word.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for schema in ["SiteJson", "PatchBody", "SiteUpload", "SiteReplacement"] {
        assert_eq!(words(schema, "visibility"), ["unlisted", "public", "burn"]);
    }
    for schema in ["SiteUpload", "SiteReplacement"] {
        for name in ["public_slug", "allowed_email_domain"] {
            assert_eq!(property(schema, name)["type"], "string", "{schema}.{name}");
        }
        let has_expected = property(schema, "expected_updated_at").is_object();
        assert_eq!(has_expected, schema == "SiteReplacement", "{schema}");
    }
    assert_eq!(words("FeedbackJson", "intent"), ["fix", "change", "question", "approve"]);
    assert_eq!(words("FeedbackJson", "severity"), ["blocking", "important", "suggestion"]);
    assert_eq!(words("AppealJson", "status"), ["open", "allowed", "upheld", "lapsed"]);
    let mut addresses = 0;
    for (schema, described) in DOCUMENT["components"]["schemas"].as_object().unwrap() {
        for (name, property) in described["properties"].as_object().into_iter().flatten() {
            if name == "url" || name.ends_with("_url") {
                addresses += 1;
                assert_eq!(property["format"], "uri", "{schema}.{name}");
            }
        }
    }
    assert!(addresses >= 12, "{addresses}");
}

#[tokio::test]
async fn examples_and_samples_show_the_addresses_and_the_version_of_this_server() {
    let setup = Setup::new().set("base_url", "https://drop.example").set("site_url", "https://pages.example");
    let node = setup.start().await;
    let document = node.get("/openapi.json").host("drop.example").send().await.expect(200);
    let docs = node.get("/docs").host("drop.example").browser().send().await.expect(200).text();
    for (name, text) in [("/openapi.json", document.text()), ("/docs", docs.clone())] {
        assert!(!text.contains("localhost:8080"), "{name} shows another host");
        assert!(text.contains("https://pages.example/p/0Qm1Yv2nT3uW4xZ5aB6cD7/"), "{name}");
        assert!(text.contains("https://drop.example/oauth/token"), "{name}");
    }
    assert_eq!(document.json()["info"]["version"], "1.0.0", "that of the interface");
    assert!(
        docs.contains(&format!("served by dropleaf {}", env!("CARGO_PKG_VERSION"))),
        "that of the program"
    );
    assert!(docs.contains("https://drop.example/sites"), "samples call this server");
}
