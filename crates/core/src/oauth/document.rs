//! Client ID metadata documents: which URLs may be fetched, and which IP addresses may be contacted.
//! The server fetches URLs from untrusted input, so requests to its own network must be impossible (SSRF).

use super::client::{AuthMethod, Client, ClientRegistration};
use super::redirect;
use crate::host::Hosts;
use crate::number;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const LONGEST: usize = 500;
/// How long a document is cached at least and at most, in seconds, whatever its headers say.
pub const SHORTEST_LIFE: i64 = 300;
pub const LONGEST_LIFE: i64 = 86_400;

/// A client ID metadata document.
#[derive(Debug, Clone, Default)]
pub struct ClientMetadataDocument {
    pub client_id: Option<String>,
    /// Whether it contains a client secret, which would be public.
    pub has_secret: bool,
    pub description: ClientRegistration,
}

impl ClientMetadataDocument {
    /// The client, if the document names this id and contains no secret; otherwise the reason for refusing it.
    pub fn check(self, id: &str, hosts: &Hosts, now: i64) -> Result<Client, String> {
        if self.client_id.as_deref() != Some(id) {
            return Err("Its client_id must be its own address.".to_owned());
        }
        if self.has_secret {
            return Err("It must not contain a secret.".to_owned());
        }
        let mut description = self.description;
        if description.name.as_deref().is_none_or(|name| name.trim().is_empty()) {
            return Err("It has no client_name.".to_owned());
        }
        let method = description.auth_method.get_or_insert_with(|| AuthMethod::None.as_str().to_owned());
        if method != AuthMethod::None.as_str() {
            return Err("Its token_endpoint_auth_method must be none.".to_owned());
        }
        description.check(id.to_owned(), hosts, now).map_err(|error| error.detail)
    }
}

/// Whether an id is a URL that may be fetched: https, with a path and without dot segments or other tricks. `loopback` also
/// allows http on this machine.
pub fn is_address(id: &str, loopback: bool) -> bool {
    let Some((scheme, rest)) = id.split_once("://") else { return false };
    let path = rest.find('/').map_or("", |at| &rest[at..]);
    let path = path.split('?').next().unwrap_or_default();
    let dots = path.split('/').any(|part| {
        matches!(part.to_ascii_lowercase().as_str(), "." | ".." | "%2e" | "%2e%2e" | ".%2e" | "%2e.")
    });
    (scheme == "https" || (loopback && scheme == "http"))
        && id.len() <= LONGEST
        && path.len() > 1
        && !dots
        && redirect::check(id).is_ok()
}

/// How long a document may be cached according to its `Cache-Control`, in seconds.
pub fn life(cache_control: Option<&str>) -> i64 {
    let words = cache_control.unwrap_or_default().split(',').map(str::trim);
    let ages = words.filter_map(|word| number::unsigned::<i64>(word.strip_prefix("max-age=")?));
    ages.min().unwrap_or(SHORTEST_LIFE).clamp(SHORTEST_LIFE, LONGEST_LIFE)
}

