//! Maps a `Host` header to the part of the service it addresses. All names come from configuration, never from requests.

use crate::origin::{default_port, split_port};
use crate::slug::Slug;
use std::net::IpAddr;

pub use crate::origin::{Origin, written_origin};

/// The part of the service that a host name addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostRole<'a> {
    /// The API, and also the shared page address when both have the same host.
    Api {
        pages: bool,
    },
    /// Only the shared page address.
    Pages,
    /// A site's own host, with its label.
    Isolated(&'a str),
    /// The host of a public page, with its slug.
    Slug(&'a str),
    /// The entry point for agents that pay.
    Agents,
    Unknown,
}

/// All host names of the service.
#[derive(Debug, Clone)]
pub struct Hosts {
    pub base: Origin,
    pub site: Origin,
    pub site_host: String,
    /// Whether each site has its own host below `site_host`.
    pub isolated: bool,
    /// The host where agents pay and publish, in addition to the API.
    pub agents: Option<Origin>,
    api: Vec<String>,
    pages: Vec<String>,
    below: String,
}

impl Hosts {
    pub fn new(base: Origin, site: Origin, site_host: String, wants_isolation: bool) -> Self {
        let isolated = wants_isolation && !site.is_ip() && site_host.parse::<IpAddr>().is_err();
        let below = format!(".{site_host}");
        Self {
            api: aliases(&base),
            pages: aliases(&site),
            agents: None,
            base,
            site,
            site_host,
            isolated,
            below,
        }
    }

    /// Adds an entry point for agents. `None` when its host name already has another meaning.
    pub fn with_agents(mut self, agents: Origin) -> Option<Self> {
        let authority = format!("{}:{}", agents.host, agents.port);
        let free = match self.role_of(&authority) {
            HostRole::Unknown => true,
            // A label below the pages' host that is not a valid slug, so no page can have it.
            HostRole::Slug(label) => Slug::parse(label).is_err(),
            HostRole::Api { .. } | HostRole::Pages | HostRole::Isolated(_) | HostRole::Agents => false,
        };
        self.agents = Some(agents);
        free.then_some(self)
    }

    /// Matches a `Host` header or `:authority`.
    pub fn role_of<'a>(&self, authority: &'a str) -> HostRole<'a> {
        let Some((host, port)) = split_port(authority) else { return HostRole::Unknown };
        let host = host.strip_suffix('.').unwrap_or(host);
        let is = |names: &[String], origin: &Origin| {
            port.unwrap_or_else(|| default_port(origin.scheme)) == origin.port
                && names.iter().any(|n| n.eq_ignore_ascii_case(host))
        };
        if is(&self.api, &self.base) {
            return HostRole::Api { pages: is(&self.pages, &self.site) };
        }
        if is(&self.pages, &self.site) {
            return HostRole::Pages;
        }
        if let Some(agents) = &self.agents
            && is(std::slice::from_ref(&agents.host), agents)
        {
            return HostRole::Agents;
        }
        if !self.isolated || port.unwrap_or_else(|| default_port(self.site.scheme)) != self.site.port {
            return HostRole::Unknown;
        }
        let label_len = host.len().saturating_sub(self.below.len());
        let (Some(label), Some(rest)) = (host.get(..label_len), host.get(label_len..)) else {
            return HostRole::Unknown;
        };
        let plain = label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if !rest.eq_ignore_ascii_case(&self.below) || label.is_empty() || !plain {
            return HostRole::Unknown;
        }
        if label.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("s-")) {
            HostRole::Isolated(label)
        } else {
            HostRole::Slug(label)
        }
    }

    /// The host name that a request without a role here may have as a custom domain: pages are on one port only.
    pub fn domain_of<'a>(&self, authority: &'a str) -> Option<&'a str> {
        let (host, port) = split_port(authority)?;
        (port.unwrap_or_else(|| default_port(self.site.scheme)) == self.site.port).then_some(host)
    }

    /// Whether this is the host name of the API, of the pages or of the entry point for agents, on whatever port.
    pub fn is_configured(&self, name: &str) -> bool {
        let agents = self.agents.iter().map(|agents| &agents.host);
        [&self.base.host, &self.site.host].into_iter().chain(agents).any(|own| own.eq_ignore_ascii_case(name))
    }

    /// Whether a host is one of ours, on any port. Loopback hosts belong to the whole machine, so there only our own port counts.
    pub fn is_ours(&self, host: &str, port: u16) -> bool {
        let at = |origin: &Origin| !origin.is_loopback() || port == origin.port;
        let is = |names: &[String], origin| at(origin) && names.iter().any(|name| is_same_host(name, host));
        let start = host.len().checked_sub(self.below.len()).and_then(|at| host.get(at..));
        let is_below = self.isolated && start.is_some_and(|rest| rest.eq_ignore_ascii_case(&self.below));
        let is_agents =
            self.agents.as_ref().is_some_and(|agents| is(std::slice::from_ref(&agents.host), agents));
        is(&self.api, &self.base) || is(&self.pages, &self.site) || is_agents || (is_below && at(&self.site))
    }

    /// Whether a name is one of ours or below one, on whatever port.
    pub fn covers(&self, name: &str) -> bool {
        let own = [&self.base.host, &self.site.host, &self.site_host];
        own.into_iter().chain(self.agents.as_ref().map(|agents| &agents.host)).any(|own| {
            let rest = name.len().checked_sub(own.len()).and_then(|at| name.split_at_checked(at));
            rest.is_some_and(|(before, end)| {
                end.eq_ignore_ascii_case(own) && (before.is_empty() || before.ends_with('.'))
            })
        })
    }

    /// The root of a site at a custom domain.
    pub fn domain_url(&self, hostname: &str) -> String {
        format!("{}/", self.site.url_of(hostname))
    }

    pub fn page_url(&self, token: &str) -> String {
        format!("{}/p/{token}/", self.site.url())
    }

    /// The URL of a public page: its own host, or a path where subdomains are impossible.
    pub fn slug_url(&self, slug: &str) -> String {
        if self.isolated {
            format!("{}/", self.site.url_of(&format!("{slug}.{}", self.site_host)))
        } else {
            format!("{}/s/{slug}/", self.site.url())
        }
    }

    /// The origin of a site's own host.
    pub fn isolated_origin(&self, label: &str) -> String {
        self.site.url_of(&format!("{label}.{}", self.site_host))
    }
}

