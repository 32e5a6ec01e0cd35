//! Checks a bundle that is about to be stored.

use std::io;

use super::Verdict;
use super::rules::Rules;
use super::verdict::check;
use crate::bundle::Bundle;
use crate::texts::Texts;

/// Checks a bundle that is about to be stored. Leaves spooled files positioned at their start.
pub fn check_bundle(bundle: &Bundle, rules: &Rules) -> io::Result<Verdict> {
    Ok(check(&Texts::of_pages(bundle)?.files(), rules))
}
