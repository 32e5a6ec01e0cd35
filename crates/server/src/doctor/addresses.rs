//! Looks up the server's own names, and finds out whether their addresses belong to this machine.

use super::Doctor;
use crate::config::Resolved;
use crate::outbound::DnsClient;
use crate::serve_lock;
use dropleaf_app::DnsLookup;
use dropleaf_core::health::{self, Addresses, Finding, NameFacts, Reachability, SelfCheck, WildcardFacts};
use dropleaf_core::host::Origin;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;
use tokio::net::TcpStream;

const CONNECT: Duration = Duration::from_secs(2);

/// The server's names with their addresses.
#[derive(Debug, Default)]
pub(super) struct Names {
    own: Vec<NameFacts>,
    /// A random host of a page, and its addresses.
    pub(super) random: Option<(String, Addresses)>,
}

impl Names {
    /// Where a host of ours leads.
    pub(super) fn addresses(&self, host: &str) -> Vec<IpAddr> {
        let found = self.own.iter().find(|name| name.host == host);
        found.and_then(|name| name.addresses.clone().ok()).unwrap_or_default()
    }

    pub(super) fn findings(&self, resolved: &Resolved) -> Vec<Finding> {
        let hosts = &resolved.hosts;
        let wildcard = WildcardFacts {
            site_host: hosts.site_host.clone(),
            is_needed: hosts.isolated,
            is_local: hosts.site.is_loopback(),
            random: self
                .random
                .as_ref()
                .map_or_else(|| Err("no time was left".to_owned()), |(_, found)| found.clone()),
            own: self.own.iter().filter_map(|name| name.addresses.clone().ok()).flatten().collect(),
        };
        vec![health::dns(&self.own), health::wildcard_dns(&wildcard)]
    }
}

impl Doctor {
    pub(super) async fn look_up_names(&self) -> Names {
        let hosts = &self.resolved.hosts;
        let client = DnsClient::new(&self.resolved.dns).ok();
        let agents = hosts.agents.as_ref().map(|agents| ("agents_url", agents));
        let mut origins = vec![("base_url", &hosts.base)];
        origins
            .extend([("site_url", &hosts.site)].into_iter().filter(|(_, site)| site.host != hosts.base.host));
        origins.extend(agents);
        let own =
            origins.into_iter().map(|(setting, origin)| self.name_facts(client.as_ref(), setting, origin));
        let label = self.minter.bytes::<16>();
        let random = format!("s-{}.{}", dropleaf_core::secret::letters(&label), hosts.site_host);
        let wildcard = async {
            let origin = Origin { host: random.clone(), ..hosts.site.clone() };
            (random.clone(), self.look_up(client.as_ref(), &origin).await)
        };
        let (own, random) = tokio::join!(futures_util::future::join_all(own), wildcard);
        Names { own, random: hosts.isolated.then_some(random) }
    }

    async fn name_facts(
        &self,
        client: Option<&DnsClient>,
        setting: &'static str,
        origin: &Origin,
    ) -> NameFacts {
        NameFacts {
            setting,
            host: origin.host.clone(),
            is_fixed: origin.is_ip() || origin.is_loopback(),
            addresses: self.look_up(client, origin).await,
        }
    }

    /// By the configured DNS servers. Without any, names in /etc/hosts count too.
    async fn look_up(&self, client: Option<&DnsClient>, origin: &Origin) -> Addresses {
        let host = origin.host.trim_matches(['[', ']']);
        if let Ok(ip) = host.parse() {
            return Ok(vec![ip]);
        }
        if origin.is_loopback() {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        let asked = match client {
            Some(client) => {
                client.addresses(host).await.map_err(|_| "the DNS servers did not answer".to_owned())
            }
            None => Err("no DNS server is known".to_owned()),
        };
        match asked {
            Ok(found) if !found.is_empty() => Ok(found),
            other if !self.resolved.dns.servers.is_empty() => other,
            other => match tokio::net::lookup_host((host, origin.port)).await {
                Ok(found) => Ok(found.map(|at| at.ip()).collect()),
                Err(_) => other,
            },
        }
    }

    /// Whether a server listens where the settings say.
    pub(super) async fn is_running(&self) -> bool {
        if self.is_server() {
            return true;
        }
        let resolved = &self.resolved;
        if serve_lock::held(&resolved.data_dir, &resolved.database_url) == Some((true, true)) {
            return true;
        }
        let Ok(listen) = resolved.config.public_listen() else { return false };
        let connected = tokio::time::timeout(CONNECT, TcpStream::connect(listen.local_authority())).await;
        matches!(connected, Ok(Ok(_)))
    }

    pub(super) fn reachability(&self, names: &Names, self_check: SelfCheck) -> Reachability {
        let (resolved, hosts) = (&self.resolved, &self.resolved.hosts);
        let listen = resolved.config.public_listen().ok();
        let addresses = names.addresses(&hosts.base.host);
        Reachability {
            listen: listen.as_ref().map(|it| format!("{}:{}", it.host, it.port)).unwrap_or_default(),
            listens_on_loopback: listen.is_some_and(|listen| is_loopback(&listen.host)),
            url: hosts.base.url(),
            is_local: hosts.base.is_loopback(),
            ends_tls: self.ends_tls(),
            has_address: addresses.iter().any(|ip| is_own(*ip)),
            addresses,
            self_check,
        }
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Only addresses of this machine can be bound.
fn is_own(ip: IpAddr) -> bool {
    UdpSocket::bind(SocketAddr::new(ip, 0)).is_ok()
}
