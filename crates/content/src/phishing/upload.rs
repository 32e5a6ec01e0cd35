//! The check of a bundle that is about to be stored.

use std::io;

use super::Verdict;
use super::rules::Rules;
use super::verdict::check;
use crate::bundle::Bundle;
use crate::texts::Texts;

/// Judges a bundle that is about to be stored. Spooled files are left positioned at their start.
pub fn check_bundle(bundle: &Bundle, rules: &Rules) -> io::Result<Verdict> {
    Ok(check(&Texts::of_pages(bundle)?.files(), rules))
}
