//! Calls the operator's external content check over HTTP, with the headers and timeout of the settings. Anything but a
//! response with status 200 is reported as lost.

use super::exchange::{ANSWER_BYTES, client, exchange};
use crate::config::OutboundEndpoint;
use anyhow::Result;
use bytes::Bytes;
use dropleaf_app::{Checker, NoResponse};
use futures_util::future::BoxFuture;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use reqwest::Client;

#[derive(Debug)]
pub(crate) struct RemoteChecker {
    client: Client,
    endpoint: OutboundEndpoint,
}

impl RemoteChecker {
    pub(crate) fn new(endpoint: &OutboundEndpoint) -> Result<Self> {
        Ok(Self { client: client()?, endpoint: endpoint.clone() })
    }
}

impl Checker for RemoteChecker {
    fn check(&self, question: Bytes) -> BoxFuture<'_, Result<Bytes, NoResponse>> {
        let request = self.client.post(self.endpoint.url.clone()).headers(self.endpoint.headers.clone());
        let request = request.header(CONTENT_TYPE, "application/json").body(question);
        Box::pin(async move {
            let (status, body) =
                exchange(request, self.endpoint.timeout, ANSWER_BYTES).await.map_err(NoResponse)?;
            if status != StatusCode::OK.as_u16() {
                return Err(NoResponse(format!("it returned status {status}")));
            }
            Ok(body)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbound::scripted_server::{ScriptedServer, answer};
    use http::HeaderMap;
    use std::time::Duration;

    const ACCEPT: &str = r#"{"verdict":"accept"}"#;

    async fn check(sent: String) -> Result<Bytes, NoResponse> {
        crate::tls::install_provider();
        let there = ScriptedServer::new(vec![sent]);
        let endpoint = OutboundEndpoint {
            url: there.url.parse().unwrap(),
            headers: HeaderMap::new(),
            timeout: Duration::from_mins(1),
        };
        RemoteChecker::new(&endpoint).unwrap().check(Bytes::from_static(b"{}")).await
    }

    #[tokio::test]
    async fn only_a_response_with_status_200_is_an_answer() {
        assert_eq!(check(answer(200, ACCEPT)).await.unwrap(), ACCEPT);
        for (status, body) in [(500, ACCEPT), (201, ACCEPT), (404, ACCEPT), (204, "")] {
            let Err(NoResponse(why)) = check(answer(status, body)).await else { panic!("{status}") };
            assert_eq!(why, format!("it returned status {status}"));
        }
    }
}
