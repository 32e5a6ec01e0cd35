//! Finds the pages of a stored archive that were generated from its documents. They are recognized by their beginning,
//! because the bundle does not record which files were uploaded.

use std::collections::HashSet;
use std::hash::BuildHasher;

use super::archive::{ArchivePages, is_start_document};
use crate::paths::{INDEX, Paths};

/// A page that was generated from a document of the same archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedPage {
    pub path: String,
    pub document: String,
}

/// How many bytes of a page [`is_generated_page`] needs: its title is at most 200 characters, each of which may be escaped.
pub const GENERATED_HEAD_BYTES: usize = 4096;

/// Whether a page begins like those that are generated from Markdown.
pub fn is_generated_page(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&head[..head.len().min(GENERATED_HEAD_BYTES)]);
    let after_tag = head.strip_prefix("<!doctype html>\n<html").and_then(|rest| rest.split_once(">\n"));
    let head = after_tag.and_then(|(_, rest)| {
        rest.strip_prefix(
            "<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>",
        )
    });
    head.and_then(|rest| rest.split_once("</title>")).is_some_and(|(_, rest)| rest.starts_with("\n<style>\n"))
}

/// The paths of an archive that may be generated pages: read their beginnings, and pass those that are to
/// [`generated_pages`]. Empty for archives that are not made of documents.
pub fn generated_candidates(paths: &[&str]) -> Vec<String> {
    let all = Paths::new(paths.iter().copied());
    if !all.has(INDEX) || !all.iter().any(is_start_document) {
        return Vec::new();
    }
    let mut pages: Vec<String> = paths.iter().flat_map(|path| own_pages(path)).collect();
    pages.retain(|page| all.has(page));
    pages.sort_unstable();
    pages.dedup();
    pages
}

/// The generated pages among the files of an archive, given the candidates that begin like one.
pub fn generated_pages(
    paths: &[&str],
    begin_like_one: &HashSet<String, impl BuildHasher>,
) -> Vec<GeneratedPage> {
    if !begin_like_one.contains(INDEX) {
        return Vec::new();
    }
    let uploaded = Paths::new(paths.iter().copied().filter(|path| !begin_like_one.contains(*path)));
    let Some(plan) = ArchivePages::plan(&uploaded, |_| 0, usize::MAX) else { return Vec::new() };
    let mut pages: Vec<GeneratedPage> = plan
        .into_pages()
        .filter(|(_, path)| begin_like_one.contains(path))
        .map(|(document, path)| GeneratedPage { path, document })
        .collect();
    pages.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    pages
}

/// Where the page of a document would be.
fn own_pages(document: &str) -> Vec<String> {
    let (folder, name) = document
        .rsplit_once('/')
        .map_or(("", document), |(_, name)| (&document[..document.len() - name.len()], name));
    let Some((stem, extension)) = name.rsplit_once('.') else { return Vec::new() };
    if !extension.eq_ignore_ascii_case("md") && !extension.eq_ignore_ascii_case("markdown") {
        return Vec::new();
    }
    let index = is_start_document(name).then(|| format!("{folder}{INDEX}"));
    index.into_iter().chain([format!("{folder}{stem}.html")]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::markdown_page;

    #[test]
    fn generated_pages_are_recognized_by_their_beginning() {
        for source in ["# A & B\n", "# \u{5e9}\u{5dc}\u{5d5}\u{5dd}\n", &"<&>".repeat(300)] {
            assert!(is_generated_page(markdown_page(source, Some("a.md")).html.as_bytes()), "{source}");
        }
        for page in ["", "<!doctype html>\n<html>\n<head>\n<title>a</title>", "<!doctype html><p>x"] {
            assert!(!is_generated_page(page.as_bytes()), "{page}");
        }
    }

    #[test]
    fn only_pages_with_a_document_were_generated() {
        let paths =
            ["README.md", "a.html", "a.md", "b.html", "docs/index.html", "docs/readme.md", "index.html"];
        assert_eq!(generated_candidates(&paths), ["a.html", "docs/index.html", "index.html"]);
        assert!(
            generated_candidates(&["index.html", "a.md", "a.html"]).is_empty(),
            "no document to start with"
        );
        let ours = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<HashSet<_>>();
        let found = generated_pages(&paths, &ours(&["index.html", "a.html"]));
        let found: Vec<_> = found.iter().map(|page| (page.path.as_str(), page.document.as_str())).collect();
        assert_eq!(found, [("a.html", "a.md"), ("index.html", "README.md")]);
        assert!(generated_pages(&paths, &ours(&["a.html"])).is_empty(), "its index.html was uploaded");
    }
}
