//! The address of a webhook: what may be entered. Which IP addresses may be contacted is checked when it is sent
//! ([`crate::oauth::document::is_public`]).

use crate::host::Hosts;
use crate::origin::Origin;
use crate::{Error, Result};

const LONGEST: usize = 1000;
/// Ports below this one belong to other protocols; only 443 is allowed among them.
const FIRST_PORT: u16 = 1024;

/// A checked address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookUrl(String);

impl WebhookUrl {
    /// Checks an address that an owner entered. `allow_loopback` also accepts http and any port on this machine.
    pub fn parse(text: &str, hosts: &Hosts, allow_loopback: bool) -> Result<Self> {
        let refused = |why: &str| Err(Error::field("url", why));
        if text.len() > LONGEST {
            return refused("must be at most 1000 characters");
        }
        let is_plain =
            text.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'\\' | b'"' | b'<' | b'>' | b'`'));
        let Some(end) = text.find("://").filter(|_| is_plain).map(|at| at + 3) else {
            return refused(
                "must be an address such as https://example.com/hook, without spaces or special characters",
            );
        };
        let path = text[end..].find(['/', '?', '#']).map_or(text.len(), |at| end + at);
        if text.contains('#') {
            return refused("must not have a fragment (#)");
        }
        if text[..path].contains('@') {
            return refused(
                "must not contain a user name or password; put a token into the path if you need one",
            );
        }
        let Some(origin) = Origin::parse(&text[..path]) else {
            return refused("must be an address such as https://example.com/hook");
        };
        let is_local = origin.is_loopback();
        if is_local && !allow_loopback {
            return refused(
                "must be on the public internet; use `dropleaf webhooks listen` to receive events on this machine",
            );
        }
        if origin.scheme != "https" && !is_local {
            return refused("must begin with https://");
        }
        if origin.port != 443 && origin.port < FIRST_PORT && !is_local {
            return refused("must use port 443, or a port from 1024");
        }
        if hosts.is_ours(&origin.host, origin.port) {
            return refused("must not be an address of this server");
        }
        Ok(Self(text.to_owned()))
    }

    /// An address that was checked when it was stored.
    pub const fn parse_stored(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts() -> Hosts {
        let base = Origin::parse("https://drop.example").unwrap();
        Hosts::new(base.clone(), base, "drop.example".into(), true)
    }

    #[test]
    fn https_addresses_are_accepted() {
        for good in [
            "https://hooks.example.com/x?y=1",
            "https://hooks.example.com",
            "https://hooks.example.com?x",
            "https://hooks.example.com:8443/a",
            "https://[2606:4700::1111]/a",
            "https://hooks.example.com/a@b",
        ] {
            assert_eq!(WebhookUrl::parse(good, &hosts(), false).unwrap().as_str(), good);
        }
    }

    #[test]
    fn others_are_refused_with_a_reason() {
        for bad in [
            "",
            "hooks.example.com",
            "ftp://hooks.example.com/",
            "http://hooks.example.com/",
            "https://u:p@hooks.example.com/",
            "https://hooks.example.com/#a",
            "https://hooks.example.com/a b",
            "https://hooks.example.com\\@evil.example/",
            "https://hooks.example.com:22/",
            "https://hooks.example.com:80/",
            "https://hooks.example.com:0/",
            "https://localhost/",
            "https://127.0.0.1/",
            "https://[::1]:8443/",
            "http://127.0.0.1:9000/",
            "https://drop.example/webhooks",
            "https://s-abc.drop.example/",
            "https://hooks.exämple.com/",
            "https://",
        ] {
            let error = WebhookUrl::parse(bad, &hosts(), false).unwrap_err();
            assert_eq!(error.fault.unwrap().name, "url", "{bad}");
        }
        assert!(
            WebhookUrl::parse(&format!("https://a.example/{}", "x".repeat(1000)), &hosts(), false).is_err()
        );
    }

    #[test]
    fn loopback_is_for_development() {
        for good in ["http://127.0.0.1:9000/", "http://localhost:80/x", "https://[::1]:99/"] {
            assert!(WebhookUrl::parse(good, &hosts(), true).is_ok(), "{good}");
        }
        for bad in ["http://10.0.0.1/", "http://hooks.example.com/", "https://drop.example/"] {
            assert!(WebhookUrl::parse(bad, &hosts(), true).is_err(), "{bad}");
        }
    }
}
