//! Reads the attributes that hold references or determine their meaning: the `href` of `<base>`, the `rel` of `<link>`, and
//! `srcset`.

use super::resolve::ReferenceUse;

/// A longer base is ignored, because it would be prepended to every reference.
const LONGEST_BASE: usize = 2048;

/// The `<base>` of a page, against which its relative references are resolved.
#[derive(Debug)]
pub(crate) enum Base {
    Page,
    /// A folder on the same host, with its slashes: many apps are built with `<base href="/">`.
    Folder(String),
    Elsewhere,
}

impl Base {
    pub(crate) fn of(href: &str) -> Self {
        let href = href.trim();
        match href.strip_prefix('/') {
            Some(rest) if !rest.starts_with(['/', '\\']) && href.len() <= LONGEST_BASE => {
                Self::Folder(href[..=href.rfind('/').unwrap_or(0)].to_owned())
            }
            None if matches!(href, "" | "." | "./") => Self::Page,
            _ => Self::Elsewhere,
        }
    }

    /// The reference as it would be written without a base. `None` if its target is on another host or cannot be determined.
    pub(crate) fn apply(&self, url: &str) -> Option<String> {
        let url = url.trim();
        match self {
            Self::Page => Some(url.to_owned()),
            Self::Elsewhere => None,
            Self::Folder(_) if url.starts_with(['/', '\\', '#', '?']) || url.is_empty() => {
                Some(url.to_owned())
            }
            Self::Folder(_) if url.split(['/', '?', '#']).next().is_some_and(|part| part.contains(':')) => {
                Some(url.to_owned())
            }
            Self::Folder(_) if url.starts_with("..") => None,
            Self::Folder(folder) => Some(format!("{folder}{}", url.strip_prefix("./").unwrap_or(url))),
        }
    }
}

/// How the page uses the target of a `<link>`, or `None` if the link only describes the page.
pub(crate) fn link_use(rel: &str) -> Option<ReferenceUse> {
    let rel = rel.to_ascii_lowercase();
    let has = |names: &[&str]| rel.split_ascii_whitespace().any(|word| names.contains(&word));
    if has(&["stylesheet"]) {
        return Some(ReferenceUse::Load);
    }
    if has(&[
        "canonical",
        "alternate",
        "preconnect",
        "dns-prefetch",
        "shortlink",
        "pingback",
        "me",
        "edituri",
    ]) {
        return None;
    }
    let loads = has(&["icon", "apple-touch-icon", "manifest", "preload", "modulepreload", "mask-icon"])
        || rel.is_empty();
    Some(if loads { ReferenceUse::Load } else { ReferenceUse::Link })
}

/// The URLs of a `srcset`: each may be followed by a size, and candidates are separated by commas.
pub(crate) fn srcset_urls(set: &str) -> impl Iterator<Item = &str> {
    let mut rest = set;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let url = word.trim_end_matches(',');
        // Without a size the comma is at the end of the URL; otherwise the size extends to the next comma.
        rest =
            if url.len() < word.len() { after } else { after.split_once(',').map_or("", |(_, next)| next) };
        (!url.is_empty()).then_some(url)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_written_as_they_would_be_without_a_base() {
        for (base, url, written) in [
            ("./", "a.css", Some("a.css")),
            ("/", "a.css", Some("/a.css")),
            ("/app/index.html", "./a.css", Some("/app/a.css")),
            ("/app/", "/a.css", Some("/a.css")),
            ("/app/", "#part", Some("#part")),
            ("/app/", "https://x.example/a.css", Some("https://x.example/a.css")),
            ("/app/", "../a.css", None),
            ("https://x.example/", "a.css", None),
        ] {
            assert_eq!(Base::of(base).apply(url).as_deref(), written, "{base} {url}");
        }
        let long = format!("/{}/", "a".repeat(LONGEST_BASE));
        assert_eq!(Base::of(&long).apply("b"), None);
    }

    #[test]
    fn links_load_lead_on_or_only_describe() {
        for rel in ["stylesheet", "Preload Stylesheet", "icon", "manifest", "alternate stylesheet", ""] {
            assert_eq!(link_use(rel), Some(ReferenceUse::Load), "{rel}");
        }
        for rel in ["next", "author", "license"] {
            assert_eq!(link_use(rel), Some(ReferenceUse::Link), "{rel}");
        }
        for rel in ["canonical", "alternate", "dns-prefetch"] {
            assert_eq!(link_use(rel), None, "{rel}");
        }
    }

    #[test]
    fn sets_of_sources_are_taken_apart() {
        let urls = |set| srcset_urls(set).collect::<Vec<_>>();
        assert_eq!(urls("a.png, b.png 2x,c.png 3x"), ["a.png", "b.png", "c.png"]);
        assert_eq!(urls(" a,b.png 100w , "), ["a,b.png"]);
        assert_eq!(urls(""), [""; 0]);
        assert_eq!(urls(",,,"), [""; 0]);
        assert_eq!(urls("data:image/png;base64,AA== 1x, b 2x"), ["data:image/png;base64,AA==", "b"]);
    }
}
