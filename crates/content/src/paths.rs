//! The paths of a bundle's files, and which of them a request path resolves to.

use crate::mime::{HTML, mime_of};

/// The page that a folder serves.
pub(crate) const INDEX: &str = "index.html";
/// Names under this prefix are reserved for the service.
pub(crate) const RESERVED: &str = "_dropleaf";

#[derive(Debug, Default)]
pub(crate) struct Paths<'a> {
    /// Sorted, so that files and folders are found without a second index.
    files: Vec<&'a str>,
    /// The file name under which a single page was uploaded. Requests for it are answered too.
    own_name: Option<&'a str>,
}

impl<'a> Paths<'a> {
    pub(crate) fn new(paths: impl IntoIterator<Item = &'a str>) -> Self {
        let mut paths: Vec<&str> = paths.into_iter().collect();
        paths.sort_unstable();
        Self { files: paths, own_name: None }
    }

    /// The paths of a page that was uploaded as a single file.
    pub(crate) fn of_single(own_name: Option<&'a str>) -> Self {
        Self { files: vec![INDEX], own_name }
    }

    pub(crate) const fn none() -> Self {
        Self { files: Vec::new(), own_name: None }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.files.iter().copied()
    }

    pub(crate) fn is_single(&self) -> bool {
        self.files.len() < 2
    }

    /// A path under the name the publisher uploaded it with.
    pub(crate) fn published_as<'p>(&'p self, path: &'p str) -> &'p str {
        self.own_name.filter(|_| path == INDEX).unwrap_or(path)
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.binary_search(&path).is_ok()
    }

    /// Whether a folder holds any file. `folder` ends with a slash.
    pub(crate) fn has_folder(&self, folder: &str) -> bool {
        let at = self.files.partition_point(|path| *path < folder);
        self.files.get(at).is_some_and(|path| path.starts_with(folder))
    }

    /// Whether a request for a path is answered with a file: that file, the page without its extension, or the index of a
    /// folder. The path does not start with a slash.
    pub(crate) fn answers(&self, path: &str) -> bool {
        if path.is_empty() || path.ends_with('/') {
            return self.has(&format!("{path}{INDEX}"));
        }
        self.own_name == Some(path)
            || self.has(path)
            || self.has(&format!("{path}.html"))
            || self.has(&format!("{path}/{INDEX}"))
    }

    pub(crate) fn pages(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.files.iter().copied().filter(|path| mime_of(path) == HTML)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_find_what_static_hosts_find() {
        let paths = Paths::new(["index.html", "about.html", "docs/index.html", "docs-old/a.png"]);
        for path in ["", "index.html", "index", "about", "about.html", "docs", "docs/", "docs-old/a.png"] {
            assert!(paths.answers(path), "{path}");
        }
        for path in ["docs-old/", "docs-old", "about/", "doc", "ab", "docs/index.html/"] {
            assert!(!paths.answers(path), "{path}");
        }
        assert!(paths.has_folder("docs/") && paths.has_folder("docs-old/"));
        assert!(!paths.has_folder("doc/") && !paths.has_folder("about.html/"));
    }
    #[test]
    fn a_single_page_answers_under_the_name_it_was_sent_with() {
        let paths = Paths::of_single(Some("report.html"));
        assert!(paths.is_single() && paths.answers("") && paths.answers("report.html"));
        assert!(!paths.answers("other.html"));
        assert_eq!(paths.published_as(INDEX), "report.html");
        assert_eq!(Paths::of_single(None).published_as(INDEX), INDEX);
        assert_eq!(Paths::new([INDEX, "a.css"]).published_as("a.css"), "a.css");
    }
}
