//! Decides whether content may be published: phishing check, secrets and personal data, content taken down before, and
//! the operator's external checker if there is one. Runs before anything is stored, signed or paid.

mod allowed_content;
mod blocklist;
mod checker;
mod clean_content;
mod content_scan;
mod dry_run;
mod external_check;
mod fingerprints;
mod offline;
pub(crate) mod requested_secret;
mod rule_book;
pub(crate) mod stored_content;

pub(crate) use blocklist::BlocklistCache;
pub use checker::{Checker, CheckerSettings};
pub(crate) use clean_content::CleanContent;
pub(crate) use content_scan::{ContentScan, finding};
pub use dry_run::DryRun;
pub(crate) use external_check::ExternalCheck;
pub use offline::CheckResult;
pub use rule_book::RuleBook;

use crate::app::App;
use dropleaf_core::appeal;
use dropleaf_core::attention::AttentionRules;
use dropleaf_core::error::Fact;
use dropleaf_core::finding::Finding;
use dropleaf_core::safety::PiiCheck;
use dropleaf_core::site::Site;
use dropleaf_core::{Code, Error, Result};
use dropleaf_inspect::secrets;

/// The operator's settings for content safety.
#[derive(Debug, Clone)]
pub struct SafetySettings {
    /// Whether pages are checked for phishing at all; a private server may turn it off.
    pub phishing_check: bool,
    pub pii_check: PiiCheck,
    pub rules: RuleBook,
    /// None: there is no external checker.
    pub checker: Option<CheckerSettings>,
    /// What happens to pages that need attention after they were published.
    pub attention: AttentionRules,
}

impl Default for SafetySettings {
    fn default() -> Self {
        Self {
            phishing_check: true,
            pii_check: PiiCheck::Warn,
            rules: RuleBook::default(),
            checker: None,
            attention: AttentionRules::default(),
        }
    }
}

impl App {
    /// Builds the phishing rules ahead of first use, because that takes a moment.
    pub async fn build_rules(&self) {
        let safety = self.settings.safety.clone();
        let make = move || {
            if safety.phishing_check {
                safety.rules.rules();
            }
        };
        if let Err(error) = tokio::task::spawn_blocking(make).await {
            tracing::warn!(%error, "phishing rules not built");
        }
    }

    /// Refuses content that may not be published; returns warnings for its publisher otherwise.
    pub(crate) async fn check_content(&self, scan: &ContentScan) -> Result<Vec<String>> {
        self.decide_content(scan).await.map_err(|refusal| self.with_appeal_url(refusal))
    }

    /// Adds the URL where the publisher can appeal.
    fn with_appeal_url(&self, refusal: Error) -> Error {
        if !appeal::can_be_appealed(refusal.code) {
            return refusal;
        }
        let url = format!("{}/appeals", self.hosts.base.url());
        refusal.with_fact("appeal_url", Fact::Text(url))
    }

    async fn decide_content(&self, scan: &ContentScan) -> Result<Vec<String>> {
        scan.refuse_blocked()?;
        if !scan.phishing.is_empty() && !self.is_allowed(scan).await? {
            return Err(phishing(scan));
        }
        // Before anything is sent to the external checker.
        let warnings = scan.check_secrets()?;
        self.run_external_check(scan).await?;
        Ok(warnings)
    }

    /// Refuses a change that would give an encrypted page the name of a brand. An existing one may stay.
    pub(crate) fn check_changed_slug(&self, before: &Site, after: &Site) -> Result<()> {
        if before.e2e == after.e2e && before.slug == after.slug {
            return Ok(());
        }
        self.check_slug_impersonation(after.e2e, after.slug.as_deref())
    }

    /// Checks the slug of an encrypted page: its content cannot be checked, so its URL must not impersonate a brand.
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

impl ContentScan {
    /// Refuses secrets and personal data, or returns warnings about them.
    fn check_secrets(&self) -> Result<Vec<String>> {
        match (self.pii, self.secrets.is_empty()) {
            (_, true) | (PiiCheck::Off, _) => Ok(Vec::new()),
            (PiiCheck::Block, _) => Err(secrets_found(self)),
            (PiiCheck::Warn, _) => Ok(self.secrets.iter().map(warning).collect()),
        }
    }
}

fn phishing(scan: &ContentScan) -> Error {
    refusal(Code::PhishingBlocked, scan.phishing.clone(), scan)
}

/// A refusal with its reasons: the first as a sentence, all of them for programs.
fn refusal(code: Code, reasons: Vec<Finding>, scan: &ContentScan) -> Error {
    let detail = reasons.first().map_or_else(|| code.meaning().to_owned(), Finding::sentence);
    Error::new(code, detail)
        .with_fact("reasons", Fact::Findings(reasons))
        .with_fact("content_hash", Fact::Text(scan.content_hash()))
}

fn secrets_found(scan: &ContentScan) -> Error {
    let reasons = scan.secrets.iter().map(|found| Finding {
        rule: "secret-or-personal-data".to_owned(),
        file: found.file.clone(),
        line: Some(found.line as u64),
        why: format!("This looks like {}.", found.with_article()),
        fix: "Remove it or replace it with an example value.".to_owned(),
    });
    refusal(Code::SecretsFound, reasons.collect(), scan)
}

/// Names the kind and the place, never the value.
fn warning(found: &secrets::Finding) -> String {
    format!("{}, line {}: this looks like {}.", found.file, found.line, found.with_article())
}
