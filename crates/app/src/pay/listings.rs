//! The current terms of each item for sale, rendered in advance. They follow what the facilitator supports. While it does
//! not respond, the EVM terms are offered and Solana is left out, because its terms name a fee payer that only the
//! facilitator knows.

use super::{PayError, PaymentSettings, catalogue};
use crate::app::App;
use bytes::Bytes;
use dropleaf_core::payment::{Item, Settlements};
use dropleaf_core::{Code, Error, Result};
use dropleaf_pay::facilitator::{ReplyStatus, Supported};
use dropleaf_pay::{
    Amount, Asset, Cluster, Generation, Identifier, Mint, Network, Offer, Refusal, Terms, Token, sandbox,
};
use serde_json::Value;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use tokio::sync::Mutex;

/// How long a count of settlements is reused, in seconds.
const COUNT_SECONDS: i64 = 60;
/// The chain ID of Base.
const BASE: u64 = 8453;

/// An item with its terms, as a 402 states them.
#[derive(Debug)]
pub struct Listing {
    pub item: Item,
    pub terms: Terms,
    /// The value of `PAYMENT-REQUIRED`.
    pub header: Bytes,
    /// The body, for v1 clients.
    pub body: Bytes,
    /// When these terms came into force.
    pub since: i64,
}

impl Listing {
    /// The offer that can be paid with MPP: on an EVM network, in the form of x402 v2.
    pub(super) fn mpp_offer(&self) -> Option<&Offer> {
        let fits = |offer: &&Offer| offer.network().is_evm() && offer.is_shown_to(Generation::V2);
        self.terms.offers().iter().find(fits)
    }

    pub fn has_mpp(&self) -> bool {
        self.mpp_offer().is_some()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Listings {
    current: RwLock<CurrentListings>,
    counts: Mutex<Option<(i64, Arc<Settlements>)>>,
}

/// Empty if nothing is sold, or not now.
#[derive(Debug, Default)]
struct CurrentListings {
    listings: Vec<Arc<Listing>>,
    /// The facilitator's last answer about what it supports.
    supported: Option<Supported>,
    /// Whether it did not respond to the last request.
    is_unavailable: bool,
}

impl Listings {
    fn current(&self) -> RwLockReadGuard<'_, CurrentListings> {
        self.current.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, item: Item) -> Option<Arc<Listing>> {
        self.current().listings.iter().find(|listing| listing.item == item).cloned()
    }

    /// Replaces the listings; one with unchanged terms stays the same object. `supported`: None if the facilitator is
    /// unavailable.
    fn replace(&self, listings: Vec<Listing>, supported: Option<Supported>) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let kept = |new: Listing| {
            let old = current.listings.iter().find(|old| old.item == new.item && old.terms == new.terms);
            old.cloned().unwrap_or_else(|| Arc::new(new))
        };
        current.listings = listings.into_iter().map(kept).collect();
        current.is_unavailable = supported.is_none();
        if supported.is_some() {
            current.supported = supported;
        }
    }

    /// What can be offered without the facilitator: the EVM networks as it last supported them, or else in every x402
    /// version.
    fn supported_without(&self, payments: &PaymentSettings) -> Supported {
        let mut supported =
            self.current().supported.clone().unwrap_or_else(|| all_networks_supported(payments));
        supported.kinds.retain(|kind| kind.network.is_evm());
        supported
    }
}

/// As if the facilitator supported every configured network.
fn all_networks_supported(payments: &PaymentSettings) -> Supported {
    let fee_payer = sandbox::fee_payer(Cluster::Mainnet);
    let all = sandbox::supported_json(&payments.networks(), fee_payer).to_string();
    Supported::read(ReplyStatus::Success, all.as_bytes()).unwrap_or_default()
}

impl App {
    /// What is sold and at which prices. Not found if nothing is sold.
    pub fn require_payments(&self) -> Result<&PaymentSettings> {
        let off = || Error::new(Code::NotFound, "Payments are turned off on this server.");
        self.settings.payments.as_ref().ok_or_else(off)
    }

    /// The terms of an item. Not found if nothing is sold here.
    pub fn listing(&self, item: Item) -> Result<Arc<Listing>> {
        if !self.require_payments()?.is_payable(item) {
            let detail = "This server cannot take a payment with a wallet for this: no suitable network is configured. You can pay for \
                        unlocks from a prepaid balance; ask the operator. Nothing was charged.";
            return Err(Error::new(Code::NotOnSale, detail));
        }
        self.payments
            .listings
            .find(item)
            .ok_or_else(|| Error::plain(Code::FacilitatorUnavailable).retry_after(10))
    }

    /// Everything for sale now.
    pub fn listings(&self) -> Vec<Arc<Listing>> {
        self.payments.listings.current().listings.clone()
    }

    /// The number of settled payments, at most a minute old.
    pub async fn settlements(&self) -> Result<Arc<Settlements>> {
        let now = self.now();
        let mut counts = self.payments.listings.counts.lock().await;
        if let Some((at, known)) = &*counts
            && (*at..*at + COUNT_SECONDS).contains(&now)
        {
            return Ok(Arc::clone(known));
        }
        let sandbox = self.settings.payments.as_ref().is_some_and(PaymentSettings::is_sandbox);
        let fresh = Arc::new(self.store.count_settlements(sandbox).await?);
        *counts = Some((now, Arc::clone(&fresh)));
        Ok(fresh)
    }

