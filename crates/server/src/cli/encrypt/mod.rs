//! `dropleaf encrypt FILE`: writes the payload to upload with `e2e=true`, and prints the fragment of the link that opens it.
//! Needs no server and no settings.

mod frame;

use super::output::{print_json, print_line};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use dropleaf_core::Minter;
use flate2::Compression;
use flate2::write::GzEncoder;
use frame::Seeds;
pub(in crate::cli) use frame::fragment;
use serde_json::json;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct Encrypt {
    /// The page to encrypt; Markdown (.md) is rendered first
    file: PathBuf,
    /// Where to write the encrypted file (default: FILE with .e2e added)
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Also require a passphrase, which is read from this file
    #[arg(long, value_name = "FILE", conflicts_with = "ask_passphrase")]
    passphrase_file: Option<PathBuf>,
    /// Also require a passphrase; you are prompted for it
    #[arg(long)]
    ask_passphrase: bool,
    /// Compress before encrypting; the size then reveals a little about the content
    #[arg(long)]
    gzip: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Encrypt {
    /// Standard output gets only the fragment, or the JSON, so that scripts can use it.
    pub(super) fn run(self, minter: &Minter) -> Result<()> {
        let plain = fs::read(&self.file).with_context(|| format!("cannot read {}", self.file.display()))?;
        ensure!(!plain.is_empty(), "{} is empty", self.file.display());
        let plain = if is_markdown(&self.file) { typeset(&self.file, &plain)? } else { plain };
        let passphrase = self.passphrase()?;
        let plain = if self.gzip { compress(&plain)? } else { plain };
        let seeds = Seeds { secret: minter.bytes(), salt: minter.bytes(), iv: minter.bytes() };
        let payload = frame::seal(&plain, &seeds, passphrase.as_deref(), self.gzip)?;
        let output = self.output.unwrap_or_else(|| beside(&self.file));
        fs::write(&output, payload).with_context(|| format!("cannot write {}", output.display()))?;
        let fragment = frame::fragment(&seeds.secret);
        if self.json {
            return print_json(&json!({"output": output.display().to_string(), "fragment": fragment}));
        }
        print_line(&fragment)?;
        eprintln!(
            "Wrote {0}. Publish it with: curl -F file=@{0} -F e2e=true …/sites\n\
             Then append the line above to the URL of the page. Anyone with the complete link can read the page.",
            output.display()
        );
        Ok(())
    }

    fn passphrase(&self) -> Result<Option<String>> {
        let text = if let Some(path) = &self.passphrase_file {
            let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            let line = text.strip_suffix('\n').unwrap_or(&text);
            line.strip_suffix('\r').unwrap_or(line).to_owned()
        } else if self.ask_passphrase {
            let first =
                rpassword::prompt_password("Passphrase: ").context("no terminal available for the prompt")?;
            if rpassword::prompt_password("Again: ")? != first {
                bail!("the entries do not match");
            }
            first
        } else {
            return Ok(None);
        };
        ensure!(!text.is_empty(), "the passphrase is empty");
        Ok(Some(text))
    }
}

/// The payload of a page that opens with `secret` alone, to upload with `e2e=true`. Salt and IV are new every time, so a page
/// can keep its secret when its content is replaced.
pub(in crate::cli) fn seal_page(
    name: &Path,
    plain: Vec<u8>,
    secret: [u8; 32],
    minter: &Minter,
) -> Result<Vec<u8>> {
    let plain = if is_markdown(name) { typeset(name, &plain)? } else { plain };
    let seeds = Seeds { secret, salt: minter.bytes(), iv: minter.bytes() };
    frame::seal(&plain, &seeds, None, false)
}

fn is_markdown(file: &Path) -> bool {
    file.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("markdown")
    })
}

/// Renders Markdown as the server would, here because the server cannot read it.
fn typeset(file: &Path, source: &[u8]) -> Result<Vec<u8>> {
    let source = source.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source);
    let source =
        std::str::from_utf8(source).with_context(|| format!("{} is not UTF-8 text", file.display()))?;
    let name = file.file_name().map(|name| name.to_string_lossy());
    let page = dropleaf_content::markdown_page(source, name.as_deref());
    for warning in &page.warnings {
        eprintln!("warning: {warning}");
    }
    Ok(page.html.into_bytes())
}

fn compress(plain: &[u8]) -> Result<Vec<u8>> {
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    out.write_all(plain)?;
    Ok(out.finish()?)
}

fn beside(file: &Path) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(".e2e");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_typeset_before_it_is_encrypted() {
        assert!(is_markdown(Path::new("a/notes.MD")) && !is_markdown(Path::new("notes.html")));
        let page =
            String::from_utf8(typeset(Path::new("notes.md"), b"\xef\xbb\xbf# Hi <b>there</b>").unwrap())
                .unwrap();
        assert!(page.starts_with("<!doctype html>") && page.contains("Hi <b>there</b>"), "{page}");
        assert!(typeset(Path::new("notes.md"), b"caf\xe9").is_err());
    }
}
