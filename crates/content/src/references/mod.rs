//! The references between the files of an upload: finds them in pages, styles and scripts, resolves them, and reports what is
//! missing and how the files address each other. Fetches nothing.

pub(crate) mod address_warnings;
pub(crate) mod addressing;
pub(crate) mod attributes;
pub(crate) mod css_scan;
mod examples;
pub(crate) mod page_references;
pub(crate) mod report;
pub(crate) mod resolve;
pub(crate) mod script_scan;
mod worker_paths;