    /// Asks the facilitator what it supports and updates the terms. False if it did not respond: then only what does not
    /// need it is offered until it does.
    pub async fn refresh_listings(&self) -> bool {
        let (Some(payments), Some(facilitator)) = (&self.settings.payments, &self.payments.facilitator)
        else {
            return true;
        };
        if self.payments.listings.current().listings.is_empty() {
            // The response may take long, and the caller may stop waiting.
            self.offer_without_facilitator(payments);
        }
        let supported = match facilitator.supported().await {
            Ok(reply) => Supported::read(reply.status, &reply.body),
            Err(lost) => {
                tracing::warn!(why = lost.0, "facilitator unreachable");
                None
            }
        };
        let Some(supported) = supported else {
            self.offer_without_facilitator(payments);
            return false;
        };
        self.payments.listings.replace(self.list_items(payments, &supported), Some(supported));
        true
    }

    fn offer_without_facilitator(&self, payments: &PaymentSettings) {
        let supported = self.payments.listings.supported_without(payments);
        let listings =
            if supported.kinds.is_empty() { Vec::new() } else { self.list_items(payments, &supported) };
        self.payments.listings.replace(listings, None);
    }

    fn list_items(&self, payments: &PaymentSettings, supported: &Supported) -> Vec<Listing> {
        let payable = Item::ALL.into_iter().filter(|item| payments.is_payable(*item));
        let mut listings: Vec<Listing> =
            payable.filter_map(|item| self.list_item(payments, supported, item)).collect();
        // The body of every 402 contains the whole menu, also the rails that these terms are not for.
        let rails = serde_json::json!(self.rails_with(listings.iter()));
        for listing in &mut listings {
            listing.terms.members.insert("rails".to_owned(), rails.clone());
            listing.body = Value::Object(listing.terms.body()).to_string().into();
        }
        listings
    }

    /// Why a recognized proof does not fit the current terms. While the facilitator is unavailable a configured network
    /// may be missing from them, which says nothing about the proof.
    pub(super) fn refusal_under_current_terms(&self, refusal: Refusal) -> PayError {
        if refusal == Refusal::NetworkNotOffered && self.payments.listings.current().is_unavailable {
            return Error::plain(Code::FacilitatorUnavailable).retry_after(10).into();
        }
        refusal.into()
    }

    /// Terms for recognizing an earlier payment: as if the facilitator supported everything, as it may have then. Nothing
    /// is offered with them.
    pub(super) fn terms_to_recognise(&self, item: Item) -> Result<Terms> {
        let payments = self.require_payments()?;
        let resource = catalogue::resource(&self.hosts.base.url(), item);
        let mut known = offers(payments, &all_networks_supported(payments), item);
        if known.is_empty() {
            known.extend(placeholder_offer(payments, item));
        }
        let mut terms = Terms::new(resource, known)
            .map_err(|_| Error::plain(Code::FacilitatorUnavailable).retry_after(10))?;
        terms.identifier = Identifier::Optional;
        Ok(terms)
    }

    fn list_item(&self, payments: &PaymentSettings, supported: &Supported, item: Item) -> Option<Listing> {
        let resource = catalogue::resource(&self.hosts.base.url(), item);
        let mut terms = match Terms::new(resource, offers(payments, supported, item)) {
            Ok(terms) => terms,
            Err(why) => {
                tracing::warn!(%why, item = item.as_str(), "item not offered");
                return None;
            }
        };
        terms.sandbox = payments.is_sandbox();
        terms.identifier = Identifier::Optional;
        terms.bazaar = Some(catalogue::bazaar(&self.hosts, item));
        terms.error = Some(Code::PaymentRequired.as_str().to_owned());
        terms.members.insert("error_description".to_owned(), Code::PaymentRequired.meaning().into());
        let header = terms.header().into();
        Some(Listing { item, terms, header, body: Bytes::new(), since: self.now() })
    }
}

/// USDC on Base: earlier payments must be recognized even if no network is configured any more. It is never offered, so the payee
/// does not matter.
fn placeholder_offer(payments: &PaymentSettings, item: Item) -> Option<Offer> {
    let token = Token::usdc(BASE)?;
    let asset = Asset::Evm { chain_id: BASE, pay_to: token.address, token };
    Some(Offer::new(asset, Amount::new(payments.prices.of(item)), payments.max_timeout_seconds))
}

/// The payment options that the facilitator supports. Unlocks are paid only on the EVM network. Spec §4 Payment, 4.
fn offers(payments: &PaymentSettings, supported: &Supported, item: Item) -> Vec<Offer> {
    let amount = Amount::new(payments.prices.of(item));
    let evm = payments.evm.as_ref().map(|method| Asset::Evm {
        chain_id: method.chain_id,
        token: method.token.clone(),
        pay_to: method.pay_to,
    });
    let solana = payments.solana.filter(|_| !matches!(item, Item::Unlock(_))).and_then(|method| {
        let fee_payer = supported.fee_payer(Network::Solana(method.cluster))?;
        let mint = Mint::usdc(method.cluster, fee_payer)?;
        Some(Asset::Solana { cluster: method.cluster, mint, pay_to: method.pay_to })
    });
    let offer = |asset| {
        let mut offer = Offer::new(asset, amount, payments.max_timeout_seconds);
        let network = offer.network();
        offer.v1 = supported.kind(Generation::V1, network).is_some();
        offer.v2 = supported.kind(Generation::V2, network).is_some();
        offer
    };
    let all = evm.into_iter().chain(solana).map(offer);
    all.filter(|offer| offer.v1 || offer.v2).collect()
}
