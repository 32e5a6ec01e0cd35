//! Redirect URIs: which ones are allowed (only their owner may be able to receive at them), compared character by character.

use super::{OAuthCode, OAuthError};
use crate::host::Hosts;
use crate::number;
use std::fmt::Write;

const LONGEST: usize = 2000;
/// Editors that use a custom scheme without a dot.
const EDITORS: &[&str] = &["cursor", "vscode", "vscode-insiders", "vscodium", "windsurf", "zed"];

/// The parts of a URI that the rules use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Parts<'a> {
    scheme: &'a str,
    /// Without the port; an IPv6 address keeps its brackets. Empty where the scheme has no hosts.
    host: &'a str,
    port: &'a str,
    /// Path and query.
    rest: &'a str,
}

/// Whether a redirect URI is allowed, or the reason why not.
pub fn check(uri: &str) -> Result<(), OAuthError> {
    let bad =
        |why: &str| Err(OAuthError::new(OAuthCode::InvalidRedirectUri, format!("A redirect URI {why}.")));
    if uri.len() > LONGEST {
        return bad("must be at most 2000 characters");
    }
    if uri.contains('#') {
        return bad("must not have a fragment");
    }
    let Some(parts) = split(uri) else {
        return bad("must be an absolute address without a user name or special characters");
    };
    match parts.scheme {
        "https" => Ok(()),
        "http" if is_loopback(parts.host) => Ok(()),
        "http" => bad("must be https, or http on 127.0.0.1, [::1] or localhost"),
        scheme if scheme.contains('.') || EDITORS.contains(&scheme) => Ok(()),
        _ => bad("of an app must use a scheme with a dot, such as com.example.app:/callback"),
    }
}

/// Whether the URI points to this service. Anyone can publish a page here, and a page that is not the client's own could leak the
/// authorization code.
pub fn is_ours(uri: &str, hosts: &Hosts) -> bool {
    let Some(Parts { scheme: scheme @ ("https" | "http"), host, port, .. }) = split(uri) else {
        return false;
    };
    let usual = if scheme == "https" { 443 } else { 80 };
    hosts.is_ours(host, port.strip_prefix(':').and_then(number::unsigned).unwrap_or(usual))
}

/// Whether the requested URI is the registered one. On loopback the port may differ, because the client takes any free port (RFC
/// 8252 §7.3).
pub fn matches(registered: &str, asked: &str) -> bool {
    if registered == asked {
        return true;
    }
    let (Some(a), Some(b)) = (split(registered), split(asked)) else { return false };
    let loopback = a.scheme == "http" && b.scheme == "http" && is_loopback(a.host);
    loopback && a.host == b.host && a.rest == b.rest && check(asked).is_ok()
}

/// Whether the response stays on the user's own machine.
pub fn is_local(uri: &str) -> bool {
    split(uri).is_none_or(|parts| parts.scheme != "https")
}

/// The destination as shown to the user: a host, or the scheme of an app.
pub fn shown(uri: &str) -> String {
    match split(uri) {
        Some(Parts { scheme: "https" | "http", host, port, .. }) => format!("{host}{port}"),
        Some(Parts { scheme, .. }) => format!("{scheme}:"),
        None => String::new(),
    }
}

/// The source for `form-action` in a CSP that lets a form be redirected to this URI: the origin, or the scheme where a CSP cannot
/// express the origin.
pub fn form_source(uri: &str) -> Option<String> {
    let Parts { scheme, host, port, .. } = split(uri)?;
    let web = scheme == "https" || scheme == "http";
    Some(if web && !host.starts_with('[') {
        format!("{scheme}://{host}{port}")
    } else {
        format!("{scheme}:")
    })
}

