//! Finds the page that a caller names by its URL, for callers that may also name it by ID, slug or token.

use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::takedown::{PageIdentifier, parse_page_identifier};
use dropleaf_core::{Error, Result};

/// Longer texts are not URLs of a page.
const LONGEST_URL: usize = 4096;

impl App {
    /// The name under which operations know a page: a text that is not a URL is returned as it is; for a URL the id of the page
    /// that is served there. Only a page of the account, or one that nobody has claimed, is found.
    pub async fn resolve_site(&self, account: &Account, text: &str) -> Result<String> {
        let Some(url) = as_url(text) else { return Ok(text.to_owned()) };
        let unknown = || Error::not_found("site");
        let named = parse_page_identifier(&url, &self.hosts).ok_or_else(unknown)?;
        let found = match &named {
            PageIdentifier::Host(label) => self.store.find_site_by_host(&account.id, label).await?,
            _ => self.find_site_by_reference(&named).await?,
        };
        let holds_slug = |held: Option<&str>| match &named {
            // A freed slug still leads to the page that had it last.
            PageIdentifier::Slug(slug) => held.is_some_and(|held| held.eq_ignore_ascii_case(slug)),
            _ => true,
        };
        found
            .filter(|site| site.account_id.as_ref().is_none_or(|owner| *owner == account.id))
            .filter(|site| holds_slug(site.slug.as_deref()))
            .map(|site| site.id)
            .ok_or_else(unknown)
    }
}

/// The text as a URL: with `http` or `https`, or without a scheme if it has a character that no ID, slug or token has.
fn as_url(text: &str) -> Option<String> {
    let text = text.trim();
    if text.len() > LONGEST_URL {
        return None;
    }
    match text.split_once("://") {
        Some((scheme, _)) if ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) => {
            Some(text.to_owned())
        }
        Some(_) => None,
        None => text.contains(['/', '.']).then(|| format!("https://{text}")),
    }
}

#[cfg(test)]
mod tests {
    use super::as_url;

    #[test]
    fn ids_slugs_and_tokens_are_not_urls() {
        for name in
            ["site_abcdefghij0123456789", "my-report", "AAAAAAAAAAAAAAAAAAAAAA", "", "ftp://a/b", "x://"]
        {
            assert_eq!(as_url(name), None, "{name}");
        }
        for (text, url) in [
            (" https://pages.example/p/x/#k ", "https://pages.example/p/x/#k"),
            ("HTTP://pages.example", "HTTP://pages.example"),
            ("report.pages.example", "https://report.pages.example"),
            ("localhost:8080/p/x/", "https://localhost:8080/p/x/"),
        ] {
            assert_eq!(as_url(text).as_deref(), Some(url));
        }
        assert_eq!(as_url(&format!("https://{}", "x".repeat(5000))), None);
    }
}
