//! Fetches a small document from an untrusted URL: from public hosts only, within seconds, without following redirects. Does
//! not interpret it.

use bytes::{Bytes, BytesMut};
use dropleaf_core::oauth::document::is_public;
use http::header;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::sync::Semaphore;

const PATIENCE: Duration = Duration::from_secs(5);
const LIMIT: usize = 64 * 1024;
/// Concurrent fetches, for signed-in people and for anonymous callers: anonymous callers can delay only each other.
const FOR_PEOPLE: usize = 8;
const FOR_STRANGERS: usize = 2;
/// How long a request waits for its turn.
const IN_LINE: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub(crate) struct Fetcher {
    allow_loopback: bool,
    people: Semaphore,
    strangers: Semaphore,
}

/// Who a document is fetched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// A signed-in person.
    Person,
    Stranger,
}

#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) bytes: Bytes,
    pub(crate) cache_control: Option<String>,
}

/// Why there is no document; for the log and, in these words, for the person who waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentError {
    Unreachable,
    NotPublic,
    /// A status other than 200, including redirects.
    Status(u16),
    TooLarge,
    Busy,
}

impl std::fmt::Display for DocumentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreachable => f.write_str("its host cannot be reached"),
            Self::NotPublic => f.write_str("its host is not on the public internet"),
            Self::Status(status) => write!(f, "its host returned status {status}"),
            Self::TooLarge => f.write_str("it is too long"),
            Self::Busy => f.write_str("this server is busy; try again"),
        }
    }
}

impl Fetcher {
    /// `allow_loopback` lets tests serve documents on this machine.
    pub(crate) const fn new(allow_loopback: bool) -> Self {
        Self {
            allow_loopback,
            people: Semaphore::const_new(FOR_PEOPLE),
            strangers: Semaphore::const_new(FOR_STRANGERS),
        }
    }

    pub(crate) async fn fetch(&self, address: &str, asker: Asker) -> Result<Document, DocumentError> {
        let places = if asker == Asker::Person { &self.people } else { &self.strangers };
        let place = tokio::time::timeout(IN_LINE, places.acquire()).await;
        let Ok(Ok(_place)) = place else { return Err(DocumentError::Busy) };
        tokio::time::timeout(PATIENCE, self.get(address)).await.unwrap_or(Err(DocumentError::Unreachable))
    }

    async fn get(&self, address: &str) -> Result<Document, DocumentError> {
        let lost = |error: &dyn std::fmt::Display| {
            tracing::debug!(%error, "client metadata document not fetched");
            DocumentError::Unreachable
        };
        let url = reqwest::Url::parse(address).map_err(|error| lost(&error))?;
        // Another parser might read a different spelling of the same address differently.
        if url.as_str() != address {
            return Err(DocumentError::NotPublic);
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        let machines = self.machines(&host, url.port_or_known_default().unwrap_or(443)).await?;
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .timeout(PATIENCE)
            .user_agent("dropleaf")
            // The name is not resolved again: the connection goes to the address that was checked.
            .resolve_to_addrs(&host, &machines)
            .build()
            .map_err(|error| lost(&error))?;
        let mut response = client
            .get(url)
            .header(header::ACCEPT, "application/json")
            .send()
            .await
            .map_err(|error| lost(&error))?;
        if response.status() != http::StatusCode::OK {
            return Err(DocumentError::Status(response.status().as_u16()));
        }
        let cache_control = response.headers().get(header::CACHE_CONTROL);
        let cache_control = cache_control.and_then(|value| value.to_str().ok()).map(str::to_owned);
        let mut bytes = BytesMut::new();
        while let Some(piece) = response.chunk().await.map_err(|error| lost(&error))? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > LIMIT {
                return Err(DocumentError::TooLarge);
            }
        }
        Ok(Document { bytes: bytes.freeze(), cache_control })
    }

    /// The addresses of a host, if every one of them is allowed.
    async fn machines(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, DocumentError> {
        let found = tokio::net::lookup_host((host.trim_matches(['[', ']']), port)).await;
        let found: Vec<SocketAddr> = found.map_err(|_| DocumentError::Unreachable)?.collect();
        let may = |at: &SocketAddr| is_public(at.ip()) || (self.allow_loopback && at.ip().is_loopback());
        match found.as_slice() {
            [] => Err(DocumentError::Unreachable),
            all if all.iter().all(may) => Ok(found),
            _ => Err(DocumentError::NotPublic),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn machines_that_are_not_public_are_never_asked() {
        crate::tls::install_provider();
        let fetcher = Fetcher::new(false);
        for address in [
            "https://127.0.0.1/c",
            "https://localhost/c",
            "https://[::1]/c",
            "https://10.0.0.1/c",
            "https://169.254.169.254/latest",
            "https://[::ffff:127.0.0.1]/c",
            "https://2130706433/c",
            "https://0x7f.1/c",
        ] {
            let refused = fetcher.fetch(address, Asker::Person).await.err();
            assert_eq!(refused, Some(DocumentError::NotPublic), "{address}");
        }
    }
}
