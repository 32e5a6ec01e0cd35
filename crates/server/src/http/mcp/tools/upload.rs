//! An address to send a file to, so that a large page does not pass through the model.

use super::publish::UploadArguments;
use super::{ADDS, Call, Tool, schema};
use crate::http::mcp::answer::Answer;
use dropleaf_core::scope::Scope;
use dropleaf_core::{Error, Result, iso};
use serde::Serialize;
use utoipa::ToSchema;

/// Longer than any path.
const FILE_BYTES: usize = 4096;
/// Stands in the command for a file that was not named.
const SOME_FILE: &str = "FILE";

/// What the file will be.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the arguments; they are read field by field")]
struct CreateUpload {
    /// The file's path on your disk, for the command: .html, .htm, .md, .pdf, or a .zip with index.html at its root.
    #[schema(nullable = false)]
    file: Option<String>,
    /// The page whose content the file replaces, by id, slug or token; leave it out for a new page.
    #[schema(nullable = false)]
    site: Option<String>,
    /// With `site`: the `updated_at` you saw; refuses when somebody has changed the page since.
    #[schema(nullable = false)]
    expected_updated_at: Option<i64>,
    /// The file is AES-GCM ciphertext already.
    #[schema(nullable = false)]
    e2e: Option<bool>,
}

/// Where and how to send the file.
#[derive(Debug, Serialize, ToSchema)]
struct UploadJson {
    /// Send the file there with PUT, its name after the last slash. Whoever has the address can: keep it to yourself.
    upload_url: String,
    /// Epoch seconds.
    expires_at: i64,
    /// The same as ISO 8601.
    expires_at_iso: String,
    /// Sends the file; ready for a shell.
    command: String,
    /// The other way: a multipart form.
    form: UploadFormJson,
    /// The largest file.
    max_bytes: u64,
}

/// A form with the file in it.
#[derive(Debug, Serialize, ToSchema)]
struct UploadFormJson {
    method: &'static str,
    url: String,
    content_type: &'static str,
    /// The name of the part that holds the file.
    field: &'static str,
}

pub(super) static CREATE_UPLOAD: Tool = Tool {
    name: "create_upload",
    title: "Make an upload address",
    description: "Make an address to send one file to within 15 minutes, and a curl command that does it: for files on disk, \
                  archives, PDFs and large pages, whose bytes then do not pass through you. Without `site` the file becomes \
                  a new page, with it the new content of that page. The answer of the command is the page as JSON; the same \
                  file may be sent again if the answer was lost.",
    needs: Scope::Write,
    hints: ADDS,
    input: schema::both::<CreateUpload, UploadArguments>,
    output: schema::given::<UploadJson>,
    run: |call| Box::pin(create_upload(call)),
};

async fn create_upload(mut call: Call) -> Result<Answer> {
    let file = call.fields.optional_text("file")?.map_or_else(|| Ok(SOME_FILE.to_owned()), shell_path)?;
    let site = call.fields.optional_text("site")?;
    let mut chosen = call.fields.upload_options()?;
    let expected = call.fields.optional_int("expected_updated_at")?;
    chosen.extend(expected.map(|at| ("expected_updated_at".to_owned(), at.to_string())));
    let app = &call.state.app;
    let ticket = app.issue_ticket(&call.sender.who, site.as_deref(), chosen).await?;
    let form_url = format!("{}/uploads/{}", app.hosts.base.url(), ticket.text);
    let upload_url = format!("{form_url}/");
    let command = format!("curl -sS -g -T {file} {}", quoted(&upload_url));
    let note = format!("Run this before {}:\n{command}", iso::format(ticket.expires_at));
    let answer = Answer::json(UploadJson {
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
    Ok(answer.noted(Some(note)).warned(call.fields.warnings()))
}

/// A path as a word of a shell that curl takes for a path.
fn shell_path(path: String) -> Result<String> {
    if path.is_empty() || path.len() > FILE_BYTES || path.chars().any(char::is_control) {
        return Err(Error::field("file", "must be the path of a file"));
    }
    // curl reads standard input for `-`, and an option for what begins so.
    let path = if path.starts_with('-') { format!("./{path}") } else { path };
    Ok(quoted(&path))
}

/// A word of a POSIX shell that stands for itself.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_for_a_shell_and_never_options() {
        for (path, word) in [
            ("report.html", "'report.html'"),
            ("it's $(here) `now`.html", r"'it'\''s $(here) `now`.html'"),
            ("-", "'./-'"),
            ("--help.html", "'./--help.html'"),
            ("/tmp/ä b.zip", "'/tmp/ä b.zip'"),
        ] {
            assert_eq!(shell_path(path.to_owned()).unwrap(), word);
        }
        for bad in ["", "a\nb", "a\0", &"x".repeat(5000)] {
            assert!(shell_path(bad.to_owned()).is_err(), "{bad:?}");
        }
    }
}
