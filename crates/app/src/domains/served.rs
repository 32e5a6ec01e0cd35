//! The verified custom domains, all held in memory: a request for an unknown name, over TLS or HTTP, must cost no storage
//! access. Every node holds the same map. It is reloaded as a whole when the revision in the database has changed, which is
//! checked after every local change, on notification by another node, and every two seconds.

use crate::app::App;
use crate::infra::moment::Moment;
use crate::viewing::pages::PageKey;
use dropleaf_core::Result;
use dropleaf_core::host::Hosts;
use dropleaf_store::custom_domains::ServedDomain;
use dropleaf_store::revisions;
use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::{Mutex, Notify};

/// How often the revision is read: one small query, which finds changes of other processes whose notification was lost or,
/// on SQLite, never sent.
const CHECK_EVERY: Duration = Duration::from_secs(2);
/// The longest host name.
const LONGEST_NAME: usize = 253;

/// A verified name and the page that it serves.
#[derive(Debug, PartialEq, Eq)]
pub struct ServedSite {
    /// In lower-case ASCII.
    pub hostname: Box<str>,
    pub token: PageKey,
}

/// An entry of the map, found by its name. With a name of 24 bytes it takes about 160 bytes: 104 for the page with its
/// reference counts, 24 for the name, and 9 for a slot of the table, of which up to half are empty. Both allocations round up
/// to 16 bytes. So 10,000 names take 1.6 MB, and twice that while they are reloaded.
#[derive(Debug)]
struct Entry(Arc<ServedSite>);

impl Borrow<str> for Entry {
    fn borrow(&self) -> &str {
        &self.0.hostname
    }
}

impl Hash for Entry {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hostname.hash(state);
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.0.hostname == other.0.hostname
    }
}

impl Eq for Entry {}

/// The map of this node.
#[derive(Debug, Default)]
pub(crate) struct ServedDomains {
    names: RwLock<HashSet<Entry>>,
    /// The revision of the names. Locked while they are reloaded, so that an older state never replaces a newer one.
    revision: Mutex<Option<i64>>,
    changed: Notify,
    /// When the names were last known to be complete.
    confirmed: RwLock<Option<Moment>>,
}

impl ServedDomains {
    /// Has the revision checked at once, by the task that follows it.
    pub(crate) fn request_check(&self) {
        self.changed.notify_one();
    }

    /// Compares without case, ignores a trailing dot and does not allocate.
    fn find(&self, host: &str) -> Option<Arc<ServedSite>> {
        let host = host.strip_suffix('.').unwrap_or(host);
        let mut buffer = [0; LONGEST_NAME];
        let name = buffer.get_mut(..host.len())?;
        name.copy_from_slice(host.as_bytes());
        name.make_ascii_lowercase();
        let name = std::str::from_utf8(name).ok()?;
        let names = self.names.read().unwrap_or_else(PoisonError::into_inner);
        names.get(name).map(|entry| Arc::clone(&entry.0))
    }

    /// When the names were last known to be complete, and so the database answered. Checked every two seconds.
    pub(crate) fn confirmed_at(&self) -> Option<Moment> {
        *self.confirmed.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn confirm(&self, at: Moment) {
        *self.confirmed.write().unwrap_or_else(PoisonError::into_inner) = Some(at);
    }

    fn replace(&self, names: HashSet<Entry>) {
        let mut held = self.names.write().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *held, names);
        drop(held);
        // Freeing thousands of entries must not block lookups.
        drop(old);
    }

    fn list(&self) -> Vec<String> {
        let names = self.names.read().unwrap_or_else(PoisonError::into_inner);
        names.iter().map(|entry| entry.0.hostname.to_string()).collect()
    }
}

