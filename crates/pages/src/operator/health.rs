//! The results of the health checks, problems first.

use super::{at, stylesheet};
use crate::Html;
use crate::assets::REFRESH_JS;
use crate::dashboard::{Section, Shell};
use askama::Template;
use dropleaf_core::health::{Finding, Group, Report, Status};

#[derive(Debug, Template)]
#[template(path = "operator_health.html")]
pub struct HealthPage<'a> {
    pub shell: Shell<'a>,
    /// None before the first run has ended.
    pub report: Option<&'a Report>,
    pub is_running: bool,
    pub is_recent: bool,
}

/// Shows the result of a run that is under way.
fn refresh_script() -> String {
    REFRESH_JS.path()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
fn findings<'r>(report: &'r Report, group: &Group) -> Vec<&'r Finding> {
    report.in_group(*group).collect()
}

/// What the whole run says.
fn summary(report: &Report) -> String {
    let count = |status, name: &str| match report.count(status) {
        1 => format!("1 {name}"),
        count => format!("{count} {name}s"),
    };
    match (report.count(Status::Problem), report.count(Status::Warning)) {
        (0, 0) => "No problems found".to_owned(),
        (0, _) => format!("No problems, {}", count(Status::Warning, "warning")),
        (_, 0) => count(Status::Problem, "problem"),
        _ => format!("{} and {}", count(Status::Problem, "problem"), count(Status::Warning, "warning")),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
fn tone(status: &Status) -> &'static str {
    match status {
        Status::Ok => "good",
        Status::Warning => "warn",
        Status::Problem => "bad",
        Status::NotChecked => "",
    }
}

/// The tone of the whole run.
fn total(report: &Report) -> &'static str {
    let worst = [Status::Problem, Status::Warning].into_iter().find(|status| report.count(*status) > 0);
    tone(&worst.unwrap_or(Status::Ok))
}

/// A text in pieces: those at odd places were in backticks.
fn pieces(text: &str) -> Vec<(bool, &str)> {
    text.split('`').enumerate().map(|(place, piece)| (place % 2 == 1, piece)).collect()
}

pub fn health(page: &HealthPage<'_>) -> Html {
    // Rendering writes into a String and cannot fail.
    Html(page.render().unwrap_or_default())
}
