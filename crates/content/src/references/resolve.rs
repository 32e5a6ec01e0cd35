//! Resolves a reference in a page, a stylesheet or a script: to a file of its bundle, to a missing file, or elsewhere. Works
//! on text only; fetches nothing.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use crate::mime::{HTML, mime_of};
use crate::paths::Paths;

/// How a page uses a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReferenceUse {
    /// The page is incomplete without it.
    Load,
    /// A viewer may follow it.
    Link,
}

/// What a reference resolves to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReferenceTarget {
    /// Another host, a fragment of the same page, or a target that cannot be determined.
    External,
    Found,
    /// No file of the bundle. Holds the path as written.
    Missing(String),
    /// A file of the bundle, by a path that starts with `/`.
    RootFound,
    RootMissing(String),
    /// `/`, the first page of a bundle.
    Home,
}

/// Resolves a reference in the file `from`.
pub(crate) fn resolve_reference(from: &str, url: &str, files: &Paths<'_>) -> ReferenceTarget {
    let url = url.trim();
    let Some((path, _)) = on_host(url) else { return ReferenceTarget::External };
    let is_root = path.starts_with('/');
    match percent_decoded(path).and_then(|path| path_from_root(from, &path)) {
        Some(found) if is_root && found.is_empty() => ReferenceTarget::Home,
        Some(found) if files.answers(&found) && is_root => ReferenceTarget::RootFound,
        Some(found) if files.answers(&found) => ReferenceTarget::Found,
        _ if is_template(url) => ReferenceTarget::External,
        _ if is_root => ReferenceTarget::RootMissing(path.to_owned()),
        _ => ReferenceTarget::Missing(path.to_owned()),
    }
}

/// The path from the bundle's root that a reference in the file `from` names, and what follows it (`?query`, `#part`). `None`
/// for other hosts and for references within the same page.
pub(crate) fn local_path<'r>(from: &str, reference: &'r str) -> Option<(String, &'r str)> {
    let (path, rest) = on_host(reference.trim())?;
    Some((path_from_root(from, &percent_decoded(path)?)?, rest))
}

/// Whether a value is filled in later, by a template engine or a script: `{{ x }}`, `{% x %}`, `${x}`, `<%= x %>`.
pub(crate) fn is_template(value: &str) -> bool {
    value.contains('{') || value.contains("<%") || percent_decoded(value).is_some_and(|v| v.contains('{'))
}

/// Whether a literal of a script that starts with `/` is, or begins, the path of a file of the bundle. Paths of pages do not
/// count, because scripts compare them with the page's own path.
pub(crate) fn names_a_file(literal: &str, files: &Paths<'_>) -> bool {
    let path = literal.split(['?', '#']).next().unwrap_or_default().trim_start_matches('/');
    if literal.starts_with("//") || path.is_empty() {
        return false;
    }
    match path.rfind('/') {
        _ if !path.ends_with('/') && files.has(path) => mime_of(path) != HTML,
        Some(end) => files.has_folder(&path[..=end]) && (path.ends_with('/') || !path[end..].contains('.')),
        None => false,
    }
}

/// The path of a reference that stays on its host, and what follows the path.
fn on_host(reference: &str) -> Option<(&str, &str)> {
    let (path, rest) = reference.split_at(reference.find(['?', '#']).unwrap_or(reference.len()));
    let has_scheme = path.split(['/', '\\']).next().is_some_and(|first| first.contains(':'));
    let leaves =
        path.is_empty() || has_scheme || ["\\", "//", "/\\"].iter().any(|start| path.starts_with(start));
    (!leaves).then_some((path, rest))
}

/// The path from the bundle's root, or `None` if it climbs above the root.
fn path_from_root(from: &str, path: &str) -> Option<String> {
    let (folder, path) = match path.strip_prefix('/') {
        Some(path) => ("", path),
        None => (from.rsplit_once('/').map_or("", |(folder, _)| folder), path),
    };
    let mut segments: Vec<&str> = folder.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in path.split('/') {
        match segment {
            "." => {}
            ".." => {
                segments.pop()?;
            }
            // An empty segment at the end means a folder; elsewhere it is an accidental double slash.
            _ => segments.push(segment),
        }
    }
    if path.ends_with("/.") || path.ends_with("/..") || matches!(path, "." | "..") {
        segments.push("");
    }
    Some(segments.join("/"))
}

