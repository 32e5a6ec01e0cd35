//! The row of a payment by card, before what it buys is added.

use crate::app::App;
use crate::pay::lease::LEASE_SECONDS;
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::rail::Rail;
use dropleaf_store::card_payments;

/// What distinguishes a payment by card from others.
pub(super) struct NewCardPayment {
    pub(super) key: String,
    pub(super) item: Item,
    pub(super) rail: Rail,
    /// In cents.
    pub(super) amount: i64,
    pub(super) sandbox: bool,
    pub(super) request_hash: [u8; 32],
}

impl App {
    /// A payment that is reserved and held by this worker.
    pub(super) fn new_card_payment(&self, new: NewCardPayment) -> Payment {
        let now = self.now();
        let id = self.minter.ordered_id("pay", now);
        Payment {
            key: new.key,
            item: new.item,
            rail: new.rail,
            generation: 0,
            network: card_payments::NETWORK.to_owned(),
            asset: "usd".to_owned(),
            // The processor does not name the cardholder.
            payer: id.clone(),
            pay_to: card_payments::NETWORK.to_owned(),
            amount: new.amount,
            credit_minor: 0,
            refunded_minor: 0,
            disputed_minor: 0,
            payer_is_eoa: false,
            sandbox: new.sandbox,
            request_hash: new.request_hash,
            client: String::new(),
            once_hashes: Vec::new(),
            state: PaymentState::Verified,
            ask: None,
            fee_payer: None,
            draft: None,
            bundle_id: None,
            site_id: None,
            account_id: None,
            transaction: None,
            reason: None,
            attempts: 0,
            held_until: now + LEASE_SECONDS,
            valid_until: now,
            created_at: now,
            updated_at: now,
            fulfilled_at: None,
            delivered_at: None,
            id,
        }
    }
}
