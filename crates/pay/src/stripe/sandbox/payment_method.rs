//! The card that a payment used, as far as the processor shows it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The visible part of a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UsedCard {
    pub(super) brand: String,
    pub(super) last4: String,
    pub(super) exp_month: u8,
    pub(super) exp_year: u16,
}

impl UsedCard {
    /// `payment_method_details` of a charge or a granted token.
    pub(super) fn details(&self) -> Value {
        json!({
            "type": "card",
            "card": {
                "brand": self.brand,
                "checks": { "address_line1_check": null, "address_postal_code_check": null, "cvc_check": "pass" },
                "country": "US",
                "exp_month": self.exp_month,
                "exp_year": self.exp_year,
                "funding": "credit",
                "last4": self.last4,
                "network": self.brand,
                "wallet": null,
            },
        })
    }
}

/// Billing details that nobody entered.
pub(super) fn no_billing_details() -> Value {
    let address = json!({ "city": null, "country": null, "line1": null, "line2": null, "postal_code": null, "state": null });
    json!({ "address": address, "email": null, "name": null, "phone": null, "tax_id": null })
}