/// Appends query parameters and percent-encodes their values.
pub fn with_query<'a>(uri: &str, pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = uri.to_owned();
    for (at, (name, value)) in pairs.enumerate() {
        out.push(if at == 0 && !uri.contains('?') { '?' } else { '&' });
        out.push_str(name);
        out.push('=');
        for byte in value.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                out.push(char::from(byte));
            } else {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

fn is_loopback(host: &str) -> bool {
    matches!(host, "127.0.0.1" | "[::1]" | "localhost")
}

fn split(uri: &str) -> Option<Parts<'_>> {
    let plain = |b: u8| b.is_ascii_graphic() && !b"\"<>\\^`{|}*'".contains(&b);
    let (scheme, after) = uri.split_once(':')?;
    let named = scheme.starts_with(|c: char| c.is_ascii_lowercase())
        && scheme.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"+.-".contains(&b));
    if !named || after.is_empty() || !uri.bytes().all(plain) {
        return None;
    }
    let Some(hier) = after.strip_prefix("//") else {
        let app = scheme != "http" && scheme != "https" && after.starts_with('/');
        return app.then_some(Parts { scheme, host: "", port: "", rest: after });
    };
    let (authority, rest) = hier.split_at(hier.find(['/', '?']).unwrap_or(hier.len()));
    let end = if authority.starts_with('[') {
        authority.find(']')? + 1
    } else {
        authority.find(':').unwrap_or(authority.len())
    };
    let (host, port) = authority.split_at(end);
    let number = port.strip_prefix(':').and_then(number::unsigned::<u16>);
    let good_port = port.is_empty() || number.is_some_and(|number| number > 0);
    (good_port && is_host(host, scheme)).then_some(Parts { scheme, host, port, rest })
}

