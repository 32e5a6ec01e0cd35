//! Payments: what is for sale, the one path every paid request takes, and recovery from failures on the way. Nothing is
//! charged twice, and nothing is charged without delivery. ADR 13.

mod advance;
mod catalogue;
mod draft;
mod facilitator;
mod fulfil;
mod lease;
pub(crate) mod ledger;
mod listings;
mod named_locks;
mod operator_resolution;
mod order;
pub(crate) mod overview;
mod purchase;
mod purchase_result;
mod recover;
mod replay;
mod request_identity;
mod reserve;
mod sandbox;
mod settings;
mod settle;
mod unlock;
mod unverified;

pub use facilitator::{ChainStatus, Facilitator, FacilitatorCall, FacilitatorReply, NoResponse};
pub use listings::Listing;
pub use operator_resolution::Resolution;
pub use order::{CheckedPage, Order, PayRequest};
pub use purchase_result::{PayError, PayRefused, PurchaseResult, PurchasedItem};
pub use sandbox::Sandbox;
pub use settings::{EvmPayment, Mode, PaymentSettings, Prices, SolanaPayment};
pub use unlock::{CatalogueEntry, UnlockResult};

use crate::infra::settings::Settings;
use dropleaf_core::Clock;
use dropleaf_store::Store;
use listings::Listings;
use named_locks::NamedLocks;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

/// The state of payments on this node.
#[derive(Debug)]
pub(crate) struct Payments {
    facilitator: Option<Arc<dyn Facilitator>>,
    listings: Listings,
    locks: NamedLocks,
    /// Epoch seconds before which parked payments with an unknown outcome are not resumed again.
    next_resume_at: AtomicI64,
}

impl Payments {
    /// `facilitator` settles payments in live mode; the sandbox has its own.
    pub(crate) fn new(
        facilitator: Option<Arc<dyn Facilitator>>,
        settings: &Settings,
        store: &Store,
        clock: &Arc<dyn Clock>,
    ) -> Self {
        Self {
            facilitator: choose_facilitator(settings, facilitator, store, clock),
            listings: Listings::default(),
            locks: NamedLocks::default(),
            next_resume_at: AtomicI64::new(0),
        }
    }
}

/// The facilitator for these settings: the given one, or the sandbox. None if nothing is sold.
fn choose_facilitator(
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
