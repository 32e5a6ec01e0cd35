//! The result of `dropleaf check` for people: one line for each file, and below it why it is refused and how to fix that.

use super::FileJson;
use crate::cli::output::{BAD, FAINT, GOOD, WARNING, visible};
use crate::http::api::ReasonJson;
use std::fmt::Write as _;

pub(super) fn text(files: &[FileJson]) -> String {
    let mut text = String::new();
    for file in files {
        let (style, result) = match (file.accepted, file.reasons.is_empty()) {
            (true, _) => (GOOD, "accepted"),
            (false, false) => (BAD, "refused"),
            (false, true) => (BAD, "not published"),
        };
        let _ = writeln!(text, "{}: {style}{result}{style:#}", visible(&file.file));
        for ReasonJson { rule, file, line, why, fix } in &file.reasons {
            let place = line.map_or_else(|| visible(file), |line| format!("{}:{line}", visible(file)));
            let _ = writeln!(text, "  {place}: {}", visible(why));
            let _ = writeln!(text, "    {} {FAINT}[{}]{FAINT:#}", visible(fix), visible(rule));
        }
        if let Some(why) = &file.error_description {
            let _ = writeln!(text, "  {}", visible(why));
        }
        for warning in &file.warnings {
            let _ = writeln!(text, "  {WARNING}warning{WARNING:#}: {}", visible(warning));
        }
    }
    text.truncate(text.trim_end().len());
    text
}
