//! Packs the files of an archive one by one, and collects facts about the site: title, references, charsets, generated pages.

use super::unpack;
use crate::bundle::File;
use crate::html::page_scan::{PageFacts, PageScan, toolbar_warning};
use crate::markdown::{ArchivePages, MOST_RENDERED_BYTES, for_each_picture};
use crate::mime::{HTML, MARKDOWN, is_html, is_script, is_stylesheet, is_text, mime_of, script_in};
use crate::pack::Packer;
use crate::paths::{INDEX, Paths};
use crate::references::css_scan::CssScan;
use crate::references::report::ReferenceReport;
use crate::references::resolve::ReferenceUse;
use crate::references::script_scan::ScriptScan;
use crate::refusal::Refusal;
use crate::text::charset;
use crate::text::check::TextCheck;
use crate::text::file_text::charset_of_pages;

/// What was collected from the archive's files.
pub(super) struct ArchiveSite<'a> {
    paths: &'a Paths<'a>,
    entry: &'a str,
    pub(super) title: Option<String>,
    pub(super) report: ReferenceReport<'a>,
    /// Why the toolbar cannot be shown on one of the pages.
    pub(super) toolbar_warning: Option<String>,
    /// The paths of scripts that are not UTF-8, and their first bytes.
    legacy_scripts: Vec<(String, Vec<u8>)>,
    /// For a Markdown archive: the pages to generate; `generated` holds those that were generated.
    pub(super) pages: Option<ArchivePages>,
    pub(super) generated: Vec<File>,
}

impl<'a> ArchiveSite<'a> {
    pub(super) fn new(paths: &'a Paths<'a>, entry: &'a str, pages: Option<ArchivePages>) -> Self {
        Self {
            paths,
            entry,
            title: None,
            report: ReferenceReport::new(paths),
            toolbar_warning: None,
            legacy_scripts: Vec::new(),
            pages,
            generated: Vec::new(),
        }
    }

    pub(super) fn pack_entry(
        &mut self,
        mut data: unpack::EntryData<'_>,
        path: &'a str,
        packer: &mut Packer<'_>,
    ) -> Result<File, Refusal> {
        let mime = mime_of(path);
        let mut sink = packer.begin(path, mime, data.entry.size)?;
        if !is_text(mime) {
            data.unpack(|chunk| sink.write(chunk))?;
            return Ok(packer.finish(sink)?);
        }
        let mut text_check = TextCheck::new();
        let mut reader = TextReader::new(self, path, mime);
        let is_document = self.pages.is_some() && mime == MARKDOWN && data.entry.size <= MOST_RENDERED_BYTES;
        let mut document = is_document.then(Vec::new);
        data.unpack(|chunk| {
            text_check.update(chunk);
            reader.write(chunk);
            if let Some(document) = &mut document {
                document.extend_from_slice(chunk);
            }
            sink.write(chunk)
        })?;
        self.add_facts(path, reader);
        if let Some(document) = document {
            self.generate_page(path, &document, packer)?;
        }
        if is_script(mime) && !text_check.is_utf8() {
            self.legacy_scripts.push((path.to_owned(), text_check.start().iter().take(3).copied().collect()));
        }
        sink.set_mime(text_check.media_type(mime));
        Ok(packer.finish(sink)?)
    }

    /// Generates the page of a document, if it gets one.
    fn generate_page(&mut self, path: &str, source: &[u8], packer: &mut Packer<'_>) -> Result<(), Refusal> {
        let Some((page_path, page)) = self.pages.as_mut().and_then(|pages| pages.render(path, source)) else {
            return Ok(());
        };
        if page_path == INDEX {
            self.title = Some(page.title);
        }
        for_each_picture(&page.html, |url| self.report.add(path, url, ReferenceUse::Load));
        self.generated.push(packer.pack(&page_path, HTML, page.html.as_bytes())?);
        Ok(())
    }

    fn add_facts(&mut self, path: &str, reader: TextReader<'a>) {
        let facts = reader.finish();
        self.report = facts.report;
        if path == self.entry {
            self.title = facts.title;
        }
        if facts.is_frameset {
            self.toolbar_warning.get_or_insert_with(|| toolbar_warning(path));
        }
    }

    /// Sets the charset of scripts that are not UTF-8 to that of the pages beside them, as a browser would.
    pub(super) fn set_charsets(&self, files: &mut [File]) -> Result<(), Refusal> {
        if self.legacy_scripts.is_empty() {
            return Ok(());
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let pages = charset_of_pages(files)?;
        for (path, start) in &self.legacy_scripts {
            let script = files.binary_search_by(|file| file.path.cmp(path)).ok().map(|at| &mut files[at]);
            if let Some(script) = script.filter(|script| is_script(script.mime)) {
                script.mime = script_in(charset::of_script(start, pages));
            }
        }
        Ok(())
    }
}

/// Scans one text file of any kind and adds its references to the site's report.
enum TextReader<'a> {
    Page(Box<PageScan<'a>>),
    Style(&'a str, CssScan, ReferenceReport<'a>),
    Script(&'a str, ScriptScan, ReferenceReport<'a>),
    Other(ReferenceReport<'a>),
}

impl<'a> TextReader<'a> {
    fn new(site: &mut ArchiveSite<'a>, path: &'a str, mime: &str) -> Self {
        let report = std::mem::replace(&mut site.report, ReferenceReport::new(site.paths));
        if is_html(mime) {
            Self::Page(Box::new(PageScan::new(path, report)))
        } else if is_stylesheet(mime) {
            Self::Style(path, CssScan::default(), report)
        } else if is_script(mime) {
            Self::Script(path, ScriptScan::default(), report)
        } else {
            Self::Other(report)
        }
    }

    fn write(&mut self, chunk: &[u8]) {
        match self {
            Self::Page(scan) => scan.write(chunk),
            Self::Style(path, scan, report) => {
                scan.write(chunk, |url| report.add(path, url, ReferenceUse::Load));
            }
            Self::Script(path, scan, report) => {
                scan.write(chunk, |kind, text| report.add_literal(path, false, kind, text));
            }
            Self::Other(_) => {}
        }
    }

    fn finish(self) -> PageFacts<'a> {
        let report = match self {
            Self::Page(scan) => return scan.finish(),
            Self::Style(path, mut scan, mut report) => {
                scan.finish(|url| report.add(path, url, ReferenceUse::Load));
                report
            }
            Self::Script(path, mut scan, mut report) => {
                let history = scan.finish(|kind, text| report.add_literal(path, false, kind, text));
                report.add_history(history);
                report
            }
            Self::Other(report) => report,
        };
        PageFacts { title: None, report, is_frameset: false }
    }
}
