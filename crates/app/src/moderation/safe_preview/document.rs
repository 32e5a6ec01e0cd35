//! Renders a file for a safe preview: documents sanitized so that they load nothing, scripts as text. The security policy
//! that the HTTP layer sends with them is a second line of defence.

use crate::app::App;
use crate::viewing::pages::ServedFile;
use dropleaf_content::decode_text;
use dropleaf_core::{Code, Error, Result};
use dropleaf_inspect::safe_preview::{defuse_html, defuse_xml};

/// Larger documents are shown only as source.
const DOCUMENT_BYTES: u64 = 8 << 20;
const PLAIN: &str = "text/plain; charset=utf-8";

/// A sanitized document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewDocument {
    pub mime: String,
    pub text: String,
}

impl App {
    /// Sanitizes a document. It is decoded here, so that the browser reads exactly the text that was sanitized.
    pub async fn preview_document(&self, file: &ServedFile) -> Result<PreviewDocument> {
        if file.size_bytes > DOCUMENT_BYTES {
            return Err(Error::new(Code::TooLarge, "The document is too large to preview."));
        }
        let bytes = self.read_blob(&file.hash).await?;
        let mime = String::from_utf8_lossy(&file.mime).into_owned();
        let work = move || defuse(bytes.to_vec(), &mime);
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)
    }

    /// The media type for a file that is not a document, if it differs from its own: scripts are sent as plain text.
    pub fn preview_mime(file: &ServedFile) -> Option<&'static str> {
        String::from_utf8_lossy(&file.mime).contains("javascript").then_some(PLAIN)
    }
}

fn defuse(bytes: Vec<u8>, mime: &str) -> PreviewDocument {
    let text = decode_text(bytes, mime);
    let defused = if mime.starts_with("text/html") { Some(defuse_html(&text)) } else { defuse_xml(&text) };
    let kind = mime.split(';').next().unwrap_or_default().trim();
    match defused {
        Some(text) => PreviewDocument { mime: format!("{kind}; charset=utf-8"), text },
        None => PreviewDocument { mime: PLAIN.to_owned(), text },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_lies_still_and_what_cannot_is_text() {
        let html = defuse(b"<p>Hi<iframe src=//a.example></iframe>".to_vec(), "text/html; charset=utf-8");
        assert!(html.mime == "text/html; charset=utf-8" && !html.text.contains("<iframe"), "{html:?}");
        let built = b"<!DOCTYPE svg [<!ENTITY x 'y'>]><svg>&x;</svg>";
        let drawing = defuse(built.to_vec(), "image/svg+xml");
        assert_eq!((drawing.mime.as_str(), drawing.text.as_bytes()), (PLAIN, &built[..]));
    }
}
