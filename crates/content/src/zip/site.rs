//! Packs the files of an archive one by one, and collects facts about the site: title, references, charsets, generated pages.

use super::unpack;
use crate::bundle::File;
use crate::html::page_scan::{PageFacts, PageScan, toolbar_warning};
use crate::markdown::{ArchivePages, TYPESET_BYTES, for_each_picture};
use crate::mime::{HTML, MARKDOWN, is_html, is_script, is_stylesheet, is_text, mime_of, script_in};
use crate::pack::Packer;
use crate::paths::{INDEX, Paths};
use crate::references::css_scan::CssScan;
use crate::references::report::Report;
use crate::references::resolve::Use;
use crate::references::script_scan::ScriptScan;
use crate::refusal::Refusal;
use crate::text::charset;
use crate::text::check::TextWatch;
use crate::text::file_text::charset_of_pages;

/// What was collected from the archive's files.
pub(super) struct Site<'a> {
    paths: &'a Paths<'a>,
    entry: &'a str,
    pub(super) title: Option<String>,
    pub(super) report: Report<'a>,
    /// Why the toolbar cannot be shown on one of the pages.
    pub(super) toolbar_warning: Option<String>,
    /// The paths of scripts that are not UTF-8, and their first bytes.
    legacy_scripts: Vec<(String, Vec<u8>)>,
    /// For a Markdown archive: the pages to generate; `made` holds those that were generated.
    pub(super) pages: Option<ArchivePages>,
    pub(super) made: Vec<File>,
}

impl<'a> Site<'a> {
    pub(super) fn new(paths: &'a Paths<'a>, entry: &'a str, pages: Option<ArchivePages>) -> Self {
        Self {
            paths,
            entry,
            title: None,
            report: Report::new(paths),
            toolbar_warning: None,
            legacy_scripts: Vec::new(),
            pages,
            made: Vec::new(),
        }
    }

    pub(super) fn take(
        &mut self,
        mut data: unpack::Data<'_>,
        path: &'a str,
        packer: &mut Packer<'_>,
    ) -> Result<File, Refusal> {
        let mime = mime_of(path);
        let mut sink = packer.begin(path, mime, data.entry.size)?;
        if !is_text(mime) {
            data.unpack(|chunk| sink.write(chunk))?;
            return Ok(packer.finish(sink)?);
        }
        let mut watch = TextWatch::new();
        let mut reader = Reader::new(self, path, mime);
        let is_document = self.pages.is_some() && mime == MARKDOWN && data.entry.size <= TYPESET_BYTES;
        let mut document = is_document.then(Vec::new);
        data.unpack(|chunk| {
            watch.watch(chunk);
            reader.write(chunk);
            if let Some(document) = &mut document {
                document.extend_from_slice(chunk);
            }
            sink.write(chunk)
        })?;
        self.learn(path, reader);
        if let Some(document) = document {
            self.typeset(path, &document, packer)?;
        }
        if is_script(mime) && !watch.is_utf8() {
            self.legacy_scripts.push((path.to_owned(), watch.start().iter().take(3).copied().collect()));
        }
        sink.set_mime(watch.media_type(mime));
        Ok(packer.finish(sink)?)
    }

    /// Generates the page of a document, if it gets one.
    fn typeset(&mut self, path: &str, source: &[u8], packer: &mut Packer<'_>) -> Result<(), Refusal> {
        let Some((page_path, page)) = self.pages.as_mut().and_then(|pages| pages.typeset(path, source))
        else {
            return Ok(());
        };
        if page_path == INDEX {
            self.title = Some(page.title);
        }
        for_each_picture(&page.html, |url| self.report.add(path, url, Use::Load));
        self.made.push(packer.pack(&page_path, HTML, page.html.as_bytes())?);
        Ok(())
    }

    fn learn(&mut self, path: &str, reader: Reader<'a>) {
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
enum Reader<'a> {
    Page(Box<PageScan<'a>>),
    Style(&'a str, CssScan, Report<'a>),
    Script(&'a str, ScriptScan, Report<'a>),
    Other(Report<'a>),
}

impl<'a> Reader<'a> {
    fn new(site: &mut Site<'a>, path: &'a str, mime: &str) -> Self {
        let report = std::mem::replace(&mut site.report, Report::new(site.paths));
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
            Self::Style(path, scan, report) => scan.write(chunk, |url| report.add(path, url, Use::Load)),
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
                scan.finish(|url| report.add(path, url, Use::Load));
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
