//! Whether a URL belongs to a given page: its token link at the shared address, its own host, the host of its slug,
//! or a custom domain.
//! Used for URLs that viewers submit and owners click on later.

use crate::host::{HostRole, Hosts};
use crate::site::Site;

/// Whether this page is served at an `http` or `https` URL. Either scheme is accepted, because a proxy may use another one than
/// the settings say. `serves` tells whether a host name is a verified custom domain of the page.
pub fn belongs_to(url: &str, site: &Site, hosts: &Hosts, serves: impl FnOnce(&str) -> bool) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return false;
    }
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    match hosts.role_of(authority) {
        HostRole::Api { pages: true } | HostRole::Pages => {
            let by_token = is_below(path, "/p/", &site.token);
            let by_slug = || site.slug.as_deref().is_some_and(|slug| is_below(path, "/s/", slug));
            by_token || (!hosts.isolated && by_slug())
        }
        HostRole::Isolated(label) => label.eq_ignore_ascii_case(&site.host_label),
        HostRole::Slug(label) => site.slug.as_deref().is_some_and(|slug| label.eq_ignore_ascii_case(slug)),
        HostRole::Unknown => hosts.domain_of(authority).is_some_and(serves),
        HostRole::Api { pages: false } | HostRole::Agents => false,
    }
}

/// The path of a URL of this page below the page's root, which its addresses share. Empty if it could lead elsewhere.
pub fn path_below<'a>(url: &'a str, site: &Site) -> &'a str {
    let path = url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let below = |prefix: &str, name: &str| path.strip_prefix(prefix)?.strip_prefix(name)?.strip_prefix('/');
    let by_slug = || site.slug.as_deref().and_then(|slug| below("s/", slug));
    let tail = below("p/", &site.token).or_else(by_slug).unwrap_or(path);
    let is_plain = tail.bytes().all(|b| b.is_ascii_graphic()) && !tail.starts_with("_dropleaf");
    if is_plain && is_below(&format!("/p/x/{tail}"), "/p/", "x") && !tail.starts_with('/') {
        tail
    } else {
        ""
    }
}