/// Whether an IP address belongs to the public internet, and not to this machine, its network or a tunnel.
pub fn is_public(ip: IpAddr) -> bool {
    let v4 = |a, b, c, d, len| IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), len));
    let v6 = |a, b, len| IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), len));
    let ip = ip.to_canonical();
    let closed = match ip {
        IpAddr::V4(_) => vec![
            v4(0, 0, 0, 0, 8),
            v4(10, 0, 0, 0, 8),
            v4(100, 64, 0, 0, 10),
            v4(127, 0, 0, 0, 8),
            v4(169, 254, 0, 0, 16),
            v4(172, 16, 0, 0, 12),
            v4(192, 0, 0, 0, 24),
            v4(192, 0, 2, 0, 24),
            v4(192, 88, 99, 0, 24),
            v4(192, 168, 0, 0, 16),
            v4(198, 18, 0, 0, 15),
            v4(198, 51, 100, 0, 24),
            v4(203, 0, 113, 0, 24),
            v4(224, 0, 0, 0, 3),
        ],
        // Everything outside global unicast is refused; within it, protocol assignments, documentation ranges and 6to4 too.
        IpAddr::V6(v6_ip) if v6_ip.segments()[0] & 0xe000 != 0x2000 => return false,
        IpAddr::V6(_) => {
            vec![v6(0x2001, 0, 23), v6(0x2001, 0xdb8, 32), v6(0x2002, 0, 16), v6(0x3fff, 0, 20)]
        }
    };
    !closed.iter().any(|net| net.contains(&ip))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_path_and_nothing_clever() {
        for good in [
            "https://app.example.org/oauth/client.json",
            "https://app.example.org:8443/c",
            "https://a.example/c?v=1",
        ] {
            assert!(is_address(good, false), "{good}");
        }
        for bad in [
            "",
            "client_x",
            "https://app.example.org",
            "https://app.example.org/",
            "https://app.example.org/?x=/a",
            "https://app.example.org/a/../b",
            "https://app.example.org/./b",
            "https://app.example.org/%2e%2E/b",
            "https://u@app.example.org/c",
            "https://app.example.org/c#x",
            "http://app.example.org/c",
            "http://127.0.0.1/c",
            "cursor://app.example.org/c",
            "com.example.app://x/c",
            "https://APP.example.org/c",
        ] {
            assert!(!is_address(bad, false), "{bad}");
        }
        assert!(is_address("http://127.0.0.1:5/c", true));
        assert!(!is_address("http://app.example.org/c", true));
        assert!(!is_address(&format!("https://a.example/{}", "c".repeat(500)), false));
    }

    #[test]
    fn a_document_speaks_for_its_own_address_alone_and_keeps_no_secret() {
        const ID: &str = "https://app.example/client.json";
        let base = crate::host::Origin::parse("https://drop.example").unwrap();
        let hosts = Hosts::new(base.clone(), base, "drop.example".into(), true);
        let good = ClientMetadataDocument {
            client_id: Some(ID.into()),
            has_secret: false,
            description: ClientRegistration {
                name: Some("App".into()),
                redirect_uris: vec!["https://app.example/cb".into()],
                ..ClientRegistration::default()
            },
        };
        let client = good.clone().check(ID, &hosts, 7).unwrap();
        assert_eq!((client.id.as_str(), client.auth_method), (ID, AuthMethod::None));
        let with = |change: fn(&mut ClientMetadataDocument)| {
            let mut document = good.clone();
            change(&mut document);
            document.check(ID, &hosts, 7)
        };
        for (why, refused) in [
            ("another address", with(|it| it.client_id = Some("https://app.example/other.json".into()))),
            ("no address", with(|it| it.client_id = None)),
            ("a secret", with(|it| it.has_secret = true)),
            ("no name", with(|it| it.description.name = None)),
            ("an empty name", with(|it| it.description.name = Some(" ".into()))),
            ("a secret to come", with(|it| it.description.auth_method = Some("client_secret_basic".into()))),
            ("nowhere to answer", with(|it| it.description.redirect_uris.clear())),
            ("our own pages", with(|it| it.description.redirect_uris.push("https://p.drop.example/".into()))),
        ] {
            assert!(refused.is_err(), "{why}");
        }
    }

    #[test]
    fn neighbours_are_not_the_public_internet() {
        for closed in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "192.0.0.8",
            "198.18.0.1",
            "203.0.113.7",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::7f00:1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd12:3456::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "2002:7f00:1::",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "3fff::1",
        ] {
            assert!(!is_public(closed.parse().unwrap()), "{closed}");
        }
        for open in [
            "1.1.1.1",
            "93.184.216.34",
            "100.63.255.255",
            "100.128.0.1",
            "172.32.0.1",
            "2606:4700::1111",
            "2a00:1450::1",
            "::ffff:1.1.1.1",
        ] {
            assert!(is_public(open.parse().unwrap()), "{open}");
        }
    }

    #[test]
    fn a_document_is_kept_between_five_minutes_and_a_day() {
        for (said, life_of_it) in [
            (None, 300),
            (Some("no-store"), 300),
            (Some("max-age=5"), 300),
            (Some("public, max-age=3600"), 3600),
            (Some("max-age=99999999"), 86_400),
            (Some("max-age=x"), 300),
        ] {
            assert_eq!(life(said), life_of_it, "{said:?}");
        }
    }
}
