//! What the checks find in an upload, before anything is decided. Blocking, and uses one core.

use super::SafetySettings;
use super::checker::build_request;
use super::clean_content::{self, CleanContent, Standard};
use bytes::Bytes;
use dropleaf_content::{Bundle, BundleKind, BundleTexts, source_lines};
use dropleaf_core::finding::Finding;
use dropleaf_core::safety::PiiCheck;
use dropleaf_core::{Error, Result, hex};
use dropleaf_inspect::similarity::{self, Blocklist, Match};
use dropleaf_inspect::{UploadFile, UploadTexts, phishing, secrets};
use std::sync::Arc;

/// Where a Markdown page keeps its source, and the name shown to its publisher.
const SOURCE: &str = "_dropleaf/source.md";
const SOURCE_NAME: &str = "index.md";

#[derive(Debug, Default)]
pub(crate) struct ContentScan {
    /// Hash of the whole content; an operator's allow refers to it.
    pub(super) digest: [u8; 32],
    /// Why the phishing check refuses it; empty if it does not.
    pub(super) phishing: Vec<Finding>,
    pub(super) secrets: Vec<secrets::Finding>,
    /// The taken-down content that it resembles.
    pub(super) blocked: Option<Match>,
    /// The setting for this upload.
    pub(super) pii: PiiCheck,
    /// The request to the external checker, if there is one. Built once, while the upload holds its permit.
    pub(super) checker_request: Option<Bytes>,
    /// A dry run or an appeal: publishers have priority.
    pub(crate) is_dry: bool,
}

impl ContentScan {
    /// Reads a bundle. Encrypted content cannot be read.
    pub(crate) fn scan(bundle: &Bundle, settings: &SafetySettings, asked: Option<PiiCheck>) -> Result<Self> {
        Self::scan_and_compare(bundle, settings, asked, None, &CleanContent::default())
    }

    /// The same, and compares it with the blocklist in one pass over its pages. Content in which nothing was found before is
    /// not read.
    pub(crate) fn scan_and_compare(
        bundle: &Bundle,
        settings: &SafetySettings,
        asked: Option<PiiCheck>,
        blocklist: Option<Arc<Blocklist>>,
        clean: &CleanContent,
    ) -> Result<Self> {
        let pii = settings.pii_check.or(asked);
        let mut scan = Self { digest: bundle.digest(), pii, ..Self::default() };
        let is_readable = bundle.kind != BundleKind::E2e;
        let (checks, reads_secrets) =
            (is_readable && settings.phishing_check, is_readable && pii != PiiCheck::Off);
        if let Some(set) = settings.checker.filter(|_| is_readable) {
            let asked = build_request(bundle, set.sends_content, &scan.content_hash());
            scan.checker_request = Some(asked.map_err(Error::internal)?);
        }
        if !checks && !reads_secrets && blocklist.is_none() {
            return Ok(scan);
        }
        let standard = Standard { rules: settings.rules.rules(), blocklist };
        let key = clean_content::key(bundle, &scan.digest, checks, reads_secrets);
        if clean.knows(&standard, &key) {
            return Ok(scan);
        }
        let Standard { rules, blocklist } = &standard;
        // Read once for all checks.
        let texts = if reads_secrets { BundleTexts::of(bundle) } else { BundleTexts::of_pages(bundle) };
        let texts = texts.map_err(Error::internal)?;
        let texts = for_inspection(&texts);
        match (blocklist, checks) {
            (Some(blocklist), true) => {
                let (verdict, fingerprints) = similarity::check_and_fingerprint(&texts, rules);
                scan.set_phishing(verdict);
                scan.blocked = blocklist.find(&fingerprints);
            }
            (Some(blocklist), false) => {
                scan.blocked = blocklist.find(&similarity::fingerprint(&texts, rules));
            }
            (None, true) => {
                let files = texts.files();
                if !phishing::is_harmless(&files, rules) {
                    scan.set_phishing(phishing::check(&files, rules));
                }
            }
            (None, false) => {}
        }
        if reads_secrets {
            scan.secrets = secrets::find_in_texts(&texts);
        }
        if bundle.kind == BundleKind::Markdown {
            scan.map_to_source(&texts, &bundle.entry);
        }
        if scan.phishing.is_empty() && scan.secrets.is_empty() && scan.blocked.is_none() {
            clean.remember(standard, key);
        }
        Ok(scan)
    }

    pub(super) fn set_phishing(&mut self, verdict: phishing::Verdict) {
        if verdict.refused {
            self.phishing = verdict.reasons.into_iter().map(finding).collect();
        }
    }

    /// Maps findings to the Markdown source, which its publisher knows, instead of the generated page.
    fn map_to_source(&mut self, texts: &UploadTexts<'_>, entry: &str) {
        if !self.phishing.is_empty() {
            let files = texts.files();
            let text = |path: &str| files.iter().find(|file| file.path == path).map_or("", |file| file.text);
            let lines: Vec<usize> = self.phishing.iter().map(line_of).collect();
            let lines = source_lines(text(entry), text(SOURCE), &lines);
            for (found, line) in self.phishing.iter_mut().zip(lines) {
                SOURCE_NAME.clone_into(&mut found.file);
                found.line = line.map(|line| line as u64);
            }
            // The title of the page and the heading that it comes from are one line of the source.
            let mut unique: Vec<Finding> = Vec::new();
            for found in std::mem::take(&mut self.phishing) {
                if !unique.contains(&found) {
                    unique.push(found);
                }
            }
            self.phishing = unique;
        }
        if let Some(found) = &mut self.blocked {
            found.file = Some(SOURCE_NAME.to_owned());
        }
        self.secrets.retain(|found| found.file == SOURCE);
        for found in &mut self.secrets {
            SOURCE_NAME.clone_into(&mut found.file);
        }
    }