/// Whether a path is the root of a page at the shared address, or below it. Browsers resolve dot segments and treat a backslash
/// as a slash, so a path with either could lead to another page.
fn is_below(path: &str, prefix: &str, name: &str) -> bool {
    let Some(rest) = path.strip_prefix(prefix).and_then(|rest| rest.strip_prefix(name)) else {
        return false;
    };
    let is_dots =
        |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    (rest.is_empty() || rest.starts_with('/')) && !rest.contains('\\') && !rest.split('/').any(is_dots)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Origin;
    use crate::site::Visibility;

    const TOKEN: &str = "0Qm1Yv2nT3uW4xZ5aB6cD7";

    fn site() -> Site {
        Site {
            token: TOKEN.into(),
            host_label: "s-abc".into(),
            slug: Some("report".into()),
            visibility: Visibility::Public,
            ..crate::site_change::tests::site()
        }
    }

    fn hosts(base: &str, site: &str, site_host: &str) -> Hosts {
        let origin = |url| Origin::parse(url).unwrap();
        Hosts::new(origin(base), origin(site), site_host.into(), true)
    }

    fn public() -> Hosts {
        hosts("https://api.example.com", "https://pages.example.net", "pages.example.net")
    }

    fn serves(host: &str) -> bool {
        host == "reports.example.com"
    }

    #[test]
    fn the_path_below_the_root_is_the_same_at_every_address() {
        let below = |url: &str| path_below(url, &site()).to_owned();
        assert_eq!(below(&format!("https://pages.example.net/p/{TOKEN}/a/b.html?x=1#y")), "a/b.html");
        assert_eq!(below("https://report.pages.example.net/a/b.html"), "a/b.html");
        assert_eq!(below("https://pages.example.net/s/report/a%20b"), "a%20b");
        for root in
            [&*format!("https://pages.example.net/p/{TOKEN}/"), "https://report.pages.example.net", "x"]
        {
            assert_eq!(below(root), "", "{root}");
        }
        for elsewhere in ["../x", "a/%2e%2e/x", "a\\b", "/evil.example", "_dropleaf/report", "a b"] {
            assert_eq!(below(&format!("https://pages.example.net/p/{TOKEN}/{elsewhere}")), "", "{elsewhere}");
        }
    }

    #[test]
    fn a_page_has_its_token_link_its_own_host_and_the_host_of_its_slug() {
        for good in [
            format!("https://pages.example.net/p/{TOKEN}/"),
            format!("https://pages.example.net/p/{TOKEN}"),
            format!("https://PAGES.example.net:443/p/{TOKEN}/a/b.html?x=1#y"),
            format!("http://pages.example.net/p/{TOKEN}/"),
            format!("https://s-abc.pages.example.net/p/{TOKEN}/"),
            "https://S-ABC.pages.example.net/deep/page".to_owned(),
            "https://report.pages.example.net".to_owned(),
            "https://report.pages.example.net/?q=/p/x/".to_owned(),
            "https://reports.example.com/deep/page?x#y".to_owned(),
            "https://reports.example.com:443".to_owned(),
        ] {
            assert!(belongs_to(&good, &site(), &public(), serves), "{good}");
        }
    }

    #[test]
    fn addresses_of_others_are_not_the_pages_own() {
        let other = "zzzzzzzzzzzzzzzzzzzzzz";
        for bad in [
            format!("https://evil.example/p/{TOKEN}/"),
            format!("https://api.example.com/p/{TOKEN}/"),
            format!("https://pages.example.net/p/{other}/"),
            format!("https://pages.example.net/p/{TOKEN}x/"),
            format!("https://pages.example.net/p/{TOKEN}/../{other}/"),
            format!("https://pages.example.net/p/{TOKEN}/.%2E/{other}/"),
            format!("https://pages.example.net/p/{TOKEN}/..\\{other}/"),
            format!("https://pages.example.net/?/p/{TOKEN}/"),
            "https://pages.example.net/s/report/".to_owned(),
            "https://s-other.pages.example.net/".to_owned(),
            "https://other.pages.example.net/".to_owned(),
            "https://report.pages.example.net.evil.example/".to_owned(),
            "https://report.pages.example.net@evil.example/".to_owned(),
            "https://evil.example\\@report.pages.example.net/".to_owned(),
            "https://user@report.pages.example.net/".to_owned(),
            "https://report.pages.example.net:8443/".to_owned(),
            "https://report.pages.example.net:+443/".to_owned(),
            "https://reports.example.com:8443/".to_owned(),
            "https://user@reports.example.com/".to_owned(),
            "https://reports.example.com.evil.example/".to_owned(),
            "https://other.example.com/".to_owned(),
            "ftp://report.pages.example.net/".to_owned(),
            "//report.pages.example.net/".to_owned(),
            "https:report.pages.example.net/".to_owned(),
        ] {
            assert!(!belongs_to(&bad, &site(), &public(), serves), "{bad}");
        }
        let unlisted = Site { slug: None, ..site() };
        assert!(!belongs_to("https://report.pages.example.net/", &unlisted, &public(), serves));
    }

    #[test]
    fn every_loopback_name_is_the_shared_address_of_a_local_server() {
        let local = hosts("http://localhost:8080", "http://localhost:8080", "localhost");
        for host in ["localhost:8080", "127.0.0.1:8080", "[::1]:8080"] {
            assert!(belongs_to(&format!("http://{host}/p/{TOKEN}/"), &site(), &local, serves), "{host}");
        }
        assert!(belongs_to("http://report.localhost:8080/", &site(), &local, serves));
        assert!(!belongs_to(&format!("http://localhost/p/{TOKEN}/"), &site(), &local, serves));
    }

    #[test]
    fn where_pages_have_no_hosts_of_their_own_a_slug_is_a_path() {
        let plain = hosts("http://192.0.2.1:8080", "http://192.0.2.1:8080", "192.0.2.1");
        assert!(belongs_to("http://192.0.2.1:8080/s/report/a.html", &site(), &plain, serves));
        assert!(!belongs_to("http://192.0.2.1:8080/s/reports/", &site(), &plain, serves));
    }
}
