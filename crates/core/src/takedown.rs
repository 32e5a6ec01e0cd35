//! Takedowns: which page an operator means, the reason, and whether its content may be kept as evidence.

use crate::host::{HostRole, Hosts};
use crate::site::{Site, Visibility};
use crate::{Error, Result, plain_text};

pub const REASON_CHARACTERS: usize = 500;

/// Validates the reason for a takedown. It is required, because it is kept forever.
pub fn reason(text: &str) -> Result<String> {
    reason_for(text, "is required for the takedown")
}

/// Validates the reason for another operator action that is kept forever; `missing` is the error for an empty one.
pub fn reason_for(text: &str, missing: &'static str) -> Result<String> {
    plain_text::optional("reason", Some(text.to_owned()), REASON_CHARACTERS)?
        .ok_or_else(|| Error::field("reason", missing))
}

/// The page an operator means. A URL states whether it contains a token or a slug, and only that is looked up: a slug that looks
/// like the token of a bad page must not shield that page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageIdentifier {
    Token(String),
    Slug(String),
    /// A custom domain, in lower case; it means the page that it serves now.
    Domain(String),
    /// The page's own host (`s-…`), in lower case, without a token in the path.
    Host(String),
    /// Entered without a URL: an id, a token or a slug.
    Bare(String),
}

/// Extracts the page that a person or an agent means: an id, slug or token, or a URL of the page, also that of its dashboard.
pub fn parse_page_identifier(text: &str, hosts: &Hosts) -> Option<PageIdentifier> {
    let text = text.trim();
    let Some((_, rest)) = text.split_once("://") else { return Some(PageIdentifier::Bare(text.to_owned())) };
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let under = |prefix: &str| {
        let name = path.strip_prefix(prefix)?.split('/').next()?;
        (!name.is_empty()).then(|| name.to_owned())
    };
    match hosts.role_of(authority) {
        role @ (HostRole::Api { .. } | HostRole::Pages) => {
            let managed = || under("dashboard/pages/").filter(|_| role != HostRole::Pages);
            under("p/")
                .map(PageIdentifier::Token)
                .or_else(|| under("s/").map(PageIdentifier::Slug))
                .or_else(|| managed().map(PageIdentifier::Bare))
        }
        HostRole::Isolated(label) => {
            under("p/").map(PageIdentifier::Token).or(Some(PageIdentifier::Host(label.to_ascii_lowercase())))
        }
        HostRole::Slug(slug) => Some(PageIdentifier::Slug(slug.to_owned())),
        HostRole::Unknown => {
            let name = hosts.domain_of(authority)?;
            let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
            (!name.is_empty()).then_some(PageIdentifier::Domain(name))
        }
        HostRole::Agents => None,
    }
}

/// Whether the content is erased without being sealed as evidence: a burn-after-read page is not kept against its sender's will.
pub fn erases(site: &Site) -> bool {
    site.visibility == Visibility::Burn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Origin;

    fn hosts() -> Hosts {
        let origin = |url: &str| Origin::parse(url).unwrap();
        Hosts::new(
            origin("https://api.leaf.example"),
            origin("https://pages.example"),
            "pages.example".into(),
            true,
        )
    }

    #[test]
    fn a_page_is_found_in_every_way_it_is_written() {
        let named = |text: &str| parse_page_identifier(text, &hosts());
        let token = || PageIdentifier::Token("AAAAAAAAAAAAAAAAAAAAAA".into());
        let slug = || PageIdentifier::Slug("my-report".into());
        for (text, name) in [
            ("site_abcdefghij0123456789", PageIdentifier::Bare("site_abcdefghij0123456789".into())),
            (" my-report\n", PageIdentifier::Bare("my-report".into())),
            ("https://pages.example/p/AAAAAAAAAAAAAAAAAAAAAA/deep/file.html?x#y", token()),
            ("https://s-abc.pages.example/p/AAAAAAAAAAAAAAAAAAAAAA/", token()),
            ("https://S-abc.pages.example/deep/page#part", PageIdentifier::Host("s-abc".into())),
            ("https://api.leaf.example/dashboard/pages/site_1", PageIdentifier::Bare("site_1".into())),
            ("https://my-report.pages.example", slug()),
            ("https://my-report.pages.example/a/b", slug()),
            ("https://pages.example/s/my-report/", slug()),
            ("https://Reports.Example.com./p/x/?y#z", PageIdentifier::Domain("reports.example.com".into())),
        ] {
            assert_eq!(named(text), Some(name), "{text}");
        }
        for foreign in [
            "https://reports.example.com:8443/",
            "https://",
            "https://pages.example/p/",
            "https://pages.example/dashboard/pages/site_1",
        ] {
            assert_eq!(named(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn a_reason_is_needed() {
        assert!(reason(" \n").is_err() && reason(&"x".repeat(501)).is_err());
        assert_eq!(reason(" phishing ").unwrap(), "phishing");
    }
}
