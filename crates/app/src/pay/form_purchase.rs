//! Purchases from a form of the dashboard: a form buys once, however often it is submitted.

use crate::app::App;
use crate::publish::idempotency::IdempotentRequest;
use dropleaf_core::account::Account;
use dropleaf_core::request_hash::RequestHash;
use dropleaf_core::unlock::Sku;
use dropleaf_core::{Error, Result};

/// Longer texts are not the ID of a form.
const ID_BYTES: usize = 64;

impl App {
    /// An ID for a form that buys something.
    pub fn new_form_id(&self) -> String {
        self.minter.nonce()
    }

    /// Buys an unlock from the balance, as `POST /unlock` does. A form that was submitted before changes nothing. False if the
    /// balance does not suffice.
    pub async fn unlock_from_form(&self, account: &Account, sku: Sku, form_id: &str) -> Result<bool> {
        if form_id.is_empty() || form_id.len() > ID_BYTES {
            return Err(Error::field("purchase", "must be the ID of the form"));
        }
        let once = IdempotentRequest {
            scope: account.id.clone(),
            // Keys of the API are the caller's own choice, and must not be mistaken for this one.
            key: format!("dashboard form {form_id}"),
            request_hash: RequestHash::new("unlock form").field("sku", sku.as_str()).finish(),
        };
        // The second of two clicks waits for the first and then learns its result, instead of failing because both are in
        // progress. On another node the transaction decides.
        let _lock = self.payments.locks.lock(&format!("form:{}", account.id)).await;
        let done = self.unlock_with_balance(account, sku, Some(&once), |_| Vec::new()).await?;
        Ok(done.is_some())
    }
}
