//! The cookies of a page's host: a passed gate or warning, an opened share link, a burn view, an owner coming from the dashboard,
//! and a page whose files are at the root of its host.
//! Where many sites share a host, the cookie's name includes the site.

use super::page_request::PageRequest;
use crate::http::cookie;
use dropleaf_core::gate_pass::GatePassKind;
use http::HeaderValue;

/// The kind of a cookie; its name is one letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cookie {
    Gate,
    Email,
    Share,
    View,
    Owner,
    /// The page's token; see `root_cookie`.
    Root,
    Warning,
}

impl Cookie {
    pub(super) const fn letter(self) -> &'static str {
        match self {
            Self::Gate => "g",
            Self::Email => "e",
            Self::Share => "s",
            Self::View => "v",
            Self::Owner => "o",
            Self::Root => "r",
            Self::Warning => "w",
        }
    }

    fn word(self, request: &PageRequest<'_>) -> String {
        if request.address.is_shared() {
            let label = &request.page.site.host_label;
            format!("{}-{}", self.letter(), label.get(2..14).unwrap_or(label))
        } else {
            self.letter().to_owned()
        }
    }

    /// The value the browser sent, if any.
    pub(super) fn read<'a>(self, request: &PageRequest<'a>) -> Option<&'a str> {
        cookie::read(&request.head.headers, request.takes_secure_cookies(), &self.word(request)).next()
    }

    /// The `Set-Cookie` value with a lifetime in seconds.
    pub(super) fn set(self, request: &PageRequest<'_>, value: &str, max_age: i64) -> Option<HeaderValue> {
        cookie::set(request.takes_secure_cookies(), &self.word(request), value, max_age)
    }

    /// The `Set-Cookie` value that lasts until the browser is closed.
    pub(super) fn set_for_session(self, request: &PageRequest<'_>, value: &str) -> Option<HeaderValue> {
        cookie::set_for_session(request.takes_secure_cookies(), &self.word(request), value)
    }
}

/// Whether this viewer came from the dashboard as the page's owner.
pub(super) fn is_owner(request: &PageRequest<'_>) -> bool {
    Cookie::Owner
        .read(request)
        .is_some_and(|pass| request.dispatcher.app.verify_pass(GatePassKind::Owner, &request.page.site, pass))
}