/// `None` if the result is not UTF-8: then it names no file.
fn percent_decoded(path: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(path).decode_utf8().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 5] =
        ["assets/app-1.js", "docs/a b.png", "docs/index.html", "index.html", "style.css"];

    fn resolved(from: &str, url: &str) -> ReferenceTarget {
        resolve_reference(from, url, &Paths::new(FILES))
    }

    #[test]
    fn paths_from_the_root_are_told_apart() {
        assert_eq!(resolved("index.html", "/style.css?v=2"), ReferenceTarget::RootFound);
        assert_eq!(resolved("docs/index.html", "/docs"), ReferenceTarget::RootFound);
        assert_eq!(resolved("index.html", "/docs/a%20b.png#x"), ReferenceTarget::RootFound);
        assert_eq!(
            resolved("index.html", "/gone.css?v=2"),
            ReferenceTarget::RootMissing("/gone.css".to_owned())
        );
        assert_eq!(resolved("index.html", " / "), ReferenceTarget::Home);
        assert_eq!(resolved("docs/index.html", "/."), ReferenceTarget::Home);
        assert_eq!(resolved("docs/index.html", "/docs/../style.css"), ReferenceTarget::RootFound);
    }

    #[test]
    fn other_hosts_schemes_and_fragments_are_left_alone() {
        for url in [
            "//cdn.example/x.js",
            "/\\x",
            "\\x",
            "https://x/y",
            "data:image/png,x",
            "#top",
            "?q",
            "",
            "mailto:a@b",
        ] {
            assert_eq!(resolved("index.html", url), ReferenceTarget::External, "{url}");
        }
    }

    #[test]
    fn present_files_are_found_in_every_spelling() {
        for url in
            ["style.css", "./style.css?v=2", "docs/../style.css#x", "docs/a%20b.png", "docs/", "docs/.", "."]
        {
            assert_eq!(resolved("index.html", url), ReferenceTarget::Found, "{url}");
        }
        assert_eq!(resolved("docs/index.html", "../style.css"), ReferenceTarget::Found);
        assert_eq!(resolved("docs/index.html", ".."), ReferenceTarget::Found);
    }

    #[test]
    fn missing_files_are_named_as_they_are_written() {
        assert_eq!(resolved("index.html", "app.js?x"), ReferenceTarget::Missing("app.js".to_owned()));
        for url in ["../up.js", "%zz", "docs/gone/"] {
            assert!(matches!(resolved("index.html", url), ReferenceTarget::Missing(_)), "{url}");
        }
    }

    #[test]
    fn what_a_template_fills_in_is_left_alone() {
        for url in [
            "{{tpl}}",
            "{{ asset('a.png') }}",
            "/static/{{ name }}.css",
            "${x}",
            "img/${x}.png",
            "<%= x %>",
            "/<%= a ? b : c %>",
            "{% static 'a.png' %}",
            "%7B%7Btpl%7D%7D.png",
            "/items/{id}",
        ] {
            assert_eq!(resolved("index.html", url), ReferenceTarget::External, "{url}");
        }
        let files = Paths::new(["index.html", "{draft}.png"]);
        assert_eq!(
            resolve_reference("index.html", "{draft}.png", &files),
            ReferenceTarget::Found,
            "a file may be called so"
        );
    }

    #[test]
    fn references_are_followed_from_the_folder_of_their_file() {
        for (from, reference, path) in [
            ("README.md", "docs/a.md#x", Some("docs/a.md")),
            ("docs/a.md", "../b%20c.md", Some("b c.md")),
            ("docs/a.md", "./b.md?q", Some("docs/b.md")),
            ("docs/a.md", "/b.md", Some("b.md")),
            ("a.md", "../b.md", None),
            ("docs/a.md", "../../../b.png", None),
            ("a.md", "https://x.example/b.md", None),
            ("a.md", "//x.example/b.md", None),
            ("a.md", "#b", None),
            ("a.md", "", None),
        ] {
            assert_eq!(local_path(from, reference).map(|(path, _)| path).as_deref(), path, "{reference}");
        }
        assert_eq!(local_path("a.md", "b.md#c").unwrap().1, "#c");
    }

    #[test]
    fn literals_of_scripts_name_files_and_folders_of_the_bundle() {
        let files = Paths::new(FILES);
        for literal in ["/assets/app-1.js", "/assets/", "/assets/ap", "/style.css?x"] {
            assert!(names_a_file(literal, &files), "{literal}");
        }
        for literal in
            ["/", "//assets/", "/api/", "/gone.css", "/index.html", "/docs/index.html", "/assets/x.js"]
        {
            assert!(!names_a_file(literal, &files), "{literal}");
        }
    }
}
