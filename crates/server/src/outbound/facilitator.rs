//! The facilitator of live payments: sends requests and returns responses, with the headers and timeouts of the settings.
//! `pay` interprets them; anything but a response is reported as lost, never as success.

use super::evm_rpc::EvmRpc;
use super::exchange::{ANSWER_BYTES, client, exchange};
use super::solana_rpc::SolanaRpc;
use crate::config::{FacilitatorSettings, OutboundEndpoint};
use anyhow::Result;
use dropleaf_app::{ChainStatus, Facilitator, FacilitatorCall, FacilitatorReply, NoResponse};
use dropleaf_core::payment::Payment;
use dropleaf_pay::facilitator::ReplyStatus;
use futures_util::future::BoxFuture;
use http::header::CONTENT_TYPE;
use reqwest::{Client, RequestBuilder};

#[derive(Debug)]
pub(crate) struct RemoteFacilitator {
    client: Client,
    verify: OutboundEndpoint,
    settle: OutboundEndpoint,
    supported: OutboundEndpoint,
    evm: Option<EvmRpc>,
    solana: Option<SolanaRpc>,
}

impl RemoteFacilitator {
    pub(crate) fn new(settings: &FacilitatorSettings) -> Result<Self> {
        let FacilitatorSettings { verify, settle, supported, evm_rpc_url, solana_rpc_url } = settings.clone();
        let client = client()?;
        let evm = evm_rpc_url.map(|url| EvmRpc::new(client.clone(), url));
        let solana = solana_rpc_url.map(|url| SolanaRpc::new(client.clone(), url));
        Ok(Self { client, verify, settle, supported, evm, solana })
    }
}

async fn carry(request: RequestBuilder, endpoint: &OutboundEndpoint) -> Result<FacilitatorReply, NoResponse> {
    let request = request.headers(endpoint.headers.clone());
    let (status, body) = exchange(request, endpoint.timeout, ANSWER_BYTES).await.map_err(NoResponse)?;
    Ok(FacilitatorReply { status: ReplyStatus::from_http(status), body })
}