/// Accepts lower-case host names and IP addresses. Rejects user names, empty labels, percent signs and the like.
fn is_host(host: &str, scheme: &str) -> bool {
    if let Some(inner) = host.strip_prefix('[') {
        return inner.strip_suffix(']').is_some_and(|ip| ip.parse::<std::net::Ipv6Addr>().is_ok());
    }
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
    };
    let web = scheme == "https" || scheme == "http";
    // Apps put anything after their scheme, or nothing.
    (host.is_empty() && !web)
        || (host.len() <= 253 && host.split('.').all(label))
        || (!web && host.split('.').all(|part| label(&part.to_ascii_lowercase())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn addresses_that_only_their_owner_hears_are_taken() {
        for good in [
            "https://claude.ai/api/mcp/auth_callback",
            "https://app.example.org:8443/cb?x=1",
            "https://example.org",
            "http://127.0.0.1/callback",
            "http://127.0.0.1:3334/oauth/callback",
            "http://localhost:33418/",
            "http://[::1]:9/cb",
            "com.example.app:/cb",
            "com.example.app://oauth/cb",
            "cursor://anysphere.cursor-retrieval/oauth/user-mcp/callback",
            "vscode://vscode.github-authentication/did-authenticate",
            "cursor://anysphere.cursor-mcp/oauth/callback",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
    }

    #[test]
    fn addresses_that_others_may_hear_are_refused() {
        let long = format!("https://example.org/{}", "a".repeat(2000));
        for bad in [
            "",
            "/cb",
            "//example.org/cb",
            "example.org/cb",
            "http://example.org/cb",
            "http://127.0.0.1.evil.example/cb",
            "http://127.0.0.2/cb",
            "http://localhost.evil.example/",
            "https://user@example.org/cb",
            "https://user:pass@example.org/cb",
            "https://*.example.org/cb",
            "https://example.org/*",
            "https://example.org/cb#frag",
            "https://exa mple.org/",
            "https://example.org\\@evil.example/",
            "https:///cb",
            "https:/cb",
            "https://example.org:0/",
            "https://example.org:+80/",
            "https://example.org:/",
            "http://127.0.0.1:+80/cb",
            "https://example.org:99999/",
            "https://example..org/",
            "HTTPS://example.org/",
            "https://example.org/\ncb",
            "javascript:alert(1)",
            "javascript://example.org/%0aalert(1)",
            "data:text/html,x",
            "data:/x",
            "file:///etc/passwd",
            "blob:https://example.org/x",
            "about:blank",
            "mailto:a@b.example",
            "myapp://cb",
            "urn:ietf:wg:oauth:2.0:oob",
            "com.example.app:cb",
            &long,
        ] {
            assert_eq!(check(bad).unwrap_err().code, OAuthCode::InvalidRedirectUri, "{bad}");
        }
    }

    #[test]
    fn a_match_is_letter_by_letter_but_for_the_port_on_loopback() {
        for (registered, asked) in [
            ("https://example.org/cb", "https://example.org/cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.1:4711/cb"),
            ("http://127.0.0.1:1/cb?a=b", "http://127.0.0.1:2/cb?a=b"),
            ("http://localhost:1/cb", "http://localhost/cb"),
            ("http://[::1]:1/cb", "http://[::1]:2/cb"),
        ] {
            assert!(matches(registered, asked), "{registered} {asked}");
        }
        for (registered, asked) in [
            ("https://example.org/cb", "https://example.org/cb/"),
            ("https://example.org/cb", "https://example.org/cb?x"),
            ("https://example.org/cb", "https://example.org:8443/cb"),
            ("https://example.org/cb", "https://sub.example.org/cb"),
            ("https://example.org/cb", "http://example.org/cb"),
            ("https://127.0.0.1/cb", "https://127.0.0.1:1/cb"),
            ("http://127.0.0.1/cb", "http://localhost/cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.1:1/other"),
            ("http://127.0.0.1/cb", "http://127.0.0.1:1/cb?x=1"),
            ("http://127.0.0.1/cb", "http://127.0.0.1:1@evil.example/cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.1:1/cb#x"),
            ("cursor://a/cb", "cursor://a:1/cb"),
        ] {
            assert!(!matches(registered, asked), "{registered} {asked}");
        }
    }

    #[test]
    fn addresses_of_the_service_itself_are_told_apart() {
        let origin = |url| crate::host::Origin::parse(url).unwrap();
        let public = Hosts::new(
            origin("https://drop.example.com"),
            origin("https://pages.example.net"),
            "pages.example.net".into(),
            true,
        );
        for (uri, is) in [
            ("https://drop.example.com/cb", true),
            ("https://drop.example.com:8443/cb", true),
            ("https://pages.example.net/p/x/", true),
            ("https://s-abc.pages.example.net/cb", true),
            ("https://a.b.pages.example.net/cb", true),
            ("https://example.net/cb", false),
            ("https://mypages.example.net/cb", false),
            ("https://pages.example.net.evil.example/cb", false),
            ("http://127.0.0.1:8080/cb", false),
            ("cursor://drop.example.com/cb", false),
        ] {
            assert_eq!(is_ours(uri, &public), is, "{uri}");
        }
        let base = origin("http://localhost:8080");
        let local = Hosts::new(base.clone(), base, "localhost".into(), true);
        for (uri, is) in [
            ("http://localhost:8080/cb", true),
            ("http://127.0.0.1:8080/cb", true),
            ("http://[::1]:8080/cb", true),
            ("http://[0:0:0:0:0:0:0:1]:8080/cb", true),
            ("https://s-abc.localhost:8080/cb", true),
            ("http://localhost:8081/cb", false),
            ("http://localhost/cb", false),
            ("https://s-abc.localhost/cb", false),
        ] {
            assert_eq!(is_ours(uri, &local), is, "{uri}");
        }
    }

    #[test]
    fn a_policy_names_the_origin_or_the_scheme() {
        let source = |uri| form_source(uri).unwrap();
        assert_eq!(source("https://app.example.org:8443/cb?x"), "https://app.example.org:8443");
        assert_eq!(source("http://127.0.0.1:33418/cb"), "http://127.0.0.1:33418");
        assert_eq!(source("http://[::1]:33418/cb"), "http:");
        assert_eq!(source("cursor://a/cb"), "cursor:");
        assert_eq!(shown("https://app.example.org:8443/cb"), "app.example.org:8443");
        assert_eq!(shown("cursor://a/cb"), "cursor:");
    }

    #[test]
    fn parameters_are_added_and_encoded() {
        let pairs = [("code", "a-b_c"), ("state", "x y&z=\u{e9}"), ("iss", "http://localhost:1")];
        assert_eq!(
            with_query("https://e.org/cb", pairs.into_iter()),
            "https://e.org/cb?code=a-b_c&state=x%20y%26z%3D%C3%A9&iss=http%3A%2F%2Flocalhost%3A1"
        );
        assert_eq!(with_query("https://e.org/cb?a=b", [("c", "d")].into_iter()), "https://e.org/cb?a=b&c=d");
    }

    proptest! {
        #[test]
        fn what_is_taken_names_one_plain_host(uri in "(https|http|cursor|javascript)://[a-z0-9.:@/?#\\\\*%-]{0,30}") {
            if check(&uri).is_ok() {
                let source = form_source(&uri).unwrap();
                prop_assert!(uri.starts_with(&source));
                prop_assert!(!source.contains(['@', '*', ';', ' ', '?', '#']));
                prop_assert!(!source.starts_with("http://") || is_local(&uri));
                prop_assert!(matches(&uri, &uri));
            }
        }
    }
}
