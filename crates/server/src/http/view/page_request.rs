//! One request for a page: the HTTP request, the address, the page and the visitor. Passed to every function that answers a
//! viewer.

use super::page_address::PageAddress;
use crate::connection::Connection;
use crate::http::Dispatcher;
use dropleaf_app::PageView;
use dropleaf_core::visitor::Visitor;
use dropleaf_core::{Code, Error, network};
use http::request::Parts;
use std::net::IpAddr;
use std::sync::Arc;

#[derive(Debug, Clone, Copy)]
pub(super) struct PageRequest<'a> {
    pub dispatcher: &'a Dispatcher,
    pub head: &'a Parts,
    pub connection: &'a Arc<Connection>,
    pub address: PageAddress<'a>,
    pub page: &'a PageView,
    pub visitor: Visitor,
    /// The request comes from a sandboxed frame, at an address with a pass.
    pub in_sandboxed_frame: bool,
}

impl PageRequest<'_> {
    /// The path of the site's root on this host, with the trailing slash.
    pub(super) fn root(&self) -> String {
        root(self.address, self.page)
    }

    /// The origin of this page, built from configuration.
    pub(super) fn origin(&self) -> String {
        let hosts = &self.dispatcher.resolved.hosts;
        match self.address {
            PageAddress::Shared { .. } | PageAddress::SharedSlug { .. } => hosts.site.url(),
            PageAddress::Isolated { .. } | PageAddress::Root { .. } => {
                hosts.isolated_origin(&self.page.site.host_label)
            }
            PageAddress::Slug { slug, .. } => hosts.isolated_origin(slug),
            PageAddress::Domain { domain, .. } => hosts.site.url_of(&domain.hostname),
        }
    }

    /// Whether this is the page's origin. At the shared address every host name of the server counts, if it is the
    /// requested one.
    pub(super) fn is_own_origin(&self, origin: &str) -> bool {
        if origin.eq_ignore_ascii_case(&self.origin()) {
            return true;
        }
        let scheme = &self.dispatcher.resolved.hosts.site.scheme;
        let asked =
            self.head.uri.authority().map(http::uri::Authority::as_str).or_else(|| self.header("host"));
        self.address.is_shared()
            && asked.is_some_and(|host| origin.eq_ignore_ascii_case(&format!("{scheme}://{host}")))
    }

    /// Whether browsers accept `Secure` cookies from this host. Custom domains have the scheme of the pages, but are not on
    /// this machine.
    pub(super) fn takes_secure_cookies(&self) -> bool {
        let site = &self.dispatcher.resolved.hosts.site;
        match self.address {
            PageAddress::Domain { .. } => site.scheme == "https",
            _ => site.takes_secure_cookies(),
        }
    }

    /// The page's current row from the database, past the cache.
    pub(super) async fn reload_page(&self) -> Result<Arc<PageView>, Error> {
        let missing = || Error::new(Code::NotFound, "There is no page at this address.");
        let (key, _) = self.address.split().ok_or_else(missing)?;
        self.dispatcher.app.open_page_uncached(&key).await?.ok_or_else(missing)
    }

    pub(super) fn client_ip(&self) -> Option<IpAddr> {
        let forwarded = self.head.headers.get_all("x-forwarded-for").iter();
        let forwarded = forwarded.filter_map(|value| value.to_str().ok());
        network::client_ip(self.connection.peer.ip(), forwarded, &self.dispatcher.resolved.trusted_proxies)
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// See [`PageRequest::root`].
pub(super) fn root(address: PageAddress<'_>, page: &PageView) -> String {
    match address {
        PageAddress::Shared { .. } | PageAddress::Isolated { .. } => format!("/p/{}/", page.site.token),
        PageAddress::SharedSlug { rest } => format!("/s/{}/", rest.split('/').next().unwrap_or_default()),
        PageAddress::Slug { .. } | PageAddress::Root { .. } | PageAddress::Domain { .. } => "/".to_owned(),
    }
}
