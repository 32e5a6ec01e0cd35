//! Which part of the service a request is for, by its host and path. Used by both ways to answer a view, so that they cannot
//! disagree. Custom domains are looked up by the caller, and so are the paths that every host answers.

use super::view::{PageAddress, SAFE_PREVIEW_PATH};
use dropleaf_core::host::{HostRole, Hosts};

#[derive(Debug, Clone, Copy)]
pub(super) enum Destination<'a> {
    Api,
    Agents,
    /// The safe preview of a page, at the shared address or on the host with this label.
    SafePreview(Option<&'a str>),
    Page(PageAddress<'a>),
    /// A path outside `/p/` on the host with this label: the page is named by a cookie.
    OwnRoot(&'a str),
    /// A path of the pages' host that belongs to no page.
    NoPage,
    /// A host that is not configured. It may be a custom domain.
    OtherHost,
}

impl<'a> Destination<'a> {
    pub(super) fn of(hosts: &Hosts, authority: &'a str, path: &'a str) -> Self {
        let role = hosts.role_of(authority);
        let shows_pages = matches!(role, HostRole::Api { pages: true } | HostRole::Pages);
        if shows_pages && !hosts.isolated && path.starts_with(SAFE_PREVIEW_PATH) {
            return Self::SafePreview(None);
        }
        match role {
            HostRole::Api { pages } => shared_page(path, pages, hosts.isolated).map_or(Self::Api, Self::Page),
            HostRole::Agents => Self::Agents,
            HostRole::Pages => shared_page(path, true, hosts.isolated).map_or(Self::NoPage, Self::Page),
            HostRole::Isolated(label) if path.starts_with(SAFE_PREVIEW_PATH) => {
                Self::SafePreview(Some(label))
            }
            HostRole::Isolated(label) => match path.strip_prefix("/p/") {
                Some(rest) => Self::Page(PageAddress::Isolated { label, rest }),
                None => Self::OwnRoot(label),
            },
            HostRole::Slug(slug) => Self::Page(PageAddress::Slug { slug, rest: below_root(path) }),
            HostRole::Unknown => Self::OtherHost,
        }
    }
}

/// Whether every host answers this path itself, whatever it is for.
pub(super) fn is_on_every_host(path: &str) -> bool {
    path == dropleaf_core::self_check::PATH || is_health_check(path)
}

pub(super) fn is_health_check(path: &str) -> bool {
    path == "/healthz" || path == "/readyz"
}

/// The path below the root of a host that belongs to one page.
pub(super) fn below_root(path: &str) -> &str {
    path.strip_prefix('/').unwrap_or(path)
}

/// A page at the shared address, if the path is one.
fn shared_page(path: &str, pages: bool, isolated: bool) -> Option<PageAddress<'_>> {
    if !pages {
        return None;
    }
    if let Some(rest) = path.strip_prefix("/p/") {
        return Some(PageAddress::Shared { rest });
    }
    // Where sites cannot have their own hosts, public ones are below /s/.
    if isolated {
        return None;
    }
    path.strip_prefix("/s/").map(|rest| PageAddress::SharedSlug { rest })
}
