//! Whether content may be published: the phishing check, secrets and personal data, content that was taken down before,
//! and an outside check if the operator plugged one in. Asked before anything is stored, signed or paid.

mod allowed;
mod outside;
mod reading;
mod rule_book;
mod settings;
mod unwanted;

pub(crate) use reading::{Reading, finding};
pub use rule_book::RuleBook;
pub use settings::SafetySettings;

use crate::app::App;
use dropleaf_content::secrets;
use dropleaf_core::error::Fact;
use dropleaf_core::finding::Finding;
use dropleaf_core::safety::PiiCheck;
use dropleaf_core::{Code, Error, Result};

impl App {
    /// Refuses what may not be published, and says what its publisher should know about the rest.
    pub(crate) async fn judge(&self, reading: &Reading) -> Result<Vec<String>> {
        self.refuse_unwanted(reading)?;
        if !reading.phishing.is_empty() && !self.is_allowed(reading).await? {
            return Err(phishing(reading));
        }
        self.ask_outside(reading).await?;
        match (reading.pii, reading.secrets.is_empty()) {
            (_, true) | (PiiCheck::Off, _) => Ok(Vec::new()),
            (PiiCheck::Block, _) => Err(secrets_found(&reading.secrets)),
            (PiiCheck::Warn, _) => Ok(reading.secrets.iter().map(warning).collect()),
        }
    }
}

fn phishing(reading: &Reading) -> Error {
    let first = &reading.phishing[0];
    let place = first.line.map_or_else(String::new, |line| format!(", line {line}"));
    let detail = format!("{} ({}{place}) {}", first.why, first.file, first.fix);
    Error::new(Code::PhishingBlocked, detail)
        .with_fact("reasons", Fact::Findings(reading.phishing.clone()))
        .with_fact("content_hash", Fact::Text(reading.content_hash()))
}

fn secrets_found(found: &[secrets::Finding]) -> Error {
    let reasons = found.iter().map(|found| Finding {
        rule: "secret_or_personal_data".to_owned(),
        file: found.file.clone(),
        line: Some(found.line as u64),
        why: format!("This looks like a {}.", found.kind),
        fix: "Take it out, or replace it by an example.".to_owned(),
    });
    Error::plain(Code::SecretsFound).with_fact("reasons", Fact::Findings(reasons.collect()))
}

/// Names the kind and the place, never the value.
fn warning(found: &secrets::Finding) -> String {
    format!("{}, line {}: this looks like a {}.", found.file, found.line, found.kind)
}
