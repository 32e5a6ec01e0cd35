//! Whoever verifies and settles payments: another service, or our own sandbox. It carries bytes; what they mean is
//! `pay`'s business, and how they travel the server's.

use super::Sandbox;
use crate::settings::Settings;
use bytes::Bytes;
use dropleaf_core::Clock;
use dropleaf_core::payment::Payment;
use dropleaf_store::Store;
use futures_util::future::BoxFuture;
use std::sync::Arc;

/// What a facilitator is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    Verify,
    Settle,
}

/// An answer, whatever it says.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub body: Bytes,
}

/// No answer, and why; for the log. Whether it was heard is not known.
#[derive(Debug)]
pub struct Lost(pub String);

/// What a chain says about a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trace {
    Landed {
        transaction: String,
    },
    /// The chain does not show it so far. Until it expires somebody can still submit it.
    Absent,
    /// It can never land, and why, as a word for programs: it expired unused, was cancelled, or the nonce paid for
    /// something else.
    Void(&'static str),
    /// There is no chain to ask, it does not answer, or what it says is not certain.
    CannotTell,
}

pub trait Facilitator: Send + Sync + std::fmt::Debug + 'static {
    /// Asks with these bytes. Asking to settle with the same bytes again settles nothing twice.
    fn ask<'a>(&'a self, ask: Ask, body: &'a str) -> BoxFuture<'a, Result<Reply, Lost>>;

    fn supported(&self) -> BoxFuture<'_, Result<Reply, Lost>>;

    /// Whether [`Facilitator::trace`] has somewhere to look for payments on a network, by its CAIP-2 name. If so, that it
    /// cannot tell just now decides nothing.
    fn can_trace(&self, _network: &str) -> bool {
        false
    }

    /// Looks for the payment where the money moves.
    fn trace<'a>(&'a self, _payment: &'a Payment) -> BoxFuture<'a, Trace> {
        Box::pin(async { Trace::CannotTell })
    }

    /// Looks whether a settlement that the facilitator claims is on the chain. May wait a little: the facilitator's node
    /// can be ahead of ours.
    fn confirm<'a>(&'a self, payment: &'a Payment, _transaction: &'a str) -> BoxFuture<'a, Trace> {
        self.trace(payment)
    }

    /// True once when a chain answers for the first time, or again after it did not. Asks it only then.
    fn is_chain_back(&self) -> BoxFuture<'_, bool> {
        Box::pin(async { false })
    }
}

/// The facilitator for these settings: the one given, or the sandbox. None when nothing is sold.
pub(crate) fn facilitator(
    settings: &Settings,
    live: Option<Arc<dyn Facilitator>>,
    store: &Store,
    clock: &Arc<dyn Clock>,
) -> Option<Arc<dyn Facilitator>> {
    let payments = settings.payments.as_ref()?;
    if !payments.is_sandbox() {
        return live;
    }
    Some(Arc::new(Sandbox::new(store.clone(), Arc::clone(clock), payments.networks())))
}
