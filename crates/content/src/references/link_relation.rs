//! Reads the `rel` of a `<link>`: whether a page loads the linked resource.

use super::resolve::Use;

/// How the page uses the target of a `<link>`, or `None` if the link only describes the page.
pub(crate) fn use_of(rel: &str) -> Option<Use> {
    let rel = rel.to_ascii_lowercase();
    let has = |names: &[&str]| rel.split_ascii_whitespace().any(|word| names.contains(&word));
    if has(&["stylesheet"]) {
        return Some(Use::Load);
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
    Some(if loads { Use::Load } else { Use::Link })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_load_lead_on_or_only_describe() {
        for rel in ["stylesheet", "Preload Stylesheet", "icon", "manifest", "alternate stylesheet", ""] {
            assert_eq!(use_of(rel), Some(Use::Load), "{rel}");
        }
        for rel in ["next", "author", "license"] {
            assert_eq!(use_of(rel), Some(Use::Link), "{rel}");
        }
        for rel in ["canonical", "alternate", "dns-prefetch"] {
            assert_eq!(use_of(rel), None, "{rel}");
        }
    }
}
