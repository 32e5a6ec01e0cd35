//! A dry run: what publishing would answer to an upload. Nothing is stored.

use super::CheckResult;
use crate::app::App;
use crate::publish::staging::{PrepareOptions, executable_refused};
use crate::publish::upload::Upload;
use dropleaf_core::options::UploadOptions;
use dropleaf_core::slug::Slug;
use dropleaf_core::{Code, Result};
use std::net::IpAddr;

#[derive(Debug)]
pub struct DryRun {
    pub checked: CheckResult,
    /// The error code that publishing would return; None if it would accept.
    pub code: Option<Code>,
    /// Hash of the whole content, hexadecimal.
    pub content_hash: String,
}

impl App {
    /// Checks an upload as publishing does. What could not be published at all is refused here too. A large upload is
    /// counted against `ip`.
    pub async fn check_upload(
        &self,
        ip: Option<IpAddr>,
        upload: Upload,
        options: UploadOptions,
    ) -> Result<DryRun> {
        let strict = options.csp_strict == Some(true);
        let prepare_options = PrepareOptions {
            e2e: options.e2e,
            strict,
            pii_check: options.pii_check,
            agentation: options.agentation == Some(true),
            spa: options.spa,
            is_public: options.slug.is_some(),
            executables: true,
        };
        let (prepared, scan) = self.scan_for_dry_run(upload, prepare_options).await?;
        self.charge_check(ip, prepared.bundle.size_bytes);
        let content_hash = scan.content_hash();
        let mut warnings = options.warnings;
        // The plan it will be published on is not known here.
        warnings.extend(prepared.bundle.program().map(|file| executable_refused(&file.path).detail));
        warnings.extend(prepared.into_warnings());
        let slug = options.slug.as_ref().map(Slug::as_str);
        let verdict = match self.check_slug_impersonation(options.e2e, slug) {
            Ok(()) => self.check_content(&scan).await,
            Err(refusal) => Err(refusal),
        };
        let (code, reasons) = match verdict {
            Ok(more) => {
                warnings.extend(more);
                (None, Vec::new())
            }
            Err(error) if is_about_content(error.code) => {
                warnings.extend(scan.other_warnings(&error));
                (Some(error.code), error.reasons().to_vec())
            }
            Err(error) => return Err(error),
        };
        Ok(DryRun { checked: CheckResult { reasons, warnings }, code, content_hash })
    }
}

const fn is_about_content(code: Code) -> bool {
    matches!(code, Code::PhishingBlocked | Code::ContentBlocked | Code::SecretsFound)
}
