//! The interface to the service that verifies and settles payments: a remote facilitator or our sandbox. It carries
//! bytes; the `pay` crate interprets them, and the server implements the transport.

use bytes::Bytes;
use dropleaf_core::payment::Payment;
use dropleaf_pay::facilitator::ReplyStatus;
use futures_util::future::BoxFuture;

/// A facilitator endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FacilitatorCall {
    Verify,
    Settle,
}

/// A response, whatever its content.
#[derive(Debug, Clone)]
pub struct FacilitatorReply {
    pub status: ReplyStatus,
    pub body: Bytes,
}

/// No response, and why; for the log. Whether the request was processed is unknown.
#[derive(Debug)]
pub struct NoResponse(pub String);

/// What the chain shows about a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainStatus {
    OnChain {
        transaction: String,
    },
    /// Not on the chain so far. Until it expires it can still be submitted.
    Absent,
    /// It can never be executed, with a machine-readable reason: it expired unused, was cancelled, or the nonce was used
    /// for something else.
    Void(&'static str),
    /// There is no chain to ask, it does not respond, or its answer is not certain.
    Unknown,
}

pub trait Facilitator: Send + Sync + std::fmt::Debug + 'static {
    /// Sends these bytes. Settling again with the same bytes does not settle twice.
    fn send<'a>(
        &'a self,
        call: FacilitatorCall,
        body: &'a str,
    ) -> BoxFuture<'a, Result<FacilitatorReply, NoResponse>>;

    fn supported(&self) -> BoxFuture<'_, Result<FacilitatorReply, NoResponse>>;

    /// Whether [`Facilitator::query_chain`] can look up payments on this network (CAIP-2 name). If so, a temporary
    /// [`ChainStatus::Unknown`] decides nothing.
    fn can_query_chain(&self, _network: &str) -> bool {
        false
    }

    /// Looks up the payment on its chain.
    fn query_chain<'a>(&'a self, _payment: &'a Payment) -> BoxFuture<'a, ChainStatus> {
        Box::pin(async { ChainStatus::Unknown })
    }

    /// Checks whether a settlement reported by the facilitator is on the chain. May wait briefly, since the facilitator's
    /// node can be ahead of ours.
    fn confirm<'a>(&'a self, payment: &'a Payment, _transaction: &'a str) -> BoxFuture<'a, ChainStatus> {
        self.query_chain(payment)
    }

    /// True once when a chain responds for the first time, or again after an outage. Queries it only in these cases.
    fn has_chain_recovered(&self) -> BoxFuture<'_, bool> {
        Box::pin(async { false })
    }
}
