//! The context of one request for a page: the request, the address, the page and the visitor. Passed to every function
//! that answers a viewer.

use super::{Place, burn, gates, owner, share};
use crate::connection::Connection;
use crate::http::quality::Weight;
use crate::http::{Door, OutBody, media_type};
use dropleaf_app::PageView;
use dropleaf_core::access::{self, Access, Passes};
use dropleaf_core::visitor::Visitor;
use dropleaf_core::{Error, network, owner_ticket};
use http::request::Parts;
use http::{HeaderMap, Response};
use std::net::IpAddr;
use std::sync::Arc;

#[derive(Debug, Clone, Copy)]
pub(super) struct Scene<'a> {
    pub door: &'a Door,
    pub head: &'a Parts,
    pub connection: &'a Arc<Connection>,
    pub place: Place<'a>,
    pub page: &'a PageView,
    pub visitor: Visitor,
    /// The request comes from a sandboxed frame, at an address with a pass.
    pub in_sandboxed_frame: bool,
}

impl Scene<'_> {
    /// The response that comes before the page, if any: a gate, or the reveal page of a burn page.
    pub(super) async fn detour(&self, tail: &str) -> Result<Option<Response<OutBody>>, Error> {
        if let Some(found) = owner_ticket::in_query(self.head.uri.query())
            && let Some(response) = Box::pin(owner::redeem_ticket(self, &found)).await?
        {
            return Ok(Some(response));
        }
        // Most pages have neither, and skip the cost of both.
        let passes = if self.page.door.is_gated() {
            match Box::pin(gates::passes(self)).await? {
                gates::Found::Passes(passes) => passes,
                gates::Found::Answer(response) => return Ok(Some(response)),
            }
        } else {
            if let Some(response) = share::strip(self)? {
                return Ok(Some(response));
            }
            Passes::default()
        };
        match access::decide(&self.page.door, passes, self.door.app.now()) {
            Access::Serve => Ok(None),
            Access::Gone(code) => Err(Error::plain(code)),
            Access::Ask(gate) => gates::ask(self, gate).map(Some),
            Access::Reveal if tail.is_empty() && owner::is_inside(self) => Ok(Some(owner::preview(self))),
            Access::Reveal => Box::pin(burn::meet(self, tail)).await.map(Some),
        }
    }

    /// Checks that the viewer has passed every gate; for resources of a page that are not its files.
    pub(super) async fn require_inside(&self) -> Result<(), Error> {
        let passes = match Box::pin(gates::passes(self)).await? {
            gates::Found::Passes(passes) => passes,
            gates::Found::Answer(_) => Passes::default(),
        };
        match access::decide(&self.page.door, passes, self.door.app.now()) {
            Access::Serve | Access::Reveal => Ok(()),
            Access::Gone(code) => Err(Error::plain(code)),
            Access::Ask(gate) => Err(gates::refusal(gate)),
        }
    }

    /// The path of the site's root on this host, with the trailing slash.
    pub(super) fn root(&self) -> String {
        root(self.place, self.page)
    }

    /// The origin of this page, built from configuration.
    pub(super) fn origin(&self) -> String {
        let hosts = &self.door.resolved.hosts;
        match self.place {
            Place::Shared { .. } | Place::SharedSlug { .. } => hosts.site.url(),
            Place::Isolated { .. } | Place::Root { .. } => hosts.isolated_origin(&self.page.site.host_label),
            Place::Slug { slug, .. } => hosts.isolated_origin(slug),
        }
    }

    /// Whether this is the page's origin. At the shared address every host name of the server counts, if it is the
    /// requested one.
    pub(super) fn is_own_origin(&self, origin: &str) -> bool {
        if origin.eq_ignore_ascii_case(&self.origin()) {
            return true;
        }
        let scheme = &self.door.resolved.hosts.site.scheme;
        let asked =
            self.head.uri.authority().map(http::uri::Authority::as_str).or_else(|| self.header("host"));
        self.place.is_shared()
            && asked.is_some_and(|host| origin.eq_ignore_ascii_case(&format!("{scheme}://{host}")))
    }

    pub(super) fn client_ip(&self) -> Option<IpAddr> {
        let forwarded = self.head.headers.get_all("x-forwarded-for").iter();
        let forwarded = forwarded.filter_map(|value| value.to_str().ok());
        network::client_ip(self.connection.peer.ip(), forwarded, &self.door.resolved.trusted_proxies)
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head.headers, name)
    }
}

/// See [`Scene::root`].
pub(super) fn root(place: Place<'_>, page: &PageView) -> String {
    match place {
        Place::Shared { .. } | Place::Isolated { .. } => format!("/p/{}/", page.site.token),
        Place::SharedSlug { rest } => format!("/s/{}/", rest.split('/').next().unwrap_or_default()),
        Place::Slug { .. } | Place::Root { .. } => "/".to_owned(),
    }
}

/// Whether the request is for a top-level document. Falls back to `Accept` for browsers without fetch metadata.
pub(super) fn fills_window(headers: &HeaderMap) -> bool {
    header(headers, "sec-fetch-dest").map_or_else(|| accepts_html(headers), |dest| dest == "document")
}

/// The same, or for the document of a frame.
pub(super) fn fills_frame(headers: &HeaderMap) -> bool {
    let dest = header(headers, "sec-fetch-dest");
    dest.map_or_else(|| accepts_html(headers), |dest| matches!(dest, "document" | "iframe" | "frame"))
}

fn accepts_html(headers: &HeaderMap) -> bool {
    media_type::accept_weight(headers, media_type::HTML) > Weight::ZERO
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
