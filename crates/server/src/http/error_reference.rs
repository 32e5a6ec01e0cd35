//! Generates docs/errors.md from the codes and their statuses.

use super::error::status;
use dropleaf_core::Code;
use std::fmt::Write;

/// Renders the page: every code under its status, in order of status.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Errors\n\n<!-- Generated from crates/core/src/code.rs and crates/server/src/http/error.rs by `make generate`. -->\n\n\
         An error is a JSON object: `error` is one of the codes below and never changes its meaning, `error_description` says \
         what happened and what to do next. Some carry further fields, such as `updated_at` with a conflict or `unlock` with a \
         plan's limit. Viewers of pages get the same codes with `Accept: application/json`, an error page in a browser, and a \
         line of text otherwise.\n",
    );
    let mut codes: Vec<Code> = Code::ALL.to_vec();
    codes.sort_by_key(|code| status(*code).as_u16());
    let mut last = None;
    for code in codes {
        let status = status(code);
        if last != Some(status) {
            let reason = status.canonical_reason().unwrap_or_default();
            let _ = write!(out, "\n## {} {reason}\n\n| Code | Meaning |\n|---|---|\n", status.as_u16());
            last = Some(status);
        }
        let _ = writeln!(out, "| `{}` | {} |", code.as_str(), code.meaning().replace('|', "\\|"));
    }
    out
}
