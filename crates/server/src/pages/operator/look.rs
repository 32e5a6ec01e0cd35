//! A safe preview of content on an operator's page, shared by cases and appeals. The response of the page uses `framing`, so
//! that the frame cannot navigate elsewhere.

use crate::pages::Size;
use dropleaf_app::SafePreview;
use dropleaf_core::finding::Finding;

/// A preview, and the URL of the page around it for requesting another file.
#[derive(Debug, Clone)]
pub struct Seen {
    pub look: SafePreview,
    /// The URL of the page; `?file=…` or `&file=…` is added to it.
    pub here: String,
}

impl Seen {
    /// What the frame of the page may show.
    pub fn within(&self) -> Option<&str> {
        self.look.frame.as_ref().map(|frame| frame.within.as_str())
    }

    pub fn at(&self, file: &str) -> String {
        let mark = if self.here.contains('?') { '&' } else { '?' };
        let name: String = form_urlencoded::byte_serialize(file.as_bytes()).collect();
        format!("{}{mark}file={name}", self.here)
    }

    /// The link to a finding in its source.
    pub fn place(&self, finding: &Finding) -> String {
        let line = finding.line.unwrap_or(1);
        if finding.file == self.look.file {
            format!("#line-{line}")
        } else {
            format!("{}#line-{line}", self.at(&finding.file))
        }
    }

    pub fn size(&self, path: &str) -> Size {
        let file = self.look.files.iter().find(|file| file.path == path);
        Size(file.map_or(0, |file| file.size_bytes))
    }

    /// Why there is no frame.
    pub fn without_frame(&self) -> &'static str {
        match self.look.kind.as_str() {
            "e2e" => {
                "The page is end-to-end encrypted. Only people with the complete link can read it, so it was not checked and \
                 cannot be previewed. Decide based on the reports and the publisher."
            }
            "pdf" => {
                "A PDF cannot be previewed safely because it can contain scripts. Its details are shown below."
            }
            _ => "This file is not a page. If it is text, its source is shown below.",
        }
    }
}
