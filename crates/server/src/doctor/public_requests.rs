//! Requests of the server to itself through its public address: how they arrive, and which of them a proxy stops. The answer
//! is written by `http::self_check`.

use super::Doctor;
use super::addresses::Names;
use super::client::{self, CLAIMED, Exchanged};
use crate::config::Resolved;
use crate::http::{SELF_CHECK_PAUSE, SelfCheckJson};
use bytes::Bytes;
use dropleaf_core::health::{self, Arrived, Delivery, Finding, SelfCheck};
use dropleaf_core::secret::Keys;
use dropleaf_core::self_check::{self, PATH, TOKEN_HEADER};
use http::{Method, Request, header};
use http_body_util::Full;
use std::net::{IpAddr, SocketAddr};

/// Larger than what nginx accepts by default, smaller than what the server refuses.
const HEADER_BYTES: usize = 20 * 1024;
/// The largest body that is sent.
const BODY_BYTES: u64 = 32 << 20;

#[derive(Debug)]
pub(super) struct PublicResults {
    pub(super) first: SelfCheck,
    /// Our end of the first connection.
    pub(super) local: Option<SocketAddr>,
    upload: Delivery,
    headers: Delivery,
    streaming: Delivery,
}

impl PublicResults {
    fn only(first: SelfCheck) -> Self {
        let none = || Delivery::NotSent;
        Self { first, local: None, upload: none(), headers: none(), streaming: none() }
    }

    pub(super) fn late() -> Self {
        Self::only(SelfCheck::Unreachable("there was no response in time".to_owned()))
    }

    pub(super) fn findings(&self, resolved: &Resolved, listen: &str) -> Vec<Finding> {
        let base = &resolved.hosts.base;
        let url = base.url();
        let authority = url.split_once("://").map_or(url.as_str(), |(_, authority)| authority);
        vec![
            health::public_address(&self.first, &url, listen),
            health::host(&self.first, authority, base.scheme),
            health::upload_size(&self.upload, body_bytes(resolved)),
            health::large_headers(&self.headers),
            health::streaming(&self.streaming),
        ]
    }
}

fn body_bytes(resolved: &Resolved) -> u64 {
    resolved.config.limits.upload_bytes.min(BODY_BYTES)
}

/// One more request and what it tries.
#[derive(Clone, Copy)]
enum Variant {
    Plain,
    Body(u64),
    Headers,
    Stream,
}

impl Doctor {
    pub(super) async fn send_public(&self, names: &Names, is_running: bool) -> PublicResults {
        let skipped = |why: &str| PublicResults::only(SelfCheck::Skipped(why.to_owned()));
        if !is_running {
            return PublicResults::only(SelfCheck::Stopped);
        }
        let Some(keys) = &self.keys else {
            return skipped("The server has no secret yet to sign the request with.");
        };
        let addresses = names.addresses(&self.resolved.hosts.base.host);
        if addresses.is_empty() {
            return skipped("The host of `base_url` has no address.");
        }
        let (first, local) = match self.ask(keys, &addresses, Variant::Plain).await {
            Ok((Some(answer), exchanged)) => {
                (SelfCheck::Answered(arrived(answer, exchanged.local)), Some(exchanged.local))
            }
            Ok((None, exchanged)) => {
                (SelfCheck::Foreign { status: exchanged.status.as_u16() }, Some(exchanged.local))
            }
            Err(why) => (SelfCheck::Unreachable(why), None),
        };
        if !matches!(first, SelfCheck::Answered(_)) {
            return PublicResults { local, ..PublicResults::only(first) };
        }
        let bytes = body_bytes(&self.resolved);
        let (upload, headers, streaming) = tokio::join!(
            self.deliver(keys, &addresses, Variant::Body(bytes)),
            self.deliver(keys, &addresses, Variant::Headers),
            self.deliver(keys, &addresses, Variant::Stream),
        );
        PublicResults { first, local, upload, headers, streaming }
    }

    async fn deliver(&self, keys: &Keys, addresses: &[IpAddr], variant: Variant) -> Delivery {
        // Leaves time for the judgement before the deadline of all of them.
        let limit = super::EACH * 2 / 3;
        let Ok(asked) = tokio::time::timeout(limit, self.ask(keys, addresses, variant)).await else {
            return Delivery::Late;
        };
        match (asked, variant) {
            (Err(why), _) => Delivery::Broken(why),
            (Ok((None, exchanged)), _) => Delivery::Refused { status: exchanged.status.as_u16() },
            (Ok((Some(answer), _)), Variant::Body(sent)) if answer.body_bytes != sent => {
                Delivery::Broken(format!("{} of {sent} bytes arrived", answer.body_bytes))
            }
            (Ok((_, exchanged)), Variant::Stream) if exchanged.spread < SELF_CHECK_PAUSE / 2 => {
                Delivery::Broken("both parts of a response arrived together".to_owned())
            }
            (Ok(_), _) => Delivery::Complete,
        }
    }

    /// The answer, if a server with our secret wrote it.
    async fn ask(
        &self,
        keys: &Keys,
        addresses: &[IpAddr],
        variant: Variant,
    ) -> Result<(Option<SelfCheckJson>, Exchanged), String> {
        let base = &self.resolved.hosts.base;
        let nonce = self.minter.nonce();
        let url = base.url();
        let authority = url.split_once("://").map_or(url.as_str(), |(_, authority)| authority);
        let (method, query, body) = match variant {
            Variant::Plain => (Method::GET, "", Bytes::new()),
            Variant::Body(size) => {
                (Method::POST, "", Bytes::from(vec![0_u8; usize::try_from(size).unwrap_or_default()]))
            }
            Variant::Headers => (Method::GET, "?headers", Bytes::new()),
            Variant::Stream => (Method::GET, "?stream", Bytes::new()),
        };
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{PATH}{query}"))
            .header(header::HOST, authority)
            .header(header::USER_AGENT, "dropleaf-doctor")
            .header(header::ACCEPT, "application/json")
            .header("x-forwarded-for", CLAIMED.to_string())
            .header(TOKEN_HEADER, self_check::issue(keys, &nonce, self.clock.now()));
        if matches!(variant, Variant::Headers) {
            request = request.header("x-dropleaf-padding", "x".repeat(HEADER_BYTES));
        }
        let request = request.body(Full::new(body)).map_err(|error| error.to_string())?;
        let exchanged = client::send(base, addresses, request).await?;
        let answer = serde_json::from_slice::<SelfCheckJson>(exchanged.body.trim_ascii()).ok();
        let proved = answer.filter(|answer| self_check::is_proof(keys, &nonce, &answer.proof));
        Ok((proved, exchanged))
    }
}

fn arrived(answer: SelfCheckJson, fallback: SocketAddr) -> Arrived {
    Arrived {
        host: answer.host,
        has_tls: answer.tls,
        peer: answer.peer.parse().unwrap_or(fallback),
        forwarded_for: answer.forwarded_for,
        forwarded_proto: answer.forwarded_proto,
        has_via: answer.via,
        version: answer.version,
        open_files: answer.open_files,
    }
}
