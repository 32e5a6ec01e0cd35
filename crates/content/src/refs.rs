//! Judges the references of a page: would they still work at the address where it is shown?
//! Pure text work; nothing is fetched.

use std::collections::HashSet;

use crate::refusal::shown_name;

/// How every warning about a missing file ends.
pub(crate) const MISSING: &str = ", which is not part of the upload.";

/// A warning about one reference, or nothing if it will work (or cannot be judged).
/// `loads` is true for references without which the page is not whole: scripts, styles, images.
pub(crate) fn judge(page: &str, url: &str, loads: bool, files: &HashSet<&str>) -> Option<String> {
    let url = url.trim();
    if let Some(rest) = url.strip_prefix('/') {
        return (!rest.starts_with(['/', '\\'])).then(|| root_absolute(page, url, rest));
    }
    let path = url.split(['?', '#']).next().unwrap_or_default();
    if !loads || path.is_empty() || has_scheme(path) {
        return None;
    }
    let decoded = percent_decoded(path)?;
    match resolve(page, &decoded) {
        Some(target) if exists(&target, files) => None,
        _ => Some(format!("{page} refers to {}{MISSING}", shown_name(path.as_bytes()))),
    }
}

fn root_absolute(page: &str, url: &str, rest: &str) -> String {
    let up = "../".repeat(page.matches('/').count());
    let relative = if up.is_empty() && rest.is_empty() { "./".to_owned() } else { format!("{up}{rest}") };
    format!(
        "{page} refers to {}: links that start with / leave the page; write {}.",
        shown_name(url.as_bytes()),
        shown_name(relative.as_bytes())
    )
}

fn has_scheme(path: &str) -> bool {
    path.split(['/', '\\']).next().is_some_and(|first| first.contains(':'))
}

fn exists(target: &str, files: &HashSet<&str>) -> bool {
    if target.is_empty() || target.ends_with('/') {
        return files.contains(format!("{target}index.html").as_str());
    }
    files.contains(target)
}

/// The path from the site's root, or nothing if it climbs above it.
fn resolve(page: &str, path: &str) -> Option<String> {
    let mut segments: Vec<&str> = page.split('/').collect();
    segments.pop();
    for segment in path.split('/') {
        match segment {
            "." => {}
            ".." => {
                segments.pop()?;
            }
            // An empty segment at the end is a folder; elsewhere it is a sloppy double slash.
            _ => segments.push(segment),
        }
    }
    if path.ends_with("/.") || path.ends_with("/..") || matches!(path, "." | "..") {
        segments.push("");
    }
    Some(segments.join("/"))
}

fn percent_decoded(path: &str) -> Option<String> {
    if !path.contains('%') {
        return Some(path.to_owned());
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let hex =
            (first == b'%').then(|| tail.get(..2).and_then(|pair| std::str::from_utf8(pair).ok())).flatten();
        let hex = hex.filter(|pair| pair.bytes().all(|b| b.is_ascii_hexdigit()));
        let decoded = hex.and_then(|pair| u8::from_str_radix(pair, 16).ok());
        bytes.push(decoded.unwrap_or(first));
        rest = if decoded.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(page: &str, url: &str) -> Option<String> {
        let files = HashSet::from(["index.html", "style.css", "docs/index.html", "docs/a b.png"]);
        judge(page, url, true, &files)
    }

    #[test]
    fn root_absolute_references_get_the_relative_form() {
        let warning = judged("index.html", "/style.css").unwrap();
        assert_eq!(
            warning,
            "index.html refers to /style.css: links that start with / leave the page; write style.css."
        );
        assert!(judged("docs/index.html", "/style.css").unwrap().contains("write ../style.css"));
        assert!(judged("index.html", "/").unwrap().contains("write ./"));
    }

    #[test]
    fn other_hosts_schemes_and_fragments_are_left_alone() {
        for url in ["//cdn.example/x.js", "https://x/y", "data:image/png,x", "#top", "?q", "", "mailto:a@b"] {
            assert_eq!(judged("index.html", url), None, "{url}");
        }
    }

    #[test]
    fn present_files_are_fine_in_every_spelling() {
        for url in
            ["style.css", "./style.css?v=2", "docs/../style.css#x", "docs/a%20b.png", "docs/", "docs/.", "."]
        {
            assert_eq!(judged("index.html", url), None, "{url}");
        }
        assert_eq!(judged("docs/index.html", "../style.css"), None);
        assert_eq!(judged("docs/index.html", ".."), None);
    }

    #[test]
    fn missing_files_are_named() {
        assert!(judged("index.html", "app.js").unwrap().contains("app.js, which is not part"));
        assert!(judged("index.html", "../up.js").is_some());
        assert!(judged("index.html", "docs").is_some());
        assert!(judged("index.html", "%zz").is_some());
    }

    #[test]
    fn plain_links_to_missing_pages_are_not_judged() {
        assert_eq!(judge("index.html", "later.html", false, &HashSet::new()), None);
        assert!(judge("index.html", "/later.html", false, &HashSet::new()).is_some());
    }
}
