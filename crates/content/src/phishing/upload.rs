//! Reads the pages and scripts of a bundle for the check. Their texts are in memory together, because a page is judged
//! with the scripts it loads; the limits of an upload bound them.

use std::io;

use super::Verdict;
use super::rules::Rules;
use super::site::{File, check};
use crate::bundle::Bundle;
use crate::file_text::text_of;

/// Judges a bundle that is about to be stored. Spooled files are left positioned at their start.
pub fn check_bundle(bundle: &Bundle, rules: &Rules) -> io::Result<Verdict> {
    let mut texts = Vec::new();
    for file in &bundle.files {
        let text = if is_read(&file.path) { text_of(file)? } else { String::new() };
        texts.push((file.path.as_str(), text));
    }
    let files: Vec<File<'_>> = texts.iter().map(|(path, text)| File { path, text }).collect();
    Ok(check(&files, rules))
}

fn is_read(path: &str) -> bool {
    let name = path.to_ascii_lowercase();
    [".html", ".htm", ".xhtml", ".xht", ".svg", ".xml", ".js", ".mjs", ".cjs"]
        .iter()
        .any(|end| name.ends_with(end))
}
