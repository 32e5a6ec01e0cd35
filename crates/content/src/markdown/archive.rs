//! The pages of a Markdown archive: one that has a `README.md` (or `index.md`) and no `index.html`. Each document gets a page
//! beside it, `guide.md` as `guide.html`, and links between documents lead to the pages. The documents are kept unchanged.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use dropleaf_core::html::character_references::{Context, decode};

use super::diagram::Budget;
use super::escape::escaped_attribute;
use super::losses::{ArchiveLosses, Loss};
use super::{MOST_RENDERED_BYTES, RenderedPage, links};
use crate::mime::{MARKDOWN, mime_of};
use crate::paths::{INDEX, Paths};
use crate::references::resolve;

/// Total size of the documents rendered in one archive; rendering takes far longer than unpacking.
const MOST_BYTES: u64 = 8 << 20;
/// Total size of the pages generated from them.
const MOST_MADE_BYTES: usize = 32 << 20;

pub(crate) struct ArchivePages {
    /// Maps each document to its page.
    pages: HashMap<String, String>,
    /// How many bytes of pages may still be generated.
    made_budget: usize,
    /// What the documents lose in rendering.
    losses: ArchiveLosses,
    /// How many diagrams may still be drawn.
    diagrams: Budget,
}

/// Whether a file name is that of a folder's first document.
pub(crate) fn is_start_document(name: &str) -> bool {
    ["readme.md", "index.md", "readme.markdown", "index.markdown"]
        .iter()
        .any(|start| name.eq_ignore_ascii_case(start))
}

impl ArchivePages {
    /// Assigns pages to the documents. `None` for an archive that has an `index.html`, or no document to make one from. At
    /// most `room` pages; documents that are too large get none.
    pub(crate) fn plan(paths: &Paths<'_>, size_of: impl Fn(&str) -> u64, room: usize) -> Option<Self> {
        if paths.has(INDEX) || !paths.iter().any(is_start_document) {
            return None;
        }
        let mut taken: HashSet<String> = paths.iter().map(str::to_lowercase).collect();
        let mut documents: Vec<&str> = paths.iter().filter(|path| is_document(path)).collect();
        // The first document of a folder is sorted first, so that it becomes the folder's index; a README before an index.
        documents.sort_by_key(|path| {
            let name = path.rsplit('/').next().unwrap_or(path);
            (
                path.matches('/').count(),
                !is_start_document(name),
                name.to_lowercase().starts_with("index"),
                *path,
            )
        });
        let (mut pages, mut losses, mut budget) = (HashMap::new(), ArchiveLosses::default(), MOST_BYTES);
        for document in documents {
            let size = size_of(document);
            if size > MOST_RENDERED_BYTES.min(budget) || pages.len() >= room {
                losses.add_unset(document);
                continue;
            }
            let (folder, name) = document.rsplit_once('/').unwrap_or(("", document));
            let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            let own = [
                is_start_document(name).then(|| format!("{folder}{INDEX}")),
                Some(format!("{folder}{stem}.html")),
            ];
            let free = own.into_iter().flatten().find(|page| taken.insert(page.to_lowercase()));
            if let Some(page) = free {
                budget -= size;
                pages.insert(document.to_owned(), page);
            } else {
                losses.add_unset(document);
            }
        }
        Some(Self { pages, made_budget: MOST_MADE_BYTES, losses, diagrams: Budget::of_archive() })
    }

