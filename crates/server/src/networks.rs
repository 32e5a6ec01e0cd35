//! Tracks what each client network uses of this server: open connections, memory for unsent responses, and large request
//! heads. A network is an IPv4 address; for IPv6, connections are counted per /64 and per /48, the rest per /48, which gets
//! twice as much as an address.

use crate::large_heads::CONNECTIONS_OF_NETWORK;
use crate::send_budget::{SendBudget, Share};
use dropleaf_core::network;
use ipnet::IpNet;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Semaphore;

const CLIENT_PREFIX: u8 = 64;
const CUSTOMER_PREFIX: u8 = 48;

#[derive(Debug)]
pub(crate) struct Networks {
    /// Connections of one client network; a /48 may have twice as many.
    cap: usize,
    /// Trusted proxies, which serve many clients, and networks without limits.
    uncapped: Vec<IpNet>,
    budget: SendBudget,
    /// The share of all uncapped networks together.
    whole: Share,
    in_use: Mutex<HashMap<IpNet, NetworkUse>>,
}

#[derive(Debug, Default)]
struct NetworkUse {
    connections: usize,
    share: Option<(Share, Arc<Semaphore>)>,
}

/// One connection's place in the counts of its networks, released on drop.
#[derive(Debug)]
pub(crate) struct CountedConnection {
    networks: Arc<Networks>,
    /// The networks that were counted; empty for those without limits.
    counted: Vec<IpNet>,
    pub(crate) share: Share,
    /// The limit of large heads for its network.
    pub(crate) large_heads: Option<Arc<Semaphore>>,
}

impl Networks {
    pub(crate) fn new(cap: usize, uncapped: Vec<IpNet>, budget: SendBudget) -> Arc<Self> {
        let whole = budget.whole();
        Arc::new(Self { cap: cap.max(1), uncapped, budget, whole, in_use: Mutex::default() })
    }

    /// Counts one more connection of this address. `None` if its network has reached its limit.
    pub(crate) fn count(self: &Arc<Self>, ip: IpAddr) -> Option<CountedConnection> {
        if network::is_in(ip, &self.uncapped) {
            let (networks, share) = (Arc::clone(self), self.whole.clone());
            return Some(CountedConnection { networks, counted: Vec::new(), share, large_heads: None });
        }
        let customer = network::network_of(ip, CUSTOMER_PREFIX);
        let mut counted = vec![customer];
        if matches!(customer, IpNet::V6(_)) {
            counted.push(network::network_of(ip, CLIENT_PREFIX));
        }
        let mut in_use = self.lock();
        for net in &counted {
            let now = in_use.get(net).map_or(0, |in_use| in_use.connections);
            if now >= self.cap_of(*net) {
                return None;
            }
        }
        for net in &counted {
            in_use.entry(*net).or_default().connections += 1;
        }
        let times = counted.len();
        let new = || (self.budget.share(times), Arc::new(Semaphore::new(CONNECTIONS_OF_NETWORK * times)));
        let (share, large_heads) = in_use.entry(customer).or_default().share.get_or_insert_with(new).clone();
        drop(in_use);
        Some(CountedConnection { networks: Arc::clone(self), counted, share, large_heads: Some(large_heads) })
    }

    fn cap_of(&self, net: IpNet) -> usize {
        if matches!(net, IpNet::V6(v6) if v6.prefix_len() == CUSTOMER_PREFIX) {
            self.cap * 2
        } else {
            self.cap
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpNet, NetworkUse>> {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        let mut in_use = self.networks.lock();
        for net in &self.counted {
            if let Some(entry) = in_use.get_mut(net) {
                entry.connections = entry.connections.saturating_sub(1);
                if entry.connections == 0 {
                    in_use.remove(net);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn networks(cap: usize, uncapped: &[&str]) -> Arc<Networks> {
        let uncapped = uncapped.iter().map(|net| net.parse().unwrap()).collect();
        Networks::new(cap, uncapped, SendBudget::new(64 << 20))
    }

    fn count(networks: &Arc<Networks>, ip: &str) -> Option<CountedConnection> {
        networks.count(ip.parse().unwrap())
    }

    #[test]
    fn one_address_has_its_share_and_leaves_the_rest_to_others() {
        let networks = networks(2, &[]);
        let first = count(&networks, "192.0.2.1").unwrap();
        let _second = count(&networks, "::ffff:192.0.2.1").unwrap();
        assert!(count(&networks, "192.0.2.1").is_none());
        assert!(count(&networks, "192.0.2.2").is_some());
        drop(first);
        assert!(count(&networks, "192.0.2.1").is_some(), "a place that is free again");
    }

    #[test]
    fn ipv6_is_counted_by_64_and_by_48() {
        let networks = networks(2, &[]);
        let connections: Vec<_> =
            ["2001:db8:1:1::1", "2001:db8:1:1::2", "2001:db8:1:2::1", "2001:db8:1:3::1"]
                .iter()
                .map(|ip| count(&networks, ip).unwrap())
                .collect();
        assert!(count(&networks, "2001:db8:1:1::3").is_none(), "its /64 is full");
        assert!(count(&networks, "2001:db8:1:9::1").is_none(), "its /48 is full");
        assert!(count(&networks, "2001:db8:2:1::1").is_some());
        drop(connections);
        assert!(networks.lock().is_empty(), "nothing stays behind");
    }

    #[test]
    fn trusted_proxies_have_no_cap() {
        let networks = networks(1, &["10.0.0.0/8"]);
        let connections: Vec<_> = (0..50).map(|_| count(&networks, "10.0.0.1").unwrap()).collect();
        assert_eq!(connections.len(), 50);
    }
}
