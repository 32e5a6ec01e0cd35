//! The references between the files of an upload: finds them in pages, styles and scripts, resolves them, and reports what is
//! missing and how the files address each other. Fetches nothing.

pub(crate) mod address_warnings;
pub(crate) mod addressing;
mod base;
pub(crate) mod css_scan;
mod examples;
mod import_map;
mod link_relation;
pub(crate) mod page_references;
pub(crate) mod report;
pub(crate) mod resolve;
pub(crate) mod script_scan;
pub(crate) mod script_type;
pub(crate) mod srcset;
mod worker_paths;
