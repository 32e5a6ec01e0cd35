//! The operator's pages, one module each, and what their templates share. All are inside the shell of the dashboard.

pub mod accounts;
pub mod appeals;
pub mod audit;
pub mod case;
pub mod certificates;
pub mod health;
pub mod overview;
pub mod payments;
pub mod reports;
pub mod revenue;
pub mod safe_preview;

use super::assets::OPERATOR_CSS;
use super::{Moment, Size};
use dropleaf_core::site::{Site, Visibility};

/// The path of the stylesheet of these pages.
fn stylesheet() -> String {
    OPERATOR_CSS.path()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
fn at(epoch: &i64) -> Moment {
    Moment(*epoch)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
fn size(bytes: &i64) -> Size {
    Size(*bytes)
}

fn title(site: &Site) -> &str {
    if site.title.is_empty() { "Untitled page" } else { &site.title }
}

/// The visibility of a page, for its badge.
fn visibility_label(site: &Site) -> &'static str {
    match site.visibility {
        Visibility::Unlisted => "unlisted",
        Visibility::Public => "public",
        Visibility::Burn => "view once",
    }
}

/// What waits about a page: viewers' reports, signals of the server.
fn waiting_text(reports: i64, signals: i64) -> String {
    let count = |count, one: &str| {
        if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
    };
    match (reports, signals) {
        (_, 0) => count(reports, "report"),
        (0, _) => count(signals, "signal"),
        _ => format!("{} and {}", count(reports, "report"), count(signals, "signal")),
    }
}

#[cfg(test)]
mod operator_tests;
