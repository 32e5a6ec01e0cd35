//! The checks without storage, for files that are not published yet. Taken-down content, operators' allows and the
//! external checker are known only to servers.

use super::{ContentScan, SafetySettings};
use crate::publish::staging::content_error;
use dropleaf_content as content;
use dropleaf_core::finding::Finding;
use dropleaf_core::safety::PiiCheck;
use dropleaf_core::{Code, Error, Result};
use dropleaf_inspect::{phishing, secrets};
use std::path::Path;

/// The result of the checks.
#[derive(Debug, Default)]
pub struct CheckResult {
    /// Why it would be refused; empty if it would be accepted.
    pub reasons: Vec<Finding>,
    pub warnings: Vec<String>,
}

impl CheckResult {
    pub fn is_accepted(&self) -> bool {
        self.reasons.is_empty()
    }
}

impl SafetySettings {
    /// Checks files as they are, each with its path and text: a page, a script, the contents of a folder. `named` maps a
    /// path to the caller's name for it.
    pub fn check_texts(&self, files: &[(String, String)], named: impl Fn(&str) -> String) -> CheckResult {
        let mut scan = ContentScan { pii: self.pii_check, ..ContentScan::default() };
        if self.phishing_check {
            let texts: Vec<_> = files.iter().map(|(path, text)| phishing::File { path, text }).collect();
            scan.set_phishing(phishing::check(&texts, &self.rules.rules()));
        }
        if self.pii_check != PiiCheck::Off {
            scan.secrets = files.iter().flat_map(|(path, text)| secrets::find(path, text)).collect();
        }
        scan.verdict(named)
    }

    /// Checks a file that is prepared first: an archive, Markdown, a PDF. Refuses what could not be published.
    pub fn check_packed(
        &self,
        name: &str,
        file: std::fs::File,
        limits: &content::Limits,
        spool: &Path,
        named: impl Fn(content::BundleKind, &str) -> String,
    ) -> Result<CheckResult> {
        let upload = content::Upload {
            filename: Some(name),
            content_type: None,
            e2e: false,
            source: content::Source::File(file),
        };
        let bundle = content::prepare(upload, limits, spool).map_err(|refusal| content_error(&refusal))?;
        let mut checked = ContentScan::scan(&bundle, self, None)?.verdict(|path| named(bundle.kind, path));
        checked.warnings.splice(0..0, bundle.warnings);
        Ok(checked)
    }
}

impl ContentScan {
    /// The verdict, as far as it depends only on the reading.
    fn verdict(mut self, named: impl Fn(&str) -> String) -> CheckResult {
        for found in &mut self.phishing {
            found.file = named(&found.file);
        }
        for found in &mut self.secrets {
            found.file = named(&found.file);
        }
        let refusal =
            if self.phishing.is_empty() { self.check_secrets() } else { Err(super::phishing(&self)) };
        match refusal {
            Ok(warnings) => CheckResult { reasons: Vec::new(), warnings },
            Err(error) => {
                CheckResult { reasons: error.reasons().to_vec(), warnings: self.other_warnings(&error) }
            }
        }
    }

    /// Warnings for a publisher who was refused, so that they can fix everything at once.
    pub(super) fn other_warnings(&self, refusal: &Error) -> Vec<String> {
        if refusal.code == Code::SecretsFound || self.pii == PiiCheck::Off {
            return Vec::new();
        }
        self.secrets.iter().map(super::warning).collect()
    }
}
