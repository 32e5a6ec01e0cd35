//! Finds the root of the site: the folder with `index.html` (or a document that becomes it), or the one folder that contains
//! everything.

use std::collections::BTreeSet;

use super::entry::ZipEntry;
use super::names;
use crate::markdown::is_start_document;
use crate::mime::{HTML, mime_of};
use crate::name_list::NameList;
use crate::paths::INDEX;
use crate::refusal::{Refusal, RefusalCode, shown_name};

/// The root of an archive's site, and the page it shows first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout<'a> {
    /// The prefix removed from all paths: empty, or the folder that contains everything, with its slash.
    pub(super) root: &'a str,
    /// The path of the first page, without the root. `index.html` may still have to be generated from a document.
    pub(super) entry: &'a str,
}

pub(super) fn find<'a>(entries: &[&'a ZipEntry]) -> Result<Layout<'a>, Refusal> {
    let files: Vec<&str> = entries.iter().filter(|e| !e.is_folder()).map(|e| e.name.as_str()).collect();
    let mut root = "";
    loop {
        if files.iter().any(|name| &name[root.len()..] == INDEX) {
            return with_root(entries, root, INDEX);
        }
        match shared_folder(&files, root.len()) {
            Some(folder) => root = folder,
            None => break,
        }
    }
    if files.iter().any(|name| is_start_document(&name[root.len()..])) {
        return with_root(entries, root, INDEX);
    }
    let mut pages = files.iter().filter(|name| mime_of(name) == HTML);
    match (pages.next(), pages.next()) {
        (Some(only), None) => with_root(entries, root, only.get(root.len()..).unwrap_or_default()),
        _ => Err(Refusal::new(RefusalCode::MissingIndex, explain(entries, &files))),
    }
}

fn with_root<'a>(entries: &[&'a ZipEntry], root: &'a str, entry: &'a str) -> Result<Layout<'a>, Refusal> {
    for entry in entries {
        names::check_reserved(&entry.name, entry.name.get(root.len()..).unwrap_or_default())?;
    }
    Ok(Layout { root, entry })
}

/// The one folder below a prefix that contains all files.
fn shared_folder<'a>(files: &[&'a str], from: usize) -> Option<&'a str> {
    let first = files.first()?;
    let folder = &first[..=from + first[from..].find('/')?];
    files.iter().all(|name| name.starts_with(folder)).then_some(folder)
}

fn explain(entries: &[&ZipEntry], files: &[&str]) -> String {
    if entries.is_empty() {
        return "The archive has no files. It needs an index.html at its root.".to_owned();
    }
    let mut tops = BTreeSet::new();
    for entry in entries {
        let end = entry.name.find('/').map_or(entry.name.len(), |slash| slash + 1);
        tops.insert(&entry.name[..end]);
    }
    let tops: NameList = tops.into_iter().collect();
    let mut text = format!(
        "The archive has no index.html at its root (or in a single top-level folder). Its root contains: {tops}.",
    );
    if let Some(near) = near_miss(entries) {
        text.push_str(&near);
        return text;
    }
    let pages: NameList = files.iter().filter(|name| mime_of(name) == HTML).collect();
    if !pages.is_empty() {
        return format!("{text} Its pages are: {pages}. Rename the start page to index.html.");
    }
    text
}

/// What the publisher most likely meant.
fn near_miss(entries: &[&ZipEntry]) -> Option<String> {
    let file_name = |e: &ZipEntry| e.name.rsplit('/').next().unwrap_or_default().to_owned();
    let depth = |e: &ZipEntry| e.name.matches('/').count();
    let best = entries
        .iter()
        .filter(|e| matches!(file_name(e).to_ascii_lowercase().as_str(), "index.html" | "index.htm"))
        .min_by_key(|e| depth(e))?;
    let shown = shown_name(best.name.as_bytes());
    Some(if file_name(best) == INDEX {
        format!(" There is {shown}: zip the contents of its folder instead.")
    } else {
        format!(" There is {shown}: rename it to index.html.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str]) -> Result<(String, String), String> {
        let entries: Vec<ZipEntry> = names.iter().map(|name| ZipEntry::named((*name).to_owned())).collect();
        let entries: Vec<&ZipEntry> = entries.iter().collect();
        let layout = find(&entries).map_err(|refusal| refusal.to_string())?;
        Ok((layout.root.to_owned(), layout.entry.to_owned()))
    }

    #[track_caller]
    fn is(names: &[&str], root: &str, entry: &str) {
        assert_eq!(found(names).unwrap(), (root.to_owned(), entry.to_owned()));
    }

    #[test]
    fn index_at_the_top_is_the_root() {
        is(&["a/b.css", "index.html", "c/index.html"], "", "index.html");
    }

    #[test]
    fn folders_that_hold_everything_are_stripped() {
        is(&["site/", "site/index.html", "site/a/b.css"], "site/", "index.html");
        is(&["a/", "a/b/", "a/b/index.html", "a/b/c.css"], "a/b/", "index.html");
        is(&["site/page.html", "site/a.css"], "site/", "page.html");
    }

    #[test]
    fn a_document_to_begin_with_becomes_the_index() {
        is(&["README.md", "a.html", "docs/b.html"], "", "index.html");
        is(&["repository-main/readme.md", "repository-main/a.md"], "repository-main/", "index.html");
        is(&["README.md", "docs/index.html"], "", "index.html");
        is(&["site/index.md", "site/report.html"], "site/", "index.html");
        is(&["docs/README.md", "report.html"], "", "report.html");
        assert!(found(&["guide.md"]).is_err());
    }

    #[test]
    fn the_only_page_opens_whatever_its_name() {
        is(&["report.html", "img/a.png"], "", "report.html");
        is(&["INDEX.HTML"], "", "INDEX.HTML");
        is(&["index.htm", "a.css"], "", "index.htm");
        is(&["site/index.html", "readme.txt"], "", "site/index.html");
        is(&["a/b/page.html", "a/c.css"], "a/", "b/page.html");
    }

    #[test]
    fn a_reserved_folder_cannot_hide_in_the_shared_one() {
        assert!(found(&["site/index.html", "site/_DropLeaf/x"]).unwrap_err().contains("reserved"));
        assert!(found(&["a/b/page.html", "a/b/_dropleaf/x"]).unwrap_err().contains("reserved"));
    }

    #[test]
    fn the_refusal_says_what_was_found_and_what_to_do() {
        let text = found(&["a/x.html", "b.html", "b.css"]).unwrap_err();
        assert!(text.contains("Its root contains: a/, b.css and b.html."), "{text}");
        assert!(text.contains("Its pages are: a/x.html and b.html. Rename the start page"), "{text}");
        assert!(found(&["index.htm", "b.html"]).unwrap_err().contains("rename it to index.html"));
        assert!(found(&["Index.html", "b.html"]).unwrap_err().contains("There is Index.html: rename"));
        let nested = found(&["a/b/index.html", "c.html"]).unwrap_err();
        assert!(nested.contains("zip the contents of its folder"), "{nested}");
        assert!(found(&[]).unwrap_err().contains("no files"));
        assert!(found(&["a.css", "b.js"]).unwrap_err().contains("no index.html"));
    }
}
