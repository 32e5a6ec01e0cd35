//! A purchase from a prepaid balance, as operators see it among the payments of the other rails.

use crate::payment::{Item, Payment, PaymentState};
use crate::rail::Rail;

/// A purchase from a prepaid balance, in one unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurchaseFromBalance {
    /// The ID of the ledger transaction.
    pub id: String,
    pub account_id: String,
    pub item: Item,
    pub amount_minor: i64,
    pub sandbox: bool,
    pub created_at: i64,
}

/// For lists of payments on all rails. It was paid and delivered in one transaction of the ledger, and has no payment row.
impl From<PurchaseFromBalance> for Payment {
    fn from(purchase: PurchaseFromBalance) -> Self {
        let PurchaseFromBalance { id, account_id, item, amount_minor, sandbox, created_at } = purchase;
        Self {
            key: id.clone(),
            id,
            item,
            rail: Rail::Balance,
            generation: 0,
            network: String::new(),
            asset: "usd".to_owned(),
            payer: account_id.clone(),
            pay_to: String::new(),
            amount: amount_minor,
            credit_minor: 0,
            refunded_minor: 0,
            disputed_minor: 0,
            payer_is_eoa: false,
            sandbox,
            request_hash: [0; 32],
            client: String::new(),
            once_hashes: Vec::new(),
            state: PaymentState::Fulfilled,
            ask: None,
            fee_payer: None,
            draft: None,
            bundle_id: None,
            site_id: None,
            account_id: Some(account_id),
            transaction: None,
            reason: None,
            attempts: 0,
            held_until: created_at,
            valid_until: created_at,
            created_at,
            updated_at: created_at,
            fulfilled_at: Some(created_at),
            delivered_at: Some(created_at),
        }
    }
}
