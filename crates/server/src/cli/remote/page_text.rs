//! Which page a person means on the command line.

/// The ID, slug or token in a text that may be the URL of the page.
pub(super) fn page_name(text: &str) -> String {
    let after = text.split_once("://").map(|(_, rest)| rest);
    let Some(rest) = after else { return text.to_owned() };
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let mut parts = path.split('/');
    let host = parts.next().unwrap_or_default();
    match (parts.next(), parts.next()) {
        (Some("p" | "s"), Some(name)) if !name.is_empty() => name.to_owned(),
        _ => host.split('.').next().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::page_name;

    #[test]
    fn a_url_names_its_page() {
        for (text, name) in [
            ("my-report", "my-report"),
            ("site_abcdefghij0123456789", "site_abcdefghij0123456789"),
            ("https://pages.example.org/p/AAAAAAAAAAAAAAAAAAAAAA/", "AAAAAAAAAAAAAAAAAAAAAA"),
            ("https://pages.example.org/p/AAAAAAAAAAAAAAAAAAAAAA?t=x#y", "AAAAAAAAAAAAAAAAAAAAAA"),
            ("http://my-report.example.org:8080/a/b", "my-report"),
        ] {
            assert_eq!(page_name(text), name, "{text}");
        }
    }
}
