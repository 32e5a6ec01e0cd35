//! Calls the operator's external content check over HTTP, with the headers and timeout of the settings. Anything but a
//! response is reported as lost.

use super::exchange::{ANSWER_BYTES, client, exchange};
use crate::config::Asking;
use anyhow::Result;
use bytes::Bytes;
use dropleaf_app::{Checker, NoResponse, RawResponse};
use futures_util::future::BoxFuture;
use http::header::CONTENT_TYPE;
use reqwest::Client;

#[derive(Debug)]
pub(crate) struct RemoteChecker {
    client: Client,
    asking: Asking,
}

impl RemoteChecker {
    pub(crate) fn new(asking: &Asking) -> Result<Self> {
        Ok(Self { client: client()?, asking: asking.clone() })
    }
}

impl Checker for RemoteChecker {
    fn ask(&self, question: Bytes) -> BoxFuture<'_, Result<RawResponse, NoResponse>> {
        let request = self.client.post(self.asking.url.clone()).headers(self.asking.headers.clone());
        let request = request.header(CONTENT_TYPE, "application/json").body(question);
        Box::pin(async move {
            let (status, body) =
                exchange(request, self.asking.timeout, ANSWER_BYTES).await.map_err(NoResponse)?;
            Ok(RawResponse { status, body })
        })
    }
}
