//! Decides which URLs a page generated from untrusted text may contain: a short list of schemes, nothing that runs code.

/// Whether a link may have this URL: `http`, `https`, `mailto` and relative references.
pub(crate) fn is_link(url: &str) -> bool {
    scheme(url).is_none_or(|scheme| matches!(scheme.as_str(), "http" | "https" | "mailto"))
}

/// Whether an image may have this URL. Images may also be inlined, in formats that cannot contain scripts.
pub(crate) fn is_image(url: &str) -> bool {
    match scheme(url).as_deref() {
        None | Some("http" | "https") => true,
        Some("data") => is_picture_data(url),
        Some(_) => false,
    }
}

/// The scheme of a URL, ignoring white space and control characters before and inside it, as browsers do.
fn scheme(url: &str) -> Option<String> {
    let mut scheme = String::new();
    for c in url.chars().filter(|c| !c.is_whitespace() && !c.is_control()) {
        match c {
            ':' => return Some(scheme.to_ascii_lowercase()),
            '/' | '\\' | '?' | '#' => return None,
            _ => scheme.push(c),
        }
    }
    None
}

fn is_picture_data(url: &str) -> bool {
    let Some(rest) = url.get(..5).filter(|head| head.eq_ignore_ascii_case("data:")).map(|_| &url[5..]) else {
        return false;
    };
    let kind = rest.split([';', ',']).next().unwrap_or_default().to_ascii_lowercase();
    rest.contains(',') && matches!(kind.as_str(), "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_links_are_kept() {
        for url in
            ["https://a.b", "HTTP://a", "mailto:a@b", "a.html", "../b", "#x", "?q=a:b", "/x:y", "//h/p", ""]
        {
            assert!(is_link(url), "{url}");
        }
    }

    #[test]
    fn anything_that_could_run_is_dropped() {
        for url in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            " javascript:x",
            "java\nscript:x",
            "\u{1}javascript:x",
            "java\tscript\u{0}:x",
            "vbscript:x",
            "data:text/html,x",
            "file:///etc/passwd",
            "blob:x",
        ] {
            assert!(!is_link(url), "{url:?}");
            assert!(!is_image(url), "{url:?}");
        }
    }

    #[test]
    fn only_pictures_are_inlined() {
        assert!(is_image("data:image/png;base64,AA") && is_image("DATA:image/WEBP,x"));
        for url in ["data:image/svg+xml,<svg>", "data:image/png", "data:,x", "da ta:image/png,x", "mailto:x"]
        {
            assert!(!is_image(url), "{url}");
        }
    }
}
