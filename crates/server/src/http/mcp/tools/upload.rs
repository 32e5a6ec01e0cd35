//! The tool that creates an upload address, so that a large file does not pass through the model.

use super::{Call, REPLACES, Tool, schema};
use crate::http::extract::{UploadArguments, nullable};
use crate::http::mcp::tool_result::ToolOutput;
use dropleaf_core::scope::Scope;
use dropleaf_core::site_change::Field;
use dropleaf_core::upload_option::EXPECTED_UPDATED_AT;
use dropleaf_core::{Error, Result, iso};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Longer than any path.
const FILE_BYTES: usize = 4096;
/// Placeholder in the command for a file that was not named, or whose name shells quote differently.
const SOME_FILE: &str = "FILE";

/// Options of the upload address.
#[derive(Debug, Deserialize, ToSchema)]
struct CreateUpload {
    /// Path on your disk: .html, .md, .pdf, .zip, .csv, .tsv, .json, .ipynb, .txt, .svg or an image.
    #[schema(nullable = false)]
    file: Option<String>,
    /// Page to replace: ID, slug, token or URL.
    #[schema(nullable = false)]
    site: Option<String>,
    /// With `site`: the `updated_at` you saw.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, nullable = false)]
    expected_updated_at: Field<i64>,
    /// The file is already AES-GCM ciphertext.
    #[schema(nullable = false)]
    e2e: Option<bool>,
}

/// Where and how to send the file.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct UploadJson {
    /// Send the file there with PUT, its name after the last slash. Anyone who has the address can do so: keep it
    /// secret.
    #[schema(format = "uri")]
    upload_url: String,
    /// Epoch seconds.
    expires_at: i64,
    /// The same in ISO 8601 format.
    expires_at_iso: String,
    /// Command that sends the file, for any shell; replace FILE with the file's name if it appears.
    command: String,
    /// Alternatively, a multipart form.
    form: UploadFormJson,
    /// Maximum size of the file.
    max_bytes: u64,
}

/// A form with the file.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct UploadFormJson {
    method: &'static str,
    #[schema(format = "uri")]
    url: String,
    content_type: &'static str,
    /// The name of the part that holds the file.
    field: &'static str,
}

pub(super) static CREATE_UPLOAD: Tool = Tool {
    name: "create_upload",
    title: "Create an upload address",
    description: "Create an address that accepts one file within 15 minutes, and the curl command that sends it: \
                  for files on disk, archives, PDFs and large pages, whose bytes then do not pass through you. \
                  With `site` the file replaces that page.",
    needs: Scope::Write,
    // With `site` it leads to a replacement.
    hints: REPLACES,
    input: schema::both::<CreateUpload, UploadArguments>,
    output: schema::output::<UploadJson>,
    run: |call| Box::pin(create_upload(call)),
};

async fn create_upload(mut call: Call) -> Result<ToolOutput> {
    let CreateUpload { file, site, expected_updated_at, e2e } = call.fields.take()?;
    let file = file.map(shell_word).transpose()?.flatten();
    let mut chosen = call.fields.take::<UploadArguments>()?.into_form_fields();
    chosen.extend(e2e.map(|flag| ("e2e".to_owned(), flag.to_string())));
    let expected = expected_updated_at.value();
    chosen.extend(expected.map(|at| (EXPECTED_UPDATED_AT.to_owned(), at.to_string())));
    let warnings = call.fields.unknown()?;
    let app = &call.state.app;
    let site = match site {
        Some(name) => Some(app.get_site(call.account(), &name).await?),
        None => None,
    };
    let site_id = site.as_ref().map(|site| site.id.as_str());
    let ticket = app.issue_ticket(&call.sender.who, site_id, chosen).await?;
    let form_url = format!("{}/uploads/{}", app.hosts.base.url(), ticket.text);
    let upload_url = format!("{form_url}/");
    let word = file.as_deref().unwrap_or(SOME_FILE);
    let command = format!("curl -sS -g -T {word} {}", quoted(&upload_url));
    let mut note = format!("Run this before {}:\n{command}", iso::format(ticket.expires_at));
    if file.is_none() {
        note = format!("{note}\nReplace {SOME_FILE} with the file name, quoted for your shell.");
    }
    let mut answer = ToolOutput::json(UploadJson {
        upload_url,
        expires_at: ticket.expires_at,
        expires_at_iso: iso::format(ticket.expires_at),
        command,
        form: UploadFormJson {
            method: "POST",
            url: form_url,
            content_type: "multipart/form-data",
            field: "file",
        },
        max_bytes: call.state.resolved.config.limits.upload_bytes,
    });
    if let Some(site) = site {
        answer = answer.about(app, site);
    }
    Ok(answer.noted(Some(note)).warned(warnings))
}

/// Quotes a path so that every shell and curl take it literally; None if shells would read it differently.
fn shell_word(path: String) -> Result<Option<String>> {
    if path.is_empty() || path.len() > FILE_BYTES || path.chars().any(char::is_control) {
        return Err(Error::field("file", "must be the path of a file"));
    }
    let plain = |letter: char| letter.is_alphanumeric() || r" ._-/\:".contains(letter);
    // In double quotes a backslash is literal, unless another one or the closing quote follows.
    if !path.chars().all(plain) || path.contains(r"\\") || path.ends_with('\\') {
        return Ok(None);
    }
    // curl reads standard input for `-`, and options for anything that begins with it.
    let path = if path.starts_with('-') { format!("./{path}") } else { path };
    Ok(Some(quoted(&path)))
}

/// Quotes plain text as one word, for POSIX and Windows shells.
fn quoted(plain: &str) -> String {
    format!("\"{plain}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_for_every_shell_and_never_options() {
        for (path, word) in [
            ("report.html", Some(r#""report.html""#)),
            ("-", Some(r#""./-""#)),
            ("--help.html", Some(r#""./--help.html""#)),
            ("/tmp/ä b.zip", Some(r#""/tmp/ä b.zip""#)),
            (r"C:\Users\me\a b.zip", Some(r#""C:\Users\me\a b.zip""#)),
            ("it's.html", None),
            ("$(here).html", None),
            ("`now`.html", None),
            ("%PATH%.html", None),
            ("a\"b.html", None),
            ("a&b.html", None),
            ("~/a.html", None),
            (r"\\server\a.html", None),
            (r"C:\a\", None),
        ] {
            assert_eq!(shell_word(path.to_owned()).unwrap().as_deref(), word, "{path}");
        }
        for bad in ["", "a\nb", "a\0", &"x".repeat(5000)] {
            assert!(shell_word(bad.to_owned()).is_err(), "{bad:?}");
        }
    }
}
