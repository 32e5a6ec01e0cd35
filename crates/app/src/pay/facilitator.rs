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
    /// It is not there, and unless somebody settles it from now on it will not be.
    Absent,
    CannotTell,
}

pub trait Facilitator: Send + Sync + std::fmt::Debug + 'static {
    /// Asks with these bytes. Asking to settle with the same bytes again settles nothing twice.
    fn ask<'a>(&'a self, ask: Ask, body: &'a str) -> BoxFuture<'a, Result<Reply, Lost>>;

    fn supported(&self) -> BoxFuture<'_, Result<Reply, Lost>>;

    /// Whether [`Facilitator::trace`] has somewhere to look. If so, that it cannot tell just now decides nothing.
    fn can_trace(&self, _payment: &Payment) -> bool {
        false
    }

    /// Looks for the payment where the money moves.
    fn trace<'a>(&'a self, _payment: &'a Payment) -> BoxFuture<'a, Trace> {
        Box::pin(async { Trace::CannotTell })
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
