//! Looks up DNS records. The resolver is implemented in the server.

use async_trait::async_trait;
use std::fmt::Debug;
use std::net::IpAddr;

/// Why a question was not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DnsFailure {
    /// SERVFAIL, a timeout, no connection: nothing is known, and the same question may be answered later.
    Temporary(String),
}

/// Asks DNS servers about a name. A name that does not exist, or has no such records, is an empty answer, not a failure.
#[async_trait]
pub trait DnsLookup: Debug + Send + Sync {
    /// The chain of CNAME targets from this name (at most 8), in lower case without trailing dots.
    async fn cname_chain(&self, name: &str) -> Result<Vec<String>, DnsFailure>;
    async fn txt(&self, name: &str) -> Result<Vec<String>, DnsFailure>;
    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, DnsFailure>;
}
