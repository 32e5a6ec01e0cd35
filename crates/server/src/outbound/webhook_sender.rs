//! Sends webhooks to addresses that owners entered: only to public IP addresses, each checked right before the connection is
//! made to it, without redirects or proxies. Neither the URL nor the response is logged or stored.

use crate::config::Resolved;
use anyhow::{Context, Result};
use dropleaf_app::{DnsLookup, WebhookMessage, WebhookTransport};
use dropleaf_core::host::Hosts;
use dropleaf_core::oauth::document::is_public;
use dropleaf_core::webhook::WebhookUrl;
use futures_util::future::BoxFuture;
use http::header::CONTENT_TYPE;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Url};
use std::error::Error;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

const CONNECT: Duration = Duration::from_secs(5);
const USER_AGENT: &str = "dropleaf-webhooks";

/// Why a message was not sent, in words that its owner reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    NotPublic,
    Unknown,
    InvalidUrl,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotPublic => "its host is not on the public internet",
            Self::Unknown => "its host name has no address",
            Self::InvalidUrl => "its URL is not allowed by the settings of this server",
        })
    }
}

impl Error for Refusal {}

/// Which IP addresses may be contacted.
#[derive(Debug, Clone, Copy)]
struct AddressRule {
    allow_loopback: bool,
}

impl AddressRule {
    fn allows(self, ip: IpAddr) -> bool {
        is_public(ip) || (self.allow_loopback && ip.to_canonical().is_loopback())
    }
}

/// Resolves a name and returns its addresses only if every one of them is allowed. The connection goes to these addresses:
/// the name is not resolved again.
#[derive(Debug)]
struct CheckedResolver {
    dns: Option<Arc<dyn DnsLookup>>,
    rule: AddressRule,
}

impl CheckedResolver {
    async fn lookup(
        dns: Option<Arc<dyn DnsLookup>>,
        rule: AddressRule,
        name: &str,
    ) -> Result<Vec<SocketAddr>, Refusal> {
        let found = if name == "localhost" || name.ends_with(".localhost") {
            vec![IpAddr::from([127, 0, 0, 1])]
        } else {
            let dns = dns.ok_or(Refusal::Unknown)?;
            dns.addresses(name).await.map_err(|_| Refusal::Unknown)?
        };
        match found.as_slice() {
            [] => Err(Refusal::Unknown),
            // The port is that of the URL.
            all if all.iter().all(|ip| rule.allows(*ip)) => {
                Ok(found.into_iter().map(|ip| SocketAddr::new(ip, 0)).collect())
            }
            _ => Err(Refusal::NotPublic),
        }
    }
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (dns, rule) = (self.dns.clone(), self.rule);
        Box::pin(async move {
            let found = Self::lookup(dns, rule, name.as_str()).await?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[derive(Debug)]
pub(crate) struct WebhookSender {
    client: Client,
    rule: AddressRule,
    hosts: Hosts,
}

impl WebhookSender {
    pub(crate) fn new(resolved: &Resolved, dns: Option<Arc<dyn DnsLookup>>) -> Result<Self> {
        let set = &resolved.config.webhooks;
        let timeout = Duration::from_secs(set.timeout_seconds);
        Self::with(resolved.hosts.clone(), dns, set.allow_loopback, timeout)
    }

    fn with(
        hosts: Hosts,
        dns: Option<Arc<dyn DnsLookup>>,
        allow_loopback: bool,
        timeout: Duration,
    ) -> Result<Self> {
        let rule = AddressRule { allow_loopback };
        let client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .dns_resolver(Arc::new(CheckedResolver { dns, rule }))
            // A connection that is kept would be used again without a check.
            .pool_max_idle_per_host(0)
            .connect_timeout(CONNECT)
            .timeout(timeout)
            .user_agent(USER_AGENT)
            .build()
            .context("cannot create the HTTP client of webhooks")?;
        Ok(Self { client, rule, hosts })
    }

    /// The URL as it is contacted. It was checked when it was entered, but the settings may have changed since, and another
    /// parser may read it differently.
    fn check(&self, text: &str) -> Result<Url, Refusal> {
        let invalid = |_| Refusal::InvalidUrl;
        WebhookUrl::parse(text, &self.hosts, self.rule.allow_loopback).map_err(|_| Refusal::InvalidUrl)?;
        let url = Url::parse(text).map_err(invalid)?;
        WebhookUrl::parse(url.as_str(), &self.hosts, self.rule.allow_loopback)
            .map_err(|_| Refusal::InvalidUrl)?;
        // Names are checked when they are resolved; an address is not resolved.
        let host = url.host_str().unwrap_or_default();
        match host.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(ip) if !self.rule.allows(ip) => Err(Refusal::NotPublic),
            Ok(_) | Err(_) => Ok(url),
        }
    }

    async fn post(&self, message: &WebhookMessage) -> Result<u16, String> {
        let url = self.check(&message.url).map_err(|refusal| refusal.to_string())?;
        let request = self
            .client
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", &message.id)
            .header("webhook-timestamp", message.timestamp.to_string())
            .header("webhook-signature", &message.signature)
            .body(message.body.clone());
        // The body of the response is not read.
        request.send().await.map(|response| response.status().as_u16()).map_err(|error| why(&error))
    }
}

impl WebhookTransport for WebhookSender {
    fn send<'a>(&'a self, message: &'a WebhookMessage) -> BoxFuture<'a, Result<u16, String>> {
        Box::pin(self.post(message))
    }
}

/// The cause in our own words: the text of the library may contain the URL.
fn why(error: &reqwest::Error) -> String {
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(next) = cause {
        if let Some(refusal) = next.downcast_ref::<Refusal>() {
            return refusal.to_string();
        }
        cause = next.source();
    }
    if error.is_timeout() {
        "it did not answer in time".to_owned()
    } else if error.is_connect() {
        "it cannot be reached, or its certificate is not valid".to_owned()
    } else {
        "the connection was lost".to_owned()
    }
}

#[cfg(test)]
#[path = "webhook_sender_tests.rs"]
mod tests;
