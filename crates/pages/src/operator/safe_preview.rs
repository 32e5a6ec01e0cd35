//! A safe preview of content on an operator's page, shared by cases and appeals. The response of the page uses `framing`, so
//! that the frame cannot navigate elsewhere.

use crate::Size;
use dropleaf_core::finding::Finding;

/// A safe preview of uploaded content.
#[derive(Debug)]
pub struct SafePreview {
    /// `None` if there is nothing to show as a page.
    pub frame: Option<PreviewFrame>,
    /// End-to-end encrypted: only holders of the link can read it.
    pub is_encrypted: bool,
    /// The kind of the content, such as `html`, `pdf` or `e2e`.
    pub kind: String,
    pub files: Vec<PreviewFile>,
    /// The number of files that are not listed.
    pub more_files: usize,
    /// The file that is shown: the main document unless another was requested.
    pub file: String,
    pub source: Option<SourceView>,
    pub inventory: Inventory,
    /// `None` if there was too much to check.
    pub verdict: Option<PhishingVerdict>,
    /// The URL of the page around it, to request another file; `?file=…` or `&file=…` is added to it.
    pub here: String,
}

#[derive(Debug)]
pub struct PreviewFrame {
    pub url: String,
    /// The frame may load everything below this URL, and nothing else.
    pub within: String,
}

#[derive(Debug)]
pub struct PreviewFile {
    pub path: String,
    pub size_bytes: i64,
    pub is_shown: bool,
}

/// The source of a file as lines, possibly not all of them.
#[derive(Debug)]
pub struct SourceView {
    pub lines: Vec<SourceLine>,
    pub total_lines: usize,
}

impl SourceView {
    pub fn is_cut(&self) -> bool {
        self.lines.len() < self.total_lines
    }
}

#[derive(Debug)]
pub struct SourceLine {
    /// Counted from 1.
    pub number: usize,
    pub text: String,
    /// Characters of the line that are left out.
    pub cut: usize,
    /// Descriptions of the findings in this line.
    pub found: Vec<String>,
    /// Lines are left out before this one.
    pub after_gap: bool,
}

/// What a document asks for and where it leads.
#[derive(Debug)]
pub struct Inventory {
    pub forms: usize,
    pub scripts: usize,
    pub fields: Vec<FormField>,
    pub destinations: Vec<Destination>,
    /// Whether there is more than is listed.
    pub is_cut: bool,
}

/// A field that a visitor could fill in.
#[derive(Debug)]
pub struct FormField {
    pub line: usize,
    pub kind: String,
    /// How it is labelled.
    pub name: String,
}

/// Where something is sent to or loaded from.
#[derive(Debug)]
pub struct Destination {
    pub line: usize,
    /// What leads there: a form, a script, a frame…
    pub how: &'static str,
    pub to: String,
}

/// The verdict of the phishing check as it is today.
#[derive(Debug)]
pub struct PhishingVerdict {
    pub refuses: bool,
    /// Includes findings that weigh against a page without refusing it.
    pub findings: Vec<Finding>,
}

impl SafePreview {
    /// What the frame of the page may show.
    pub fn within(&self) -> Option<&str> {
        self.frame.as_ref().map(|frame| frame.within.as_str())
    }

    pub fn file_url(&self, file: &str) -> String {
        let mark = if self.here.contains('?') { '&' } else { '?' };
        let name: String = form_urlencoded::byte_serialize(file.as_bytes()).collect();
        format!("{}{mark}file={name}", self.here)
    }

    /// The link to a finding in its source.
    pub fn finding_url(&self, finding: &Finding) -> String {
        let line = finding.line.unwrap_or(1);
        if finding.file == self.file {
            format!("#line-{line}")
        } else {
            format!("{}#line-{line}", self.file_url(&finding.file))
        }
    }

    pub fn file_size(&self, path: &str) -> Size {
        let file = self.files.iter().find(|file| file.path == path);
        Size(file.map_or(0, |file| file.size_bytes))
    }

    /// Why there is no frame.
    pub fn no_frame_reason(&self) -> &'static str {
        match self.kind.as_str() {
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
