//! Payments: what is for sale, the one path every paid request takes, and recovery from failures on the way. Nothing is
//! charged twice, and nothing is charged without delivery. ADR 13.

mod advance;
mod balance;
pub(crate) mod cards;
mod catalogue;
mod draft;
mod facilitator;
mod form_purchase;
mod fulfil;
mod lease;
pub(crate) mod ledger;
mod listings;
mod mandate_terms;
mod movements;
mod mpp;
mod named_locks;
mod operator_resolution;
mod order;
pub(crate) mod overview;
mod purchase;
mod purchase_result;
mod rails;
mod recover;
mod replay;
mod request_identity;
mod reserve;
mod revenue;
mod sandbox;
mod settings;
mod settle;
mod unlock;
mod unverified;

pub use balance::{BalancePurchase, BalanceResult, ProvisionedAccount};
pub use cards::{
    CardProcessor, CardSettings, CreatedPaySession, DeliveredKey, MandatePurchase, NewPaySession,
    PolledPaySession, ProcessorReply, SandboxProcessor, SandboxReply, TokenRequest,
};
pub use facilitator::{ChainStatus, Facilitator, FacilitatorCall, FacilitatorReply, NoResponse};
pub use listings::Listing;
pub use mandate_terms::MandateTerms;
pub use movements::{MovementList, MovementQuery};
pub use mpp::MppPayment;
pub use operator_resolution::Resolution;
pub use order::{CheckedPage, Order, PayRequest, PaymentProof};
pub use purchase_result::{PayError, PayRefused, PurchaseResult, PurchasedItem};
pub use rails::RailStatus;
pub use sandbox::Sandbox;
pub use settings::{EvmPayment, MandateSettings, Mode, PaymentSettings, Prices, SolanaPayment};
pub use unlock::{CatalogueEntry, UnlockResult};

use crate::infra::settings::Settings;
use dropleaf_core::host::Hosts;
use dropleaf_core::{Clock, Minter};
use dropleaf_store::Store;
use listings::Listings;
use named_locks::NamedLocks;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

/// The state of payments on this node.
#[derive(Debug)]
pub(crate) struct Payments {
    facilitator: Option<Arc<dyn Facilitator>>,
    /// Charges cards; in sandbox mode the same as `sandbox_processor`. None if cards are not accepted.
    processor: Option<Arc<dyn CardProcessor>>,
    sandbox_processor: Option<Arc<SandboxProcessor>>,
    listings: Listings,
    locks: NamedLocks,
    /// Epoch seconds before which parked payments with an unknown outcome are not resumed again.
    next_resume_at: AtomicI64,
}

/// What payments are built from.
#[derive(Debug)]
pub(crate) struct PaymentParts<'a> {
    /// Settles payments in live mode; the sandbox has its own.
    pub(crate) facilitator: Option<Arc<dyn Facilitator>>,
    /// Charges cards in live mode; the sandbox has its own.
    pub(crate) card_processor: Option<Arc<dyn CardProcessor>>,
    pub(crate) settings: &'a Settings,
    pub(crate) store: &'a Store,
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) minter: &'a Arc<Minter>,
    pub(crate) hosts: &'a Hosts,
}

impl Payments {
    pub(crate) fn new(parts: PaymentParts<'_>) -> Self {
        let sandbox_processor = parts.sandbox_processor().map(Arc::new);
        let processor = match &sandbox_processor {
            Some(sandbox) => Some(Arc::clone(sandbox) as Arc<dyn CardProcessor>),
            None => parts.card_processor.clone().filter(|_| parts.accepts_cards()),
        };
        Self {
            facilitator: parts.choose_facilitator(),
            processor,
            sandbox_processor,
            listings: Listings::default(),
            locks: NamedLocks::default(),
            next_resume_at: AtomicI64::new(0),
        }
    }
}

impl PaymentParts<'_> {
    /// The facilitator for these settings: the given one, or the sandbox. None if nothing is sold.
    fn choose_facilitator(self) -> Option<Arc<dyn Facilitator>> {
        let payments = self.settings.payments.as_ref()?;
        if !payments.is_sandbox() {
            return self.facilitator;
        }
        Some(Arc::new(Sandbox::new(self.store.clone(), Arc::clone(self.clock), payments.networks())))
    }

    fn accepts_cards(&self) -> bool {
        self.settings.payments.as_ref().is_some_and(|payments| payments.cards.is_some())
    }

    /// The processor of the sandbox; None in live mode and if cards are not accepted.
    fn sandbox_processor(&self) -> Option<SandboxProcessor> {
        let payments = self.settings.payments.as_ref()?;
        if !payments.is_sandbox() || payments.cards.is_none() {
            return None;
        }
        let form_url = format!("{}/pay/sandbox", self.hosts.base.url());
        let (clock, minter) = (Arc::clone(self.clock), Arc::clone(self.minter));
        Some(SandboxProcessor::new(self.store.clone(), clock, minter, form_url))
    }
}