    pub(crate) fn digest(&self) -> [u8; 32] {
        self.digest
    }

    pub(crate) fn content_hash(&self) -> String {
        hex::encode(&self.digest)
    }

    /// The blocklist id of the taken-down content that it resembles.
    pub(crate) fn blocked_content_id(&self) -> Option<&str> {
        self.blocked.as_ref().map(|found| found.id.as_str())
    }
}

/// The texts of a bundle in the form that the checks take. Borrows them: nothing is copied.
pub(super) fn for_inspection<'t>(texts: &'t BundleTexts<'_>) -> UploadTexts<'t> {
    let files = texts.files.iter().map(|file| UploadFile {
        path: file.path,
        text: &file.text,
        hash: file.hash,
        size_bytes: file.size_bytes,
        is_reserved: file.is_reserved(),
    });
    UploadTexts { files: files.collect(), is_markdown: texts.kind == BundleKind::Markdown }
}

fn line_of(found: &Finding) -> usize {
    found.line.and_then(|line| usize::try_from(line).ok()).unwrap_or_default()
}

pub(crate) fn finding(reason: phishing::Reason) -> Finding {
    let phishing::Reason { rule, file, line, why, fix } = reason;
    Finding { rule: rule.to_owned(), file, line: Some(line as u64), why, fix }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropleaf_content::{Body, Encoding, File};

    fn page(encoding: Encoding, bytes: &'static [u8]) -> Bundle {
        let file = File {
            path: "index.html".to_owned(),
            mime: "text/html",
            hash: [7; 32],
            size_bytes: 25,
            body: Body::Packed { encoding, bytes: Bytes::from_static(bytes) },
            plain: None,
        };
        Bundle {
            kind: BundleKind::Html,
            title: String::new(),
            entry: "index.html".to_owned(),
            files: vec![file],
            warnings: Vec::new(),
            size_bytes: 25,
            addressing: dropleaf_content::Addressing::default(),
            file_name: None,
            address_warnings: dropleaf_content::AddressWarnings::default(),
            toolbar_warning: None,
        }
    }

    /// Cannot be read.
    fn broken_page() -> Bundle {
        page(Encoding::Zstd, b"this is not packed at all")
    }

    #[test]
    fn nothing_is_unpacked_when_nobody_asks() {
        let bundle = broken_page();
        let off =
            SafetySettings { phishing_check: false, pii_check: PiiCheck::Off, ..SafetySettings::default() };
        assert!(ContentScan::scan(&bundle, &off, None).is_ok());
        assert!(ContentScan::scan(&bundle, &SafetySettings { phishing_check: true, ..off }, None).is_err());
    }

    #[test]
    fn clean_content_is_read_once_for_each_setting_list_and_blocklist() {
        let (clean, settings) = (CleanContent::default(), SafetySettings::default());
        let scan = |bundle: &Bundle, settings: &SafetySettings, asked, blocklist: Option<&Arc<Blocklist>>| {
            ContentScan::scan_and_compare(bundle, settings, asked, blocklist.cloned(), &clean)
        };
        let readable = page(Encoding::Identity, b"<p>There is nothing here.");
        assert!(scan(&broken_page(), &settings, None, None).is_err());
        scan(&readable, &settings, None, None).unwrap();
        let again = scan(&broken_page(), &settings, None, None).unwrap();
        assert_eq!(again.digest, readable.digest());

        let other_type = |mut bundle: Bundle| {
            bundle.files[0].mime = "text/html; charset=windows-1252";
            bundle
        };
        assert!(scan(&other_type(broken_page()), &settings, None, None).is_err());
        let renamed = |mut bundle: Bundle| {
            bundle.files[0].path = "other.html".to_owned();
            bundle
        };
        assert!(scan(&renamed(broken_page()), &settings, None, None).is_err());
        let unchecked = SafetySettings { phishing_check: false, ..settings.clone() };
        assert!(scan(&broken_page(), &unchecked, None, None).is_err());
        let without_secrets = SafetySettings { pii_check: PiiCheck::Off, ..settings.clone() };
        assert!(scan(&broken_page(), &without_secrets, None, None).is_err());
        // The same texts are read, so it is the same result.
        assert!(scan(&broken_page(), &settings, Some(PiiCheck::Block), None).is_ok());
        let other_rules = SafetySettings { rules: settings.rules.without('A'), ..settings.clone() };
        assert!(scan(&broken_page(), &other_rules, None, None).is_err());

        let blocklist = Arc::new(Blocklist::new([("one".to_owned(), vec![[1; 32]], Vec::new())]));
        assert!(scan(&broken_page(), &settings, None, Some(&blocklist)).is_err());
        scan(&readable, &settings, None, Some(&blocklist)).unwrap();
        assert!(scan(&broken_page(), &settings, None, Some(&blocklist)).is_ok());
        let longer = Arc::new(Blocklist::new([("one".to_owned(), vec![[1; 32], [2; 32]], Vec::new())]));
        assert!(scan(&broken_page(), &settings, None, Some(&longer)).is_err());
        assert!(scan(&broken_page(), &settings, None, None).is_err(), "a shorter list is another one too");
    }

    #[test]
    fn content_with_a_finding_is_read_each_time() {
        let (clean, settings) = (CleanContent::default(), SafetySettings::default());
        let scan = |bundle: &Bundle| ContentScan::scan_and_compare(bundle, &settings, None, None, &clean);
        for _ in 0..2 {
            let found = scan(&page(Encoding::Identity, b"key = AKIAIOSFODNN7EXAMPLQ")).unwrap();
            assert_eq!(found.secrets.len(), 1);
        }
        assert!(scan(&broken_page()).is_err());
    }
}