/// Whether two names denote the same host, ignoring case and the notation of IP addresses.
fn is_same_host(a: &str, b: &str) -> bool {
    let ip = |name: &str| name.trim_matches(['[', ']']).parse::<IpAddr>().ok();
    a.eq_ignore_ascii_case(b) || ip(a).is_some_and(|a| ip(b) == Some(a))
}

/// The names for this origin: for a loopback name, the other loopback names too.
fn aliases(origin: &Origin) -> Vec<String> {
    let mut names = vec![origin.host.clone()];
    if ["localhost", "127.0.0.1", "[::1]"].contains(&origin.host.as_str()) {
        names.extend(
            ["localhost", "127.0.0.1", "[::1]"].into_iter().filter(|n| *n != origin.host).map(str::to_owned),
        );
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn local() -> Hosts {
        let origin = Origin::parse("http://localhost:8080").unwrap();
        Hosts::new(origin.clone(), origin, "localhost".into(), true)
    }

    fn public() -> Hosts {
        let base = Origin::parse("https://api.example.com").unwrap();
        let site = Origin::parse("https://pages.example.net/").unwrap();
        Hosts::new(base, site, "pages.example.net".into(), true)
    }

    #[test]
    fn loopback_names_are_one_face() {
        for host in ["localhost:8080", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]:8080", "localhost.:8080"] {
            assert_eq!(local().role_of(host), HostRole::Api { pages: true }, "{host}");
        }
        for host in [
            "localhost",
            "localhost:81",
            "example.com:8080",
            "",
            ":8080",
            "localhost:x",
            "a.b.localhost:8080",
        ] {
            assert_eq!(local().role_of(host), HostRole::Unknown, "{host}");
        }
    }

    #[test]
    fn pages_and_api_are_apart_on_two_domains() {
        assert_eq!(public().role_of("api.example.com"), HostRole::Api { pages: false });
        assert_eq!(public().role_of("api.example.com:443"), HostRole::Api { pages: false });
        assert_eq!(public().role_of("pages.example.net"), HostRole::Pages);
        assert_eq!(public().role_of("s-abc.pages.example.net"), HostRole::Isolated("s-abc"));
        assert_eq!(public().role_of("report.pages.example.net"), HostRole::Slug("report"));
        assert_eq!(public().role_of("evilpages.example.net"), HostRole::Unknown);
    }

    #[test]
    fn agents_host_serves_nothing_else() {
        let with_agents = |hosts: Hosts, url: &str| hosts.with_agents(Origin::parse(url).unwrap());
        let public_agents = with_agents(public(), "https://agents.example.com").unwrap();
        for host in ["agents.example.com", "AGENTS.example.com:443", "agents.example.com."] {
            assert_eq!(public_agents.role_of(host), HostRole::Agents, "{host}");
        }
        assert_eq!(public_agents.role_of("agents.example.com:8443"), HostRole::Unknown);
        assert_eq!(public_agents.role_of("api.example.com"), HostRole::Api { pages: false });
        assert!(public_agents.is_ours("agents.example.com", 1));
        let local_agents = with_agents(local(), "http://agents.localhost:8080").unwrap();
        assert_eq!(local_agents.role_of("agents.localhost:8080"), HostRole::Agents);
        assert_eq!(local_agents.role_of("report.localhost:8080"), HostRole::Slug("report"));
        for taken in [
            "https://api.example.com",
            "https://pages.example.net",
            "https://report.pages.example.net",
            "https://s-abc.pages.example.net",
        ] {
            assert!(with_agents(public(), taken).is_none(), "{taken}");
        }
        assert!(with_agents(local(), "http://127.0.0.1:8080").is_none());
    }

    #[test]
    fn custom_domains_are_on_the_port_of_the_pages() {
        for authority in ["reports.example.com", "reports.example.com:443"] {
            assert_eq!(public().domain_of(authority), Some("reports.example.com"));
        }
        assert_eq!(local().domain_of("reports.example.com:8080"), Some("reports.example.com"));
        assert_eq!(local().domain_of("reports.example.com"), None);
        for authority in
            ["reports.example.com:80", "reports.example.com:8443", "reports.example.com:x", "[::1"]
        {
            assert_eq!(public().domain_of(authority), None, "{authority}");
        }
        assert_eq!(public().domain_url("reports.example.com"), "https://reports.example.com/");
        assert_eq!(local().domain_url("reports.example.com"), "http://reports.example.com:8080/");
    }

    #[test]
    fn configured_names_are_those_of_the_settings_and_none_below_them() {
        let hosts = public().with_agents(Origin::parse("https://agents.example.com").unwrap()).unwrap();
        for name in ["api.example.com", "pages.example.net", "PAGES.example.net", "agents.example.com"] {
            assert!(hosts.is_configured(name), "{name}");
        }
        for name in ["report.pages.example.net", "s-abc.pages.example.net", "example.com", ""] {
            assert!(!hosts.is_configured(name), "{name}");
        }
    }

    #[test]
    fn urls_leave_out_default_ports() {
        assert_eq!(public().page_url("T"), "https://pages.example.net/p/T/");
        assert_eq!(public().slug_url("r"), "https://r.pages.example.net/");
        assert_eq!(local().slug_url("r"), "http://r.localhost:8080/");
    }

    #[test]
    fn an_ip_address_has_no_hosts_below_it() {
        let origin = Origin::parse("http://192.0.2.1:8080").unwrap();
        let hosts = Hosts::new(origin.clone(), origin, "192.0.2.1".into(), true);
        assert!(!hosts.isolated);
        assert_eq!(hosts.slug_url("r"), "http://192.0.2.1:8080/s/r/");
    }

    proptest! {
        #[test]
        fn matching_a_host_never_panics(raw in ".*") {
            let _ = local().role_of(&raw);
        }
    }
}
