//! `dropleaf check FILE…`: runs the checks of publishing on files, without a server and without a data folder. Exits with 0 if
//! all files are accepted, 3 if one is refused, 1 after any other failure.

mod folder;
mod print;
mod problem;
mod source;

use super::output::{print_json, print_line};
use crate::config::Config;
use crate::http::api::ReasonJson;
use anyhow::{Context, Result};
use clap::Args;
use dropleaf_app::CheckResult;
use dropleaf_core::safety::PiiCheck;
use problem::FileProblem;
use serde::Serialize;
use source::Checker;
use std::fmt;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct Check {
    /// .html, .md, .zip, .svg, .js…, a folder with the files of a page, or - for a page on standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What to do about secrets and personal data (default: as in the settings): off, warn or block
    #[arg(long = "pii-check", value_name = "HOW", value_parser = pii_check)]
    about_secrets: Option<PiiCheck>,
    /// Skip the rules about where forms and scripts send data, to see what the other rules find
    #[arg(long)]
    without_destinations: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn pii_check(text: &str) -> Result<PiiCheck, String> {
    PiiCheck::parse(text).ok_or_else(|| "must be off, warn or block".to_owned())
}

/// The error of a command that found content which publishing would refuse. The reasons have already been printed.
#[derive(Debug)]
pub(super) struct Refused {
    refused: usize,
    of: usize,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { refused, of } = self;
        if *of == 1 { f.write_str("refused") } else { write!(f, "{refused} of {of} files would be refused") }
    }
}

impl std::error::Error for Refused {}

#[derive(Debug, Serialize)]
struct Answer<'a> {
    accepted: bool,
    /// The reasons for all files.
    reasons: Vec<&'a ReasonJson>,
    files: &'a [FileJson],
}

#[derive(Debug, Serialize)]
struct FileJson {
    file: String,
    accepted: bool,
    reasons: Vec<ReasonJson>,
    warnings: Vec<String>,
    /// Why the file could not be checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_description: Option<String>,
}

impl Check {
    pub(super) fn run(self, config: &Config) -> Result<()> {
        let mut safety = config.safety()?;
        // The check is on here even if the server's settings turn it off.
        safety.phishing_check = true;
        safety.pii_check = safety.pii_check.or(self.about_secrets);
        if self.without_destinations {
            safety.rules = safety.rules.without('B');
        }
        let spool = tempfile::tempdir().context("cannot create a temporary folder")?;
        let checker = Checker {
            safety,
            limits: config.content_limits(),
            upload_bytes: config.limits.upload_bytes,
            spool: spool.path(),
        };
        let files: Vec<FileJson> = self.files.iter().map(|path| FileJson::of(path, &checker)).collect();
        let of = files.len();
        let refused = files.iter().filter(|file| !file.reasons.is_empty()).count();
        let answer = Answer {
            accepted: files.iter().all(|file| file.accepted),
            reasons: files.iter().flat_map(|file| &file.reasons).collect(),
            files: &files,
        };
        if self.json {
            print_json(&answer)?;
        } else {
            print_line(&print::text(&files))?;
        }
        if refused > 0 {
            return Err(Refused { refused, of }.into());
        }
        match files.iter().find_map(|file| file.error_description.as_ref().map(|why| (&file.file, why))) {
            Some((file, why)) => Err(anyhow::anyhow!("{file}: {why}")),
            None => Ok(()),
        }
    }
}

impl FileJson {
    fn of(path: &Path, checker: &Checker<'_>) -> Self {
        let file = path.display().to_string();
        let (said, problem) =
            checker.check(path).unwrap_or_else(|problem| (CheckResult::default(), Some(problem)));
        // A refused file needs no other error.
        let problem = problem.filter(|_| said.is_accepted());
        let (error, error_description) = problem.map(|FileProblem { code, why }| (code, why)).unzip();
        Self {
            accepted: said.is_accepted() && error.is_none(),
            reasons: said.reasons.into_iter().map(ReasonJson::from).collect(),
            warnings: said.warnings,
            error,
            error_description,
            file,
        }
    }
}