/// The entries for these rows. A name that has become one of ours since it was verified, because the settings changed, is
/// left out.
fn entries(rows: Vec<ServedDomain>, hosts: &Hosts) -> HashSet<Entry> {
    let entry = |row: ServedDomain| {
        if hosts.covers(&row.hostname) {
            tracing::warn!(hostname = row.hostname, "custom domain not served: it is a name of this server");
            return None;
        }
        let token = PageKey::token(&row.site_token)?;
        Some(Entry(Arc::new(ServedSite { hostname: row.hostname.into_boxed_str(), token })))
    };
    rows.into_iter().filter_map(entry).collect()
}

impl App {
    /// The page of a verified custom domain. `host` may be in any case and end with a dot, and has no port.
    pub fn served_domain(&self, host: &str) -> Option<Arc<ServedSite>> {
        self.caches.served_domains.find(host)
    }

    pub fn is_served_domain(&self, host: &str) -> bool {
        self.served_domain(host).is_some()
    }

    /// Every verified name, in no particular order.
    pub fn served_domain_names(&self) -> Vec<String> {
        self.caches.served_domains.list()
    }

    /// Reloads the names if their revision has changed. If that fails, the names stay as they are.
    pub async fn served_domains_changed(&self) -> Result<()> {
        let domains = &self.caches.served_domains;
        let mut known = domains.revision.lock().await;
        let at = Moment::now(&*self.clock);
        // Read before the names: what changes in between is noticed by the next check.
        let revision = self.store.find_revision(revisions::DOMAINS).await?;
        if *known != Some(revision) {
            let names = entries(self.store.list_served_domains().await?, &self.hosts);
            tracing::debug!(revision, names = names.len(), "custom domains loaded");
            domains.replace(names);
            *known = Some(revision);
            self.order_certificates_soon();
        }
        domains.confirm(at);
        Ok(())
    }

    /// Follows changes of other nodes and processes, without end.
    pub async fn follow_served_domains(&self) {
        let mut is_failing = false;
        loop {
            let changed = self.caches.served_domains.changed.notified();
            let _ = tokio::time::timeout(CHECK_EVERY, changed).await;
            let outcome = self.served_domains_changed().await;
            if let (Err(error), false) = (&outcome, is_failing) {
                tracing::warn!(%error, "custom domains not reloaded, will retry");
            }
            is_failing = outcome.is_err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropleaf_core::host::Origin;

    fn hosts() -> Hosts {
        let origin = Origin::parse("https://pages.example.net").unwrap();
        Hosts::new(origin.clone(), origin, "pages.example.net".into(), true)
    }

    fn row(hostname: &str) -> ServedDomain {
        ServedDomain { hostname: hostname.into(), site_token: "0Qm1Yv2nT3uW4xZ5aB6cD7".into() }
    }

    fn serving(names: &[&str]) -> ServedDomains {
        let domains = ServedDomains::default();
        domains.replace(entries(names.iter().map(|name| row(name)).collect(), &hosts()));
        domains
    }

    #[test]
    fn a_name_is_found_in_any_case_and_with_a_trailing_dot() {
        let domains = serving(&["reports.example.com", "example.org"]);
        for host in [
            "reports.example.com",
            "Reports.EXAMPLE.com",
            "reports.example.com.",
            "EXAMPLE.ORG",
            "example.org.",
        ] {
            assert!(domains.find(host).is_some(), "{host}");
        }
        let long = "a".repeat(LONGEST_NAME + 1);
        for host in [
            "",
            ".",
            "reports.example.com..",
            "example.com",
            "a.reports.example.com",
            "reports.example.com:443",
            "user@reports.example.com",
            "réports.example.com",
            long.as_str(),
        ] {
            assert!(domains.find(host).is_none(), "{host}");
        }
    }

    #[test]
    fn names_of_this_server_are_never_custom_domains() {
        let domains = serving(&["pages.example.net", "a.b.pages.example.net", "mypages.example.net"]);
        assert_eq!(domains.list(), ["mypages.example.net"]);
    }

    #[test]
    fn an_entry_is_as_small_as_stated() {
        assert_eq!(size_of::<ServedSite>() + 2 * size_of::<usize>(), 104);
        assert_eq!(size_of::<Entry>(), 8);
    }
}
