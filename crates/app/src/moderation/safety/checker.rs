//! The operator's external content checker: what it is sent about an upload, and how its answer is interpreted. The HTTP
//! client is implemented in the server.

use crate::pay::NoResponse;
use bytes::Bytes;
use dropleaf_content::{Bundle, external_urls};
use dropleaf_core::finding::Finding;
use dropleaf_core::safety::OnFailure;
use dropleaf_core::{hex, plain_text};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::io;

/// The most URLs that are sent.
const URLS_MOST: usize = 1000;
/// Bytes of text sent in total; larger files are listed without their text.
const TEXT_BYTES: u64 = 8 << 20;
/// Limits on what is used of an answer.
const REASONS: usize = 20;
const TEXT_CHARACTERS: usize = 500;
const PATH: usize = 300;
/// The rule of a reason that names none.
const RULE: &str = "outside-check";
const WHY: &str = "The content check of this server refused this page.";

/// An external checker.
pub trait Checker: Debug + Send + Sync {
    /// Sends a request and returns the body of a successful response.
    fn check(&self, request: Bytes) -> BoxFuture<'_, Result<Bytes, NoResponse>>;
}

/// The operator's settings for it.
#[derive(Debug, Clone, Copy)]
pub struct CheckerSettings {
    /// Sends the texts too, not only hashes and URLs.
    pub sends_content: bool,
    pub on_failure: OnFailure,
}

/// The request about a bundle.
pub(super) fn build_request(bundle: &Bundle, sends_content: bool, content_hash: &str) -> io::Result<Bytes> {
    let (mut left, mut is_cut) = (TEXT_BYTES, false);
    let mut files = Vec::new();
    for file in &bundle.files {
        let mut about =
            json!({"path": file.path, "blake3": hex::encode(&file.hash), "bytes": file.size_bytes});
        if sends_content && external_urls::is_text(file) {
            if file.size_bytes <= left {
                left -= file.size_bytes;
                about["text"] = external_urls::text(file)?.into();
            } else {
                is_cut = true;
            }
        }
        files.push(about);
    }
    let found = external_urls::in_bundle(bundle, URLS_MOST)?;
    let asked = json!({
        "version": 1,
        "content_hash": content_hash,
        "kind": bundle.kind.as_str(),
        "title": bundle.title,
        "files": files,
        "texts_cut": is_cut,
        "addresses": found.urls,
        "addresses_cut": found.is_truncated,
    });
    Ok(asked.to_string().into())
}

/// The reasons of a refusal, empty if it accepts; or why the answer is invalid.
pub(super) fn parse_response(body: &[u8]) -> Result<Vec<Finding>, String> {
    let answer: Value = serde_json::from_slice(body).map_err(|_| "its response is not JSON".to_owned())?;
    match answer["verdict"].as_str() {
        Some("accept") => Ok(Vec::new()),
        Some("refuse") => {
            let given = answer["reasons"].as_array().map(Vec::as_slice).unwrap_or_default();
            let mut reasons: Vec<Finding> = given.iter().take(REASONS).map(finding).collect();
            if reasons.is_empty() {
                reasons.push(finding(&Value::Null));
            }
            Ok(reasons)
        }
        _ => Err("its response has no `accept` or `refuse` verdict".to_owned()),
    }
}

/// A reason from untrusted input: bounded in length, without invisible characters.
fn finding(given: &Value) -> Finding {
    let text = |name: &str, most: usize| {
        let seen =
            given[name].as_str().unwrap_or_default().chars().filter(|c| !plain_text::is_misleading(*c));
        let seen: String = seen.map(|c| if c.is_control() { ' ' } else { c }).take(most).collect();
        Some(seen.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let is_rule = |rule: &String| rule.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    Finding {
        rule: text("rule", 64).filter(is_rule).unwrap_or_else(|| RULE.to_owned()),
        file: text("file", PATH).unwrap_or_default(),
        line: given["line"].as_u64(),
        why: text("why", TEXT_CHARACTERS).unwrap_or_else(|| WHY.to_owned()),
        fix: text("fix", TEXT_CHARACTERS).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &str) -> Result<Vec<Finding>, String> {
        parse_response(body.as_bytes())
    }

    #[test]
    fn only_a_clear_answer_counts() {
        assert_eq!(parse(r#"{"verdict":"accept"}"#), Ok(Vec::new()));
        for body in ["accept", "{}", r#"{"verdict":true}"#, ""] {
            assert!(parse(body).is_err(), "{body}");
        }
    }

    #[test]
    fn reasons_are_bounded_and_plain() {
        let bare = parse(r#"{"verdict":"refuse"}"#).unwrap();
        assert_eq!((bare.len(), bare[0].rule.as_str(), bare[0].why.as_str()), (1, RULE, WHY));
        let long = "x".repeat(5000);
        let body = json!({"verdict": "refuse", "reasons": [
            {"rule": "bad list!", "file": "a.html", "line": 3, "why": format!("on\u{202e} the\nlist {long}"), "fix": 7},
        ]});
        let found = parse(&body.to_string()).unwrap().remove(0);
        assert_eq!((found.rule.as_str(), found.file.as_str(), found.line), (RULE, "a.html", Some(3)));
        assert!(
            found.why.starts_with("on the list x")
                && found.why.len() == TEXT_CHARACTERS
                && found.fix.is_empty()
        );
        let many = json!({"verdict": "refuse", "reasons": vec![json!({}); 100]});
        assert_eq!(parse(&many.to_string()).unwrap().len(), REASONS);
    }
}
