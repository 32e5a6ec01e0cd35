//! Finds the addresses that a name must have if it cannot have a CNAME record.

use super::view::DomainView;
use crate::app::App;
use std::net::IpAddr;
use std::time::Duration;

/// A person waits for the page with the addresses, which is useful without them too.
const TIMEOUT: Duration = Duration::from_secs(1);
/// More are not worth entering.
const MOST: usize = 8;

impl App {
    /// The addresses of this server, for the records of an apex. Empty for other names, and if DNS does not answer soon.
    pub async fn find_server_addresses(&self, view: &DomainView) -> Vec<IpAddr> {
        let Some(dns) = self.dns.as_ref().filter(|_| view.domain.hostname.is_apex()) else {
            return Vec::new();
        };
        let answer = tokio::time::timeout(TIMEOUT, dns.addresses(&view.cname_target)).await;
        let mut found = answer.ok().and_then(Result::ok).unwrap_or_default();
        found.sort_unstable();
        found.truncate(MOST);
        found
    }
}
