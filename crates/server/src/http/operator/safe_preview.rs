//! Turns a safe preview of content into what the pages of cases and appeals show.

use dropleaf_pages::operator::safe_preview::{
    Destination, FormField, Inventory, PhishingVerdict, PreviewFile, PreviewFrame, SafePreview, SourceLine,
    SourceView,
};

/// `here` is the URL of the page around the preview.
pub(super) fn safe_preview(preview: dropleaf_app::SafePreview, here: String) -> SafePreview {
    let files = preview.files.into_iter();
    SafePreview {
        frame: preview.frame.map(|frame| PreviewFrame { url: frame.url, within: frame.within }),
        is_encrypted: preview.is_encrypted,
        kind: preview.kind,
        files: files
            .map(|file| PreviewFile { path: file.path, size_bytes: file.size_bytes, is_shown: file.is_shown })
            .collect(),
        more_files: preview.more_files,
        file: preview.file,
        source: preview.source.map(source_view),
        inventory: inventory(preview.inventory),
        verdict: preview
            .verdict
            .map(|verdict| PhishingVerdict { refuses: verdict.refuses, findings: verdict.findings }),
        here,
    }
}

fn source_view(source: dropleaf_app::SourceView) -> SourceView {
    let lines = source.lines.into_iter().map(|line| SourceLine {
        number: line.number,
        text: line.text,
        cut: line.cut,
        found: line.found,
        after_gap: line.after_gap,
    });
    SourceView { lines: lines.collect(), total_lines: source.total_lines }
}

fn inventory(found: dropleaf_inspect::safe_preview::Inventory) -> Inventory {
    let fields = found.fields.into_iter().map(|field| FormField {
        line: field.line,
        kind: field.kind,
        name: field.name,
    });
    let destinations =
        found.destinations.into_iter().map(|to| Destination { line: to.line, how: to.how, to: to.to });
    Inventory {
        forms: found.forms,
        scripts: found.scripts,
        fields: fields.collect(),
        destinations: destinations.collect(),
        is_cut: found.is_cut,
    }
}
