//! `dropleaf publish FILE…`: prints one link per file, and nothing else on standard output.

use super::session::explained;
use super::{ClientEnvironment, visible};
use crate::cli::exit::{NotSignedIn, WrongUse};
use crate::cli::name;
use crate::cli::output::print_line;
use anyhow::{Context, Result, ensure};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use dropleaf_client::{Client, ClientError, File, PageOptions, Reason, Site};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct Publish {
    /// .html, .htm, .md, .pdf, .zip, .svg, .txt, .csv, .tsv, .json, .ipynb or an image; each becomes a page
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The server (default: `DROPLEAF_URL`, the server you last signed in to, or <http://localhost:8080>)
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Replace the content of this page instead: its ID, slug or token; the link stays the same
    #[arg(long, value_name = "ID", allow_hyphen_values = true, value_parser = name::parse)]
    update: Option<String>,
    /// The name of a public page
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    slug: Option<String>,
    /// Make the page public, at an address with the slug
    #[arg(long, conflicts_with = "burn")]
    public: bool,
    /// Delete the page after its first view
    #[arg(long)]
    burn: bool,
    /// Protect the page with a password; you are prompted for it
    #[arg(long)]
    password: bool,
    /// How long the page stays online; `never` if the plan allows it
    #[arg(long, value_name = "HOURS", value_parser = NonEmptyStringValueParser::new())]
    expires_in_hours: Option<String>,
    #[arg(long)]
    title: Option<String>,
    /// What to do about secrets and personal data in the page: off, warn or block
    #[arg(long, value_name = "HOW", value_parser = ["off", "warn", "block"])]
    pii_check: Option<String>,
    /// Print the server's response as JSON
    #[arg(long)]
    json: bool,
}

impl Publish {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let alone = self.update.is_some() || self.slug.is_some();
        ensure!(
            !alone || self.files.len() == 1,
            WrongUse("--update and --slug accept only one file".to_owned())
        );
        let files = self.files.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
        let client = environment.client(self.server.as_deref())?;
        if self.update.is_some() && !client.has_key() {
            let text = format!("replacing a page requires a key; run `dropleaf login {}`", client.server());
            return Err(NotSignedIn(text).into());
        }
        let options = self.options()?;
        let mut answers = Vec::new();
        let mut outcome = Ok(());
        for (path, file) in self.files.iter().zip(&files) {
            let sent = match &self.update {
                Some(name) => client.update(name, file, &options).await,
                None => client.publish(file, &options).await,
            };
            match sent {
                Ok(site) if self.json => answers.push(serde_json::to_value(&site)?),
                Ok(site) => report(&client, &site),
                Err(error) => {
                    say_why(&error, path, &client);
                    answers.extend(error.body().cloned());
                    outcome = Err(explained(error, client.server()))
                        .with_context(|| format!("{} was not published", file.name));
                    break;
                }
            }
        }
        if self.json {
            match answers.as_slice() {
                [] => {}
                [one] if files.len() == 1 => print_line(&serde_json::to_string_pretty(one)?)?,
                many => print_line(&serde_json::to_string_pretty(many)?)?,
            }
        }
        outcome
    }

    fn options(&self) -> Result<PageOptions> {
        let password = if self.password {
            let first = rpassword::prompt_password("Password for viewers: ")
                .context("no terminal available for the password prompt")?;
            ensure!(!first.trim().is_empty(), "the password is empty");
            ensure!(rpassword::prompt_password("Again: ")? == first, "the entries do not match");
            Some(first)
        } else {
            None
        };
        Ok(PageOptions {
            slug: self.slug.clone(),
            password,
            expires_in_hours: self.expires_in_hours.clone(),
            visibility: self.public.then(|| "public".to_owned()),
            burn: self.burn,
            title: self.title.clone(),
            pii_check: self.pii_check.clone(),
        })
    }
}

fn read(path: &Path) -> Result<File> {
    ensure!(
        !path.is_dir(),
        "{} is a folder; pack it into a .zip with index.html at its root",
        path.display()
    );
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(File { name: name.unwrap_or_default(), bytes })
}

/// Whether a page was refused for its content, which is not a failure of the command.
pub(in crate::cli) fn is_refusal(error: &ClientError) -> bool {
    error.status() == Some(422) && !error.reasons().is_empty()
}

/// Prints all reasons against a page, for its author to fix; the error itself contains only the first.
fn say_why(error: &ClientError, path: &Path, client: &Client) {
    for Reason { rule, file, line, why, fix } in error.reasons() {
        let place = line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"));
        eprintln!("{place}: {why}\n    {fix} [{rule}]");
    }
    // Only if the server says that it accepts appeals.
    if error.body().is_some_and(|body| body["appeal_url"].is_string()) {
        eprintln!(
            "If this is a mistake, request a review from the operator of the server:\n  \
             curl -F {} -F comment=WHY {}/appeals",
            quoted(&format!("file=@{}", path.display())),
            client.server()
        );
    }
}

/// Quotes a word for the shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "=@./_-".contains(c);
    let word = visible(word);
    if word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Prints the link for scripts, the rest for people.
fn report(client: &Client, site: &Site) {
    println!("{}", visible(&site.url));
    for warning in &site.warnings {
        eprintln!("note: {}", visible(warning));
    }
    if let Some(claim) = &site.claim_url {
        let until =
            site.expires_at_iso.as_deref().map_or_else(String::new, |at| format!(" until {}", visible(at)));
        eprintln!(
            "Published without an account. The page stays online{until}. To keep it, sign in and open\n  {}\n\
             or run `dropleaf login {}` before you publish.",
            visible(claim),
            client.server()
        );
    }
}
