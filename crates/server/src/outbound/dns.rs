//! Looks up the DNS records of custom domains, with the system's or the configured DNS servers. Only names are looked up:
//! nothing is ever fetched from the addresses. Lookups are bounded in time, number and size, and nothing is cached here, so
//! that an owner who just entered a record is not told an old answer.

use crate::config::DnsSettings;
use anyhow::{Context, Result};
use async_trait::async_trait;
use dropleaf_app::{DnsFailure, DnsLookup};
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use hickory_resolver::system_conf::read_system_conf;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Lookups at the same time; more wait.
const CONCURRENT_LOOKUPS: usize = 16;
/// The longest chain of CNAME records that is followed.
const CHAIN_MOST: usize = 8;
/// Records of one answer that are read.
const RECORDS_MOST: usize = 32;
/// Bytes of one TXT record that are read.
const TXT_BYTES: usize = 512;
/// The longest wait until a lookup may begin. It does not count as time that a DNS server takes.
const PERMIT_WAIT: Duration = Duration::from_secs(10);

/// A stub resolver.
#[derive(Debug)]
pub(crate) struct DnsClient {
    resolver: TokioResolver,
    permits: Semaphore,
    timeout: Duration,
}

impl DnsClient {
    pub(crate) fn new(settings: &DnsSettings) -> Result<Self> {
        let servers = if settings.servers.is_empty() {
            read_system_conf().context("cannot read the system's DNS servers")?.0.name_servers
        } else {
            settings.servers.iter().map(|at| name_server(*at)).collect()
        };
        // Names are always complete, so there is no search list.
        let config = ResolverConfig::from_name_servers(servers);
        let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        let options: &mut ResolverOpts = builder.options_mut();
        options.timeout = settings.timeout / 2;
        options.attempts = 1;
        options.cache_size = 0;
        options.use_hosts_file = ResolveHosts::Never;
        Ok(Self {
            resolver: builder.build()?,
            permits: Semaphore::new(CONCURRENT_LOOKUPS),
            timeout: settings.timeout,
        })
    }

    /// The records of one type at a name. Empty if there are none.
    async fn records(&self, name: &Name, kind: RecordType) -> Result<Vec<Record>, DnsFailure> {
        let temporary = |why: String| DnsFailure::Temporary(format!("{name} {kind}: {why}"));
        let permit = tokio::time::timeout(PERMIT_WAIT, self.permits.acquire()).await;
        let Ok(Ok(_permit)) = permit else {
            return Err(temporary("too many lookups at the same time".into()));
        };
        let work = async {
            match self.resolver.lookup(name.clone(), kind).await {
                Ok(found) => Ok(found.answers().iter().take(RECORDS_MOST).cloned().collect()),
                Err(error) if is_empty_answer(&error) => Ok(Vec::new()),
                Err(error) => Err(error.to_string()),
            }
        };
        let answer = tokio::time::timeout(self.timeout, work).await;
        answer.unwrap_or_else(|_| Err("no answer in time".into())).map_err(temporary)
    }
}

/// A server without a port listens on 53.
fn name_server(at: SocketAddr) -> NameServerConfig {
    let mut server = NameServerConfig::udp_and_tcp(at.ip());
    for connection in &mut server.connections {
        let connection: &mut ConnectionConfig = connection;
        connection.port = at.port();
    }
    server
}

/// Whether an error says that there are no such records. SERVFAIL and all others say nothing about the name.
fn is_empty_answer(error: &NetError) -> bool {
    match error {
        NetError::Dns(DnsError::NoRecordsFound(none)) => {
            matches!(none.response_code, ResponseCode::NoError | ResponseCode::NXDomain)
        }
        _ => false,
    }
}

/// A name that is complete, whatever it ends with. What is no name has no records.
fn complete(name: &str) -> Option<Name> {
    let mut name = Name::from_ascii(name).ok()?;
    name.set_fqdn(true);
    Some(name)
}

/// In lower case without the trailing dot.
fn written(name: &Name) -> String {
    let text = name.to_ascii().to_ascii_lowercase();
    text.strip_suffix('.').unwrap_or(&text).to_owned()
}

#[async_trait]
impl DnsLookup for DnsClient {
    async fn cname_chain(&self, name: &str) -> Result<Vec<String>, DnsFailure> {
        let Some(mut at) = complete(name) else { return Ok(Vec::new()) };
        let mut chain: Vec<String> = Vec::new();
        while chain.len() < CHAIN_MOST {
            let found = self.records(&at, RecordType::CNAME).await?;
            let next = found.into_iter().find_map(|record| match record.data {
                RData::CNAME(target) if record.name == at => Some(target.0),
                _ => None,
            });
            let Some(next) = next else { break };
            let text = written(&next);
            if chain.contains(&text) {
                break;
            }
            chain.push(text);
            at = next;
        }
        Ok(chain)
    }

    async fn txt(&self, name: &str) -> Result<Vec<String>, DnsFailure> {
        let Some(name) = complete(name) else { return Ok(Vec::new()) };
        let found = self.records(&name, RecordType::TXT).await?;
        let text = |record: Record| match record.data {
            // A long text is sent in several parts.
            RData::TXT(txt) => {
                let bytes: Vec<u8> =
                    txt.txt_data.iter().flat_map(|part| part.iter().copied()).take(TXT_BYTES).collect();
                Some(String::from_utf8_lossy(&bytes).into_owned())
            }
            _ => None,
        };
        Ok(found.into_iter().filter_map(text).collect())
    }

    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, DnsFailure> {
        let Some(name) = complete(name) else { return Ok(Vec::new()) };
        let (v4, v6) =
            tokio::join!(self.records(&name, RecordType::A), self.records(&name, RecordType::AAAA));
        let address = |record: Record| match record.data {
            RData::A(ip) => Some(IpAddr::V4(ip.0)),
            RData::AAAA(ip) => Some(IpAddr::V6(ip.0)),
            _ => None,
        };
        Ok(v4?.into_iter().chain(v6?).filter_map(address).collect())
    }
}
