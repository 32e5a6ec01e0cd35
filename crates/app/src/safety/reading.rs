//! What the checks find in an upload, before anybody decides about it. Blocks and uses one core, as checking does.

use super::SafetySettings;
use dropleaf_content::{Bundle, Kind, phishing, secrets};
use dropleaf_core::finding::Finding;
use dropleaf_core::safety::PiiCheck;
use dropleaf_core::{Error, Result};

/// Where a Markdown page keeps its source, and how its publisher hears of it.
const SOURCE: &str = "_dropleaf/source.md";
const SOURCE_NAME: &str = "index.md";

#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// Of the whole content: what an operator allows is allowed by this.
    pub(super) digest: [u8; 32],
    /// Why the phishing check refuses it; empty when it does not.
    pub(super) phishing: Vec<Finding>,
    pub(super) secrets: Vec<secrets::Finding>,
    /// What holds for this upload.
    pub(super) pii: PiiCheck,
}

impl Reading {
    /// Reads a bundle. What is encrypted cannot be read.
    pub(crate) fn of(bundle: &Bundle, settings: &SafetySettings, asked: Option<PiiCheck>) -> Result<Self> {
        let pii = settings.pii_check.or(asked);
        let mut reading = Self { digest: bundle.digest(), pii, ..Self::default() };
        if bundle.kind == Kind::E2e {
            return Ok(reading);
        }
        if settings.phishing_check {
            reading.take(phishing::check_bundle(bundle, settings.rules.rules()).map_err(Error::internal)?);
        }
        if pii != PiiCheck::Off {
            reading.secrets = secrets::find_in_bundle(bundle).map_err(Error::internal)?;
        }
        if bundle.kind == Kind::Markdown {
            reading.speak_of_source();
        }
        Ok(reading)
    }

    pub(super) fn take(&mut self, verdict: phishing::Verdict) {
        if verdict.refused {
            self.phishing = verdict.reasons.into_iter().map(finding).collect();
        }
    }

    /// The publisher of a Markdown page knows its source, not the page that was made of it.
    fn speak_of_source(&mut self) {
        for found in &mut self.phishing {
            SOURCE_NAME.clone_into(&mut found.file);
            found.line = None;
        }
        self.secrets.retain(|found| found.file == SOURCE);
        for found in &mut self.secrets {
            SOURCE_NAME.clone_into(&mut found.file);
        }
    }

    pub(crate) fn content_hash(&self) -> String {
        self.digest.iter().fold(String::with_capacity(64), |text, byte| format!("{text}{byte:02x}"))
    }
}

fn finding(reason: phishing::Reason) -> Finding {
    let phishing::Reason { rule, file, line, why, fix } = reason;
    Finding { rule: rule.to_owned(), file, line: Some(line as u64), why, fix }
}
