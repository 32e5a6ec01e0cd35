//! What stored content asks its viewers for. Blocking, and uses one core.

use super::RuleBook;
use super::content_scan::for_inspection;
use dropleaf_content::{Bundle, BundleTexts};
use dropleaf_core::attention::RequestedSecret;
use dropleaf_core::{Error, Result};
use dropleaf_inspect::find_requested_secret;

pub(crate) fn find(bundle: &Bundle, rules: &RuleBook) -> Result<Option<RequestedSecret>> {
    let texts = BundleTexts::of_pages(bundle).map_err(Error::internal)?;
    Ok(find_requested_secret(&for_inspection(&texts).files(), &rules.rules()))
}
