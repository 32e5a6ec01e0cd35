//! The server name of a TLS connection (SNI). A request for another host is refused: the connection was set up with the
//! certificate of this name, and a client must not reach one site through the connection of another.

use crate::connection::Connection;
use crate::http::OutBody;
use crate::http::error::{self, Wants};
use dropleaf_core::{Code, Error};
use http::Response;
use http::request::Parts;

/// In lower case and without a trailing dot, as names are compared.
pub(super) fn normalize(name: &str) -> Box<str> {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase().into()
}

/// Refuses a request whose host differs from the server name of its connection.
pub(crate) fn refuse_other_host(
    connection: &Connection,
    head: &Parts,
    authority: &str,
) -> Option<Response<OutBody>> {
    if !is_other_host(connection, authority) {
        return None;
    }
    let detail = "This connection was opened for another host name. Open a new connection for this one.";
    let wants = match Wants::of(&head.headers) {
        Wants::Page => Wants::Page,
        Wants::Json | Wants::Text => Wants::Json,
    };
    Some(error::respond(&Error::new(Code::MisdirectedHost, detail), wants))
}

/// Whether a request for this authority has to be refused.
pub(crate) fn is_other_host(connection: &Connection, authority: &str) -> bool {
    connection.server_name.as_deref().is_some_and(|name| !is_host(authority, name))
}

/// Whether an authority names this host, on any port. A server name is never an IP address.
fn is_host(authority: &str, name: &str) -> bool {
    let host = authority.split_once(':').map_or(authority, |(host, _)| host);
    host.strip_suffix('.').unwrap_or(host).eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_case_and_trailing_dot_do_not_matter() {
        for authority in ["a.example", "A.Example:8443", "a.example.", "a.example.:443"] {
            assert!(is_host(authority, "a.example"), "{authority}");
        }
        for authority in ["b.example", "a.example.b", "x@a.example", "[::1]", "", "a.example..", "xa.example"]
        {
            assert!(!is_host(authority, "a.example"), "{authority}");
        }
        assert_eq!(&*normalize("A.Example."), "a.example");
    }
}
