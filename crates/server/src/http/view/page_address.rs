//! The six kinds of address under which a page can be requested.

use dropleaf_app::{PageKey, ServedSite};

/// Prefix below a site's root that no file of a page can have.
pub(super) const RESERVED_PREFIX: &str = "_dropleaf/";

/// The address under which a page was requested.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) enum PageAddress<'a> {
    /// `{site_url}/p/<token>/…`; `rest` begins with the token.
    Shared { rest: &'a str },
    /// `{site_url}/s/<slug>/…`, where sites cannot have their own hosts.
    SharedSlug { rest: &'a str },
    /// `s-….<site_host>/p/<token>/…`
    Isolated { label: &'a str, rest: &'a str },
    /// `s-….<site_host>/…` outside `/p/`, for a browser whose cookie names the token; `pass` is not verified yet.
    Root { label: &'a str, token: &'a str, pass: &'a str, rest: &'a str },
    /// `<slug>.<site_host>/…`; `rest` is the path below the root.
    Slug { slug: &'a str, rest: &'a str },
    /// A verified custom domain of the site; `rest` is the path below the root.
    Domain { domain: &'a ServedSite, rest: &'a str },
}

/// The same of a page's own host or domain, kept while a stream is open. Pages have none at the shared address.
#[derive(Debug)]
pub(super) enum OwnAddress {
    Isolated { label: String, rest: String },
    Root { label: String, token: String, pass: String, rest: String },
    Slug { slug: String, rest: String },
    Domain { domain: ServedSite, rest: String },
}

impl OwnAddress {
    pub(super) fn of(address: PageAddress<'_>) -> Option<Self> {
        Some(match address {
            PageAddress::Shared { .. } | PageAddress::SharedSlug { .. } => return None,
            PageAddress::Isolated { label, rest } => {
                Self::Isolated { label: label.into(), rest: rest.into() }
            }
            PageAddress::Root { label, token, pass, rest } => {
                Self::Root { label: label.into(), token: token.into(), pass: pass.into(), rest: rest.into() }
            }
            PageAddress::Slug { slug, rest } => Self::Slug { slug: slug.into(), rest: rest.into() },
            PageAddress::Domain { domain, rest } => {
                let domain = ServedSite { hostname: domain.hostname.clone(), token: domain.token };
                Self::Domain { domain, rest: rest.into() }
            }
        })
    }

    pub(super) fn address(&self) -> PageAddress<'_> {
        match self {
            Self::Isolated { label, rest } => PageAddress::Isolated { label, rest },
            Self::Root { label, token, pass, rest } => PageAddress::Root { label, token, pass, rest },
            Self::Slug { slug, rest } => PageAddress::Slug { slug, rest },
            Self::Domain { domain, rest } => PageAddress::Domain { domain, rest },
        }
    }
}

impl PageAddress<'_> {
    /// Whether other sites share the origin.
    pub(super) const fn is_shared(self) -> bool {
        matches!(self, Self::Shared { .. } | Self::SharedSlug { .. })
    }

    /// The label of the page's own host, if the request was made there.
    pub(super) const fn own_label(&self) -> Option<&str> {
        match self {
            Self::Isolated { label, .. } | Self::Root { label, .. } => Some(label),
            Self::Shared { .. } | Self::SharedSlug { .. } | Self::Slug { .. } | Self::Domain { .. } => None,
        }
    }

    /// The page, and the path below its root. The path is None if the trailing slash is missing.
    pub(super) fn split(&self) -> Option<(PageKey, Option<&str>)> {
        let below = |rest: &str| rest.find('/').map(|at| at + 1);
        match self {
            Self::Shared { rest } | Self::Isolated { rest, .. } => {
                let token = rest.get(..22)?;
                let tail = match rest.get(22..)? {
                    "" => None,
                    tail => Some(tail.strip_prefix('/')?),
                };
                Some((PageKey::token(token)?, tail))
            }
            Self::SharedSlug { rest } => match below(rest) {
                Some(at) => Some((PageKey::slug(&rest[..at - 1])?, Some(&rest[at..]))),
                None => Some((PageKey::slug(rest)?, None)),
            },
            Self::Root { token, rest, .. } => Some((PageKey::token(token)?, Some(rest))),
            Self::Slug { slug, rest } => Some((PageKey::slug(slug)?, Some(rest))),
            Self::Domain { domain, rest } => Some((domain.token, Some(rest))),
        }
    }
}
