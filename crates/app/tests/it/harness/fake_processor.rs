//! A card processor that can fail, lie and mix things up: the sandbox behind a list of faults.

use bytes::Bytes;
use dropleaf_app::{CardProcessor, NoResponse, ProcessorReply, SandboxProcessor};
use dropleaf_pay::stripe::ApiRequest;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// What goes wrong with one request.
#[derive(Debug, Clone)]
pub(crate) enum CardFault {
    /// It is not processed and answered with this status and body.
    Says(u16, &'static str),
    /// It is not processed, and no answer comes.
    Unreachable,
    /// It is processed and answered with this status.
    DoesAndSays(u16),
    /// It is processed, and no answer comes.
    DoesAndIsLost,
    /// It is processed, and the answer never comes.
    DoesAndWaits,
    /// It is processed, and the answer is changed.
    Bends(fn(&mut Value)),
    /// The answer is this one, whatever was requested.
    Mixes(String),
}

#[derive(Debug, Clone)]
pub(crate) struct FakeProcessor {
    pub(crate) sandbox: Arc<SandboxProcessor>,
    faults: Arc<Mutex<VecDeque<CardFault>>>,
    /// The idempotency keys of the requests that had one.
    keys: Arc<Mutex<Vec<String>>>,
    stalled: Arc<Notify>,
}

impl FakeProcessor {
    pub(crate) fn new(sandbox: SandboxProcessor) -> Self {
        Self {
            sandbox: Arc::new(sandbox),
            faults: Arc::default(),
            keys: Arc::default(),
            stalled: Arc::default(),
        }
    }

    /// The next requests go wrong like this.
    pub(crate) fn next(&self, faults: impl IntoIterator<Item = CardFault>) {
        self.faults.lock().unwrap().extend(faults);
    }

    pub(crate) fn keys(&self) -> Vec<String> {
        self.keys.lock().unwrap().clone()
    }

    /// Waits until a request waits for an answer that never comes.
    pub(crate) async fn stalled(&self) {
        self.stalled.notified().await;
    }

    async fn answer(&self, request: &ApiRequest) -> Result<ProcessorReply, NoResponse> {
        self.keys.lock().unwrap().extend(request.idempotency_key.clone());
        let fault = self.faults.lock().unwrap().pop_front();
        let lost = || NoResponse("connection reset".to_owned());
        let reply = |status, body: &str| ProcessorReply {
            status,
            replayed: false,
            body: Bytes::copy_from_slice(body.as_bytes()),
        };
        match fault {
            Some(CardFault::Says(status, body)) => return Ok(reply(status, body)),
            Some(CardFault::Unreachable) => return Err(lost()),
            _ => {}
        }
        let done = self.sandbox.send(request).await?;
        match fault {
            Some(CardFault::DoesAndSays(status)) => Ok(reply(status, "{\"error\":{\"type\":\"api_error\"}}")),
            Some(CardFault::DoesAndIsLost) => Err(lost()),
            Some(CardFault::DoesAndWaits) => {
                self.stalled.notify_one();
                std::future::pending().await
            }
            Some(CardFault::Bends(bend)) => {
                let mut body: Value = serde_json::from_slice(&done.body).unwrap();
                bend(&mut body);
                Ok(ProcessorReply { body: body.to_string().into(), ..done })
            }
            Some(CardFault::Mixes(body)) => Ok(reply(200, &body)),
            _ => Ok(done),
        }
    }
}

impl CardProcessor for FakeProcessor {
    fn send<'a>(&'a self, request: &'a ApiRequest) -> BoxFuture<'a, Result<ProcessorReply, NoResponse>> {
        Box::pin(self.answer(request))
    }
}
