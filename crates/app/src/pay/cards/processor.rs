//! The interface to the card processor: Stripe or our sandbox. It carries bytes; the `pay` crate builds the requests and
//! interprets the replies, and the server implements the transport.

use crate::pay::NoResponse;
use bytes::Bytes;
use dropleaf_pay::stripe::ApiRequest;
use futures_util::future::BoxFuture;

/// A reply, whatever its content.
#[derive(Debug, Clone)]
pub struct ProcessorReply {
    pub status: u16,
    /// Whether it has the header `Idempotent-Replayed: true`.
    pub replayed: bool,
    pub body: Bytes,
}

pub trait CardProcessor: Send + Sync + std::fmt::Debug + 'static {
    /// Sends a request. Without a response it is unknown whether it was processed; sending the same request with the same
    /// idempotency key again has no further effect.
    fn send<'a>(&'a self, request: &'a ApiRequest) -> BoxFuture<'a, Result<ProcessorReply, NoResponse>>;
}
