//! Renders errors: as JSON for programs, as a sentence or a page for viewers.

use dropleaf_core::error::Fact;
use dropleaf_core::finding::Finding;
use dropleaf_core::{Code, Error};
use dropleaf_pages::{self as pages, Notice};
use http::StatusCode;
use serde_json::{Map, Value, json};

/// `{error, error_description}` and further members. Spec §2 Error.
pub fn json_body(error: &Error) -> String {
    let mut map = Map::new();
    map.insert("error".into(), error.code.as_str().into());
    map.insert("error_description".into(), error.detail.as_str().into());
    for (name, fact) in &error.facts {
        let value = match fact {
            Fact::Int(n) => json!(n),
            Fact::Ints(all) => json!(all),
            Fact::Text(text) => json!(text),
            Fact::Findings(found) => found.iter().map(finding_json).collect(),
        };
        map.insert((*name).into(), value);
    }
    Value::Object(map).to_string()
}

/// The JSON of a reason, also used by the command line.
pub fn finding_json(found: &Finding) -> Value {
    json!({"rule": found.rule, "file": found.file, "line": found.line, "why": found.why, "fix": found.fix})
}

/// Whether the error's own description is shown to viewers, because what to do depends on the cause.
fn says_cause(error: &Error) -> bool {
    error.code == Code::HeadersTooLarge
}

pub(super) fn viewer_words(error: &Error) -> String {
    match pages::error_text(error.code.as_str()) {
        Some((heading, _)) if says_cause(error) => format!("{heading}. {}", error.detail),
        Some((heading, message)) if error.code != Code::MisdirectedHost => format!("{heading}. {message}"),
        _ => error.detail.clone(),
    }
}

pub(super) fn page_body(error: &Error, status: StatusCode, report: Option<&str>) -> pages::Rendered {
    let (heading, message) = pages::error_text(error.code.as_str()).unwrap_or(("Something went wrong", ""));
    let detail = if message.is_empty() || says_cause(error) { error.detail.as_str() } else { message };
    let hint = (error.code == Code::MisdirectedHost).then_some(error.detail.as_str());
    let notice = Notice {
        status: status.as_u16(),
        code: error.code.as_str(),
        heading,
        message: detail,
        hint,
        home: None,
        report,
    };
    pages::notice(&notice)
}