    /// The page of a document and its path; `None` for files without a page.
    pub(crate) fn render(&mut self, path: &str, source: &[u8]) -> Option<(String, RenderedPage)> {
        let page_path = self.pages.get(path)?.clone();
        let is_first = page_path == INDEX;
        // The first page is always generated: the size of one document is bounded anyway.
        if self.made_budget == 0 && !is_first {
            self.losses.add_unset(path);
            return None;
        }
        let source = String::from_utf8_lossy(source.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source));
        if matches!(source, Cow::Owned(_)) {
            // An archive whose first page cannot be read is refused.
            if is_first {
                return None;
            }
            self.losses.add(path, Loss::Letters);
        }
        let mut page = RenderedPage::within(&source, Some(path), &mut self.diagrams);
        page.html = self.linked(path, &page.html);
        self.made_budget = self.made_budget.saturating_sub(page.html.len());
        for loss in std::mem::take(&mut page.losses) {
            self.losses.add(path, loss);
        }
        Some((page_path, page))
    }

    /// The document that the first page is generated from.
    pub(crate) fn first_document(&self) -> Option<&str> {
        self.pages.iter().find(|(_, page)| *page == INDEX).map(|(document, _)| document.as_str())
    }

    /// Each document that gets a page, with the page's path.
    pub(super) fn into_pages(self) -> impl Iterator<Item = (String, String)> {
        self.pages.into_iter()
    }

    /// What the publisher should know about the documents.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.losses.sentences()
    }

    /// Points links to documents at their pages. Paths that start with `/` mean the root of the archive, as on GitHub.
    fn linked(&self, path: &str, html: &str) -> String {
        let mut made = String::with_capacity(html.len());
        let mut done = 0;
        for (at, reference) in links::values(html, "a", "href") {
            let decoded = decode(reference, Context::Attribute);
            let Some((target, rest)) = resolve::local_path(path, &decoded) else { continue };
            let page = match self.pages.get(&target) {
                Some(page) => page,
                None if decoded.starts_with('/') => &target,
                None => continue,
            };
            made.push_str(&html[done..at]);
            made.push_str(&links::relative(path, page));
            made.push_str(&escaped_attribute(rest));
            done = at + reference.len();
        }
        made.push_str(&html[done..]);
        made
    }
}

fn is_document(path: &str) -> bool {
    mime_of(path) == MARKDOWN
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(paths: &[&'static str], size_of: impl Fn(&str) -> u64) -> Option<ArchivePages> {
        ArchivePages::plan(&Paths::new(paths.iter().copied()), size_of, 10)
    }

    fn pages(plan: ArchivePages) -> Vec<(String, String)> {
        let mut pages: Vec<(String, String)> = plan.pages.into_iter().collect();
        pages.sort();
        pages
    }

    #[test]
    fn only_archives_of_markdown_get_pages() {
        assert!(plan(&["index.html", "README.md"], |_| 1).is_none());
        assert!(plan(&["guide.md", "docs/README.md"], |_| 1).is_none());
        let plan =
            plan(&["README.md", "index.md", "a.md", "b.md", "B.html", "docs/readme.md"], |_| 1).unwrap();
        let pages = pages(plan);
        let pages: Vec<(&str, &str)> = pages.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(
            pages,
            [("README.md", "index.html"), ("a.md", "a.html"), ("docs/readme.md", "docs/index.html")],
            "what would take the place of a file gets no page"
        );
    }

    #[test]
    fn documents_that_are_too_large_get_no_page_and_are_named() {
        let size_of = |path: &str| if path == "README.md" { 1 } else { 2 << 20 };
        let mut plan = plan(&["README.md", "large.md"], size_of).unwrap();
        let line = "Not rendered as a page because it is too large, the archive has too many documents, or the name is already \
                    used: large.md.";
        assert!(plan.warnings()[0].starts_with(line), "{:?}", plan.warnings());
        let (_, page) = plan
            .render("README.md", b"[large](large.md) [root](/README.md#x) [file](/docs/a.pdf?x)")
            .unwrap();
        assert!(page.html.contains("href=\"large.md\""), "a link leads to the file where there is no page");
        assert!(page.html.contains("href=\"index.html#x\""), "as on GitHub, / is the top of the archive");
        assert!(page.html.contains("href=\"docs/a.pdf?x\""), "for other files too");
    }

    #[test]
    fn documents_in_other_charsets_are_typeset_and_named() {
        let mut plan = plan(&["README.md", "old.md"], |_| 1).unwrap();
        assert!(plan.render("README.md", b"caf\xe9").is_none());
        assert!(plan.render("old.md", b"# caf\xe9").is_some());
        assert_eq!(plan.warnings(), ["Not UTF-8, so some characters were lost: old.md. Save it as UTF-8."]);
    }
}
