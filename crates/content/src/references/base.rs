//! The `<base>` of a page, against which its relative references are resolved.

/// A longer base is ignored, because it would be prepended to every reference.
const LONGEST: usize = 2048;

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
            Some(rest) if !rest.starts_with(['/', '\\']) && href.len() <= LONGEST => {
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
        let long = format!("/{}/", "a".repeat(LONGEST));
        assert_eq!(Base::of(&long).apply("b"), None);
    }
}
