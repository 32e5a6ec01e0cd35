//! What the checks find in an upload, before anybody decides about it. Blocks and uses one core, as checking does.

use super::SafetySettings;
use dropleaf_content::{Bundle, Kind, phishing, secrets};
use dropleaf_core::finding::Finding;
use dropleaf_core::safety::PiiCheck;
use dropleaf_core::{Error, Result};

#[derive(Debug)]
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
        let mut reading = Self { digest: bundle.digest(), phishing: Vec::new(), secrets: Vec::new(), pii };
        if bundle.kind == Kind::E2e {
            return Ok(reading);
        }
        if settings.phishing_check {
            let verdict = phishing::check_bundle(bundle, settings.rules.rules()).map_err(Error::internal)?;
            if verdict.refused {
                reading.phishing = verdict.reasons.into_iter().map(finding).collect();
            }
        }
        if pii != PiiCheck::Off {
            reading.secrets = secrets::find_in_bundle(bundle).map_err(Error::internal)?;
        }
        Ok(reading)
    }

    pub(crate) fn digest(&self) -> [u8; 32] {
        self.digest
    }

    pub(crate) fn content_hash(&self) -> String {
        self.digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn finding(reason: phishing::Reason) -> Finding {
    let phishing::Reason { rule, file, line, why, fix } = reason;
    Finding { rule: rule.to_owned(), file, line: Some(line as u64), why, fix }
}
