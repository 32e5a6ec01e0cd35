//! Fetches a small document from an address that a stranger named: from public machines alone, within seconds, without
//! following anybody anywhere. Knows nothing of what is in it.

use bytes::{Bytes, BytesMut};
use dropleaf_core::oauth::document::is_public;
use http::header;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::sync::Semaphore;

const PATIENCE: Duration = Duration::from_secs(5);
const LIMIT: usize = 64 * 1024;
/// Documents that are fetched at the same time, for people and for those who have not signed in: strangers stand in
/// nobody's way but each other's.
const FOR_PEOPLE: usize = 8;
const FOR_STRANGERS: usize = 2;
/// How long a request waits until it is its turn.
const IN_LINE: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub(crate) struct Fetcher {
    allow_loopback: bool,
    people: Semaphore,
    strangers: Semaphore,
}

/// For whom a document is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// Somebody who has signed in.
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
    /// Another status than 200, also a redirect.
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
            Self::TooLarge => f.write_str("the description is too long"),
            Self::Busy => f.write_str("this server is busy; try again"),
        }
    }
}

impl Fetcher {
    /// `allow_loopback` lets tests keep documents on this machine.
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
            tracing::debug!(%error, "a client's document could not be fetched");
            DocumentError::Unreachable
        };
        let url = reqwest::Url::parse(address).map_err(|error| lost(&error))?;
        // Another spelling of the same address might be read differently by somebody else.
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
            // The name is not asked for again: what was checked is what is connected to.
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

    /// The machines behind a name, if every one of them may be asked.
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
