//! Reads one argument of `dropleaf check` by its kind: a single text, a packed file, or a folder.

use super::folder::{self, Folder};
use super::problem::FileProblem;
use dropleaf_app::{CheckResult, SafetySettings};
use dropleaf_content::{
    BundleKind, DecodedText, Limits, StandaloneFile, classify_standalone_file, decode_for_check,
    is_page_name, is_text_name, mime_of,
};
use dropleaf_core::{Code, Error};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The number of leading bytes that publishing reads to detect the kind.
const HEAD: u64 = 1024;
/// The name of a page once it is published.
const PAGE: &str = "index.html";
const NOT_READ: &str = "Files of this type are not checked.";

/// Settings of the check.
#[derive(Debug)]
pub(super) struct Checker<'a> {
    pub(super) safety: SafetySettings,
    pub(super) limits: Limits,
    pub(super) upload_bytes: u64,
    pub(super) spool: &'a Path,
}

type Outcome = Result<(CheckResult, Option<FileProblem>), FileProblem>;

impl Checker<'_> {
    /// What the checks say about a file or a folder, and what else would prevent its publication.
    pub(super) fn check(&self, path: &Path) -> Outcome {
        let unreadable = |error| FileProblem::unreadable(&error);
        if path == Path::new("-") {
            let mut bytes = Vec::new();
            // One byte more than allowed is enough to know that it is too large.
            io::stdin().take(self.upload_bytes + 1).read_to_end(&mut bytes).map_err(unreadable)?;
            self.check_size(bytes.len() as u64)?;
            return Ok(self.text(PAGE, StandaloneFile::Page, path, bytes));
        }
        if path.is_dir() {
            let Folder { root, texts, problem, warnings } = folder::read(path, &self.limits)?;
            let named = |inside: &str| path.join(format!("{root}{inside}")).display().to_string();
            let mut checked = self.safety.check_texts(&texts, named);
            checked.warnings.extend(warnings);
            return Ok((checked, problem));
        }
        let mut file = File::open(path).map_err(unreadable)?;
        self.check_size(file.metadata().map_err(unreadable)?.len())?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut bytes = Vec::new();
        (&mut file).take(HEAD).read_to_end(&mut bytes).map_err(unreadable)?;
        let kind = classify_standalone_file(&name, &bytes);
        if kind == StandaloneFile::Packed {
            let named = |kind, inside: &str| {
                if kind == BundleKind::Zip { path.join(inside) } else { path.to_owned() }
                    .display()
                    .to_string()
            };
            let mut checked = self.safety.check_packed(&name, file, &self.limits, self.spool, named)?;
            if mime_of(&name).starts_with("image/") && !is_text_name(&name) {
                checked.warnings.push(NOT_READ.to_owned());
            }
            return Ok((checked, None));
        }
        file.read_to_end(&mut bytes).map_err(unreadable)?;
        Ok(self.text(&name, kind, path, bytes))
    }

    fn check_size(&self, size: u64) -> Result<(), FileProblem> {
        let most = self.upload_bytes;
        if size <= most {
            return Ok(());
        }
        Err(Error::new(Code::TooLarge, format!("it is at least {size} bytes; the limit is {most}")).into())
    }

    /// A single text: a page, or a part of one.
    fn text(
        &self,
        name: &str,
        kind: StandaloneFile,
        path: &Path,
        bytes: Vec<u8>,
    ) -> (CheckResult, Option<FileProblem>) {
        let (is_own_kind, is_page) = match kind {
            StandaloneFile::Page => (is_text_name(name) && !is_page_name(name), true),
            StandaloneFile::NotAPage { looks_like_one } => (is_text_name(name), looks_like_one),
            StandaloneFile::Packed => (false, false),
        };
        let DecodedText { text, fault } =
            decode_for_check(if is_page && !is_own_kind { PAGE } else { name }, bytes);
        let mut files = [(name.to_owned(), text)];
        let mut checked = CheckResult::default();
        let named = |_: &str| path.display().to_string();
        if is_own_kind {
            checked = self.safety.check_texts(&files, named);
        }
        // An SVG is part of a page for some rules and, because publishing accepts it alone, a page for others.
        if is_page && checked.is_accepted() {
            PAGE.clone_into(&mut files[0].0);
            checked = self.safety.check_texts(&files, named);
        }
        if kind == StandaloneFile::Page {
            let fault = fault.map(|fault| FileProblem { code: fault.code.as_str(), why: fault.to_string() });
            return (checked, fault);
        }
        if !is_own_kind && !is_page {
            checked.warnings.push(NOT_READ.to_owned());
        }
        checked.warnings.push(
            "It cannot be published on its own (unsupported_type). Publish it in a .zip with the page that uses it."
                .to_owned(),
        );
        (checked, None)
    }
}
