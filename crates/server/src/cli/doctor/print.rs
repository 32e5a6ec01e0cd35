//! Prints the results of the health checks: in groups for people, or as JSON.

use crate::cli::output::{BAD, FAINT, GOOD, HEADING, WARNING, shortened};
use anstyle::Style;
use dropleaf_core::health::{Finding, Group, Report, Status};
use dropleaf_core::iso;
use serde_json::{Value, json};
use std::fmt::Write;

/// The longest text of a finding; parts of it may come from other servers.
const CHARS: usize = 1000;
const WIDTH: usize = 100;
const INDENT: &str = "    ";

pub(super) fn as_json(report: &Report) -> Value {
    let checks: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| {
            json!({
                "check": finding.check.id(),
                "group": finding.check.group().title(),
                "title": finding.check.title(),
                "status": finding.status.as_str(),
                "found": finding.found,
                "fix": finding.fix,
            })
        })
        .collect();
    json!({
        "checked_at": iso::format(report.checked_at),
        "problems": report.count(Status::Problem),
        "warnings": report.count(Status::Warning),
        "checks": checks,
    })
}

/// With colours, which `print_line` removes where they are not wanted.
pub(super) fn for_people(report: &Report) -> String {
    let mut out = String::new();
    for group in Group::ALL {
        let _ = writeln!(out, "{HEADING}{}{HEADING:#}", group.title());
        for finding in report.in_group(group) {
            let (mark, style) = mark(finding.status);
            let label = match finding.status {
                Status::Ok => String::new(),
                status => format!(" {style}({}){style:#}", status.label()),
            };
            let _ = writeln!(out, "  {style}{mark}{style:#} {}{label}", finding.check.title());
            write_text(&mut out, finding);
        }
        out.push('\n');
    }
    out.push_str(&summary(report));
    out
}

const fn mark(status: Status) -> (&'static str, Style) {
    match status {
        Status::Ok => ("✓", GOOD),
        Status::Warning => ("!", WARNING),
        Status::Problem => ("✗", BAD),
        Status::NotChecked => ("–", FAINT),
    }
}

fn write_text(out: &mut String, finding: &Finding) {
    for line in wrapped(&shortened(&finding.found, CHARS)) {
        let _ = writeln!(out, "{INDENT}{line}");
    }
    let Some(fix) = &finding.fix else { return };
    for line in wrapped(&format!("Fix: {}", shortened(fix, CHARS))) {
        let _ = writeln!(out, "{INDENT}{HEADING}{line}{HEADING:#}");
    }
}

/// Lines of at most [`WIDTH`] characters, broken between words.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH - INDENT.len() => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn summary(report: &Report) -> String {
    let count = |status, one: &str, many: &str| match report.count(status) {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    format!(
        "{}, {}, {} ok, {} not checked.",
        count(Status::Problem, "problem", "problems"),
        count(Status::Warning, "warning", "warnings"),
        report.count(Status::Ok),
        report.count(Status::NotChecked)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropleaf_core::health;

    fn report() -> Report {
        let wrong = health::file_limit(Some(64), 10_000);
        let odd = health::SettingsFacts {
            error: Some("a\u{1b}[2J 'b'".into()),
            ..health::SettingsFacts::default()
        };
        Report::new(vec![wrong, health::settings(&odd)], 1_800_000_000)
    }

    #[test]
    fn people_get_groups_and_fixes_in_colours_and_no_foreign_control_characters() {
        let coloured = for_people(&report());
        assert!(coloured.contains("\u{1b}[31m✗\u{1b}[0m"), "{coloured:?}");
        let text = anstream::adapter::strip_str(&coloured).to_string();
        assert!(text.contains("Machine\n") && text.contains("✗ Open file limit (problem)"), "{text}");
        assert!(text.contains("Fix: Set `LimitNOFILE=65536`"), "{text}");
        assert!(!coloured.contains("\u{1b}[2J") && text.contains("[2J 'b'"), "{coloured:?}");
        assert!(text.ends_with(&format!(
            "2 problems, 0 warnings, 0 ok, {} not checked.",
            health::Check::ALL.len() - 2
        )));
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }

    #[test]
    fn json_has_every_check() {
        let json = as_json(&report());
        assert_eq!(json["problems"], 2);
        assert_eq!(json["checks"].as_array().unwrap().len(), health::Check::ALL.len());
        assert_eq!(json["checks"][0]["check"], "settings");
        assert_eq!(json["checks"][0]["status"], "problem");
        assert_eq!(json["checks"][1]["fix"], Value::Null);
    }
}