impl Facilitator for RemoteFacilitator {
    fn send<'a>(
        &'a self,
        call: FacilitatorCall,
        body: &'a str,
    ) -> BoxFuture<'a, Result<FacilitatorReply, NoResponse>> {
        let endpoint = match call {
            FacilitatorCall::Verify => &self.verify,
            FacilitatorCall::Settle => &self.settle,
        };
        let request = self.client.post(endpoint.url.clone()).header(CONTENT_TYPE, "application/json");
        Box::pin(carry(request.body(body.to_owned()), endpoint))
    }

    fn supported(&self) -> BoxFuture<'_, Result<FacilitatorReply, NoResponse>> {
        Box::pin(carry(self.client.get(self.supported.url.clone()), &self.supported))
    }

    fn can_query_chain(&self, network: &str) -> bool {
        if network.starts_with("eip155:") { self.evm.is_some() } else { self.solana.is_some() }
    }

    fn query_chain<'a>(&'a self, payment: &'a Payment) -> BoxFuture<'a, ChainStatus> {
        match (&self.evm, &self.solana) {
            (Some(chain), _) if payment.network.starts_with("eip155:") => Box::pin(chain.trace(payment)),
            (_, Some(chain)) if payment.network.starts_with("solana:") => Box::pin(chain.trace(payment)),
            _ => Box::pin(async { ChainStatus::Unknown }),
        }
    }

    fn confirm<'a>(&'a self, payment: &'a Payment, transaction: &'a str) -> BoxFuture<'a, ChainStatus> {
        match (&self.evm, &self.solana) {
            (Some(chain), _) if payment.network.starts_with("eip155:") => {
                Box::pin(chain.confirm(payment, transaction))
            }
            (_, Some(chain)) if payment.network.starts_with("solana:") => {
                Box::pin(chain.confirm(payment, transaction))
            }
            _ => Box::pin(async { ChainStatus::Unknown }),
        }
    }

    fn has_chain_recovered(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            let evm = match &self.evm {
                Some(chain) => chain.is_back().await,
                None => false,
            };
            let solana = match &self.solana {
                Some(chain) => chain.is_back().await,
                None => false,
            };
            evm || solana
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbound::scripted_server::{ScriptedServer, answer};
    use http::{HeaderMap, HeaderName, HeaderValue};
    use std::time::Duration;

    fn facilitator(url: &str) -> RemoteFacilitator {
        facilitator_within(Duration::from_mins(1), url)
    }

    fn facilitator_within(timeout: Duration, url: &str) -> RemoteFacilitator {
        crate::tls::install_provider();
        let endpoint = |operation: &str, header: Option<&'static str>| OutboundEndpoint {
            url: format!("{url}/{operation}").parse().unwrap(),
            headers: header.into_iter().fold(HeaderMap::new(), |mut all, value| {
                all.insert(HeaderName::from_static("authorization"), HeaderValue::from_static(value));
                all
            }),
            timeout,
        };
        RemoteFacilitator::new(&FacilitatorSettings {
            verify: endpoint("verify", None),
            settle: endpoint("settle", Some("Bearer only-to-settle")),
            supported: endpoint("supported", None),
            evm_rpc_url: None,
            solana_rpc_url: None,
        })
        .unwrap()
    }

    #[tokio::test]
    async fn bytes_go_there_and_come_back_with_the_headers_of_the_operation() {
        let there = ScriptedServer::new(vec![
            answer(200, r#"{"isValid":true}"#),
            answer(402, r#"{"success":false}"#),
            answer(200, r#"{"kinds":[]}"#),
        ]);
        let facilitator = facilitator(&there.url);
        let reply = facilitator.send(FacilitatorCall::Verify, r#"{"a":1}"#).await.unwrap();
        assert_eq!((reply.status, reply.body.as_ref()), (ReplyStatus::Success, &br#"{"isValid":true}"#[..]));
        // A refusal is a response too.
        let reply = facilitator.send(FacilitatorCall::Settle, r#"{"a":2}"#).await.unwrap();
        assert_eq!(
            (reply.status, reply.body.as_ref()),
            (ReplyStatus::Rejected, &br#"{"success":false}"#[..])
        );
        assert_eq!(facilitator.supported().await.unwrap().status, ReplyStatus::Success);
        let heard = there.requests();
        assert!(heard[0].starts_with("POST /verify ") && heard[0].ends_with(r#"{"a":1}"#), "{heard:?}");
        assert!(heard[0].contains("content-type: application/json") && !heard[0].contains("authorization"));
        assert!(heard[1].starts_with("POST /settle ") && heard[1].ends_with(r#"{"a":2}"#), "{heard:?}");
        assert!(heard[1].contains("authorization: Bearer only-to-settle"), "{heard:?}");
        assert!(heard[2].starts_with("GET /supported ") && !heard[2].contains("authorization"), "{heard:?}");
        assert!(!heard.iter().any(|request| request.contains("cookie")));
        assert_eq!(there.connections(), 1, "the connection is kept");
    }

    #[tokio::test]
    async fn whatever_is_no_answer_is_lost() {
        let elsewhere = ScriptedServer::new(vec![answer(200, r#"{"isValid":true,"success":true}"#)]);
        let redirect = format!("HTTP/1.1 308 x\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n", elsewhere.url);
        let whole = "x".repeat(256 * 1024);
        for (case, sent) in [
            ("redirect", redirect),
            ("oversize", answer(200, &format!("{whole}x"))),
            ("closed", String::new()),
            ("cut short", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"isVa".to_owned()),
            ("not HTTP", "SSH-2.0-x\r\n".to_owned()),
            ("slow", ScriptedServer::SILENCE.to_owned()),
        ] {
            for call in [FacilitatorCall::Verify, FacilitatorCall::Settle] {
                let there = ScriptedServer::new(vec![sent.clone()]);
                // A server that never responds is given up soon; any other response may take its time.
                let timeout = Duration::from_secs(if case == "slow" { 1 } else { 60 });
                let lost = facilitator_within(timeout, &there.url).send(call, "{\"secret\":1}").await;
                let Err(NoResponse(why)) = lost else { panic!("{case}") };
                assert!(
                    !why.is_empty() && !why.contains("secret") && !why.contains("127.0.0.1"),
                    "{case}: {why}"
                );
            }
        }
        assert!(elsewhere.requests().is_empty(), "nobody was asked in its place");
        let there = ScriptedServer::new(vec![answer(200, &whole)]);
        assert!(facilitator(&there.url).supported().await.is_ok(), "the limit itself is no fault");
    }

    #[tokio::test]
    async fn nobody_there_is_lost_too() {
        // Bound, so that no other process takes the port, and not listening.
        let taken = tokio::net::TcpSocket::new_v4().unwrap();
        taken.bind(([127, 0, 0, 1], 0).into()).unwrap();
        let address = taken.local_addr().unwrap();
        assert!(facilitator(&format!("http://{address}")).supported().await.is_err());
    }
}
