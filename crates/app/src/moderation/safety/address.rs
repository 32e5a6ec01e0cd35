//! Checks the slug of an encrypted page: its content cannot be checked, so its URL must not impersonate a brand.

use crate::app::App;
use dropleaf_core::error::Fact;
use dropleaf_core::finding::Finding;
use dropleaf_core::site::Site;
use dropleaf_core::{Code, Error, Result};

impl App {
    /// Refuses a change that would give an encrypted page the name of a brand. An existing one may stay.
    pub(crate) fn check_changed_slug(&self, before: &Site, after: &Site) -> Result<()> {
        if before.e2e == after.e2e && before.slug == after.slug {
            return Ok(());
        }
        self.check_slug_impersonation(after.e2e, after.slug.as_deref())
    }

    pub(crate) fn check_slug_impersonation(&self, e2e: bool, slug: Option<&str>) -> Result<()> {
        let safety = &self.settings.safety;
        let Some(slug) = slug.filter(|_| e2e && safety.phishing_check) else { return Ok(()) };
        let rules = safety.rules.rules();
        let Some(brand) = rules.brand_in_name(slug) else { return Ok(()) };
        let reason = Finding {
            rule: "brand-in-address".to_owned(),
            // The only file of an encrypted page.
            file: "payload.e2e".to_owned(),
            line: None,
            why: format!(
                "The slug `{slug}` contains the name of {brand}, and the content of an encrypted page cannot be checked."
            ),
            fix: "Choose another slug or omit it.".to_owned(),
        };
        let detail = format!("{} {}", reason.why, reason.fix);
        Err(Error::new(Code::PhishingBlocked, detail).with_fact("reasons", Fact::Findings(vec![reason])))
    }
}
