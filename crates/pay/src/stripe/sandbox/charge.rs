//! The charge of a payment: one attempt to take money from a card.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::decline::Decline;
use super::null_members::with_nulls;
use super::payment::Payment;
use super::payment_method::{UsedCard, no_billing_details};

/// Members of a charge that the sandbox has no use for; clients expect them all the same.
const NULL_MEMBERS: [&str; 19] = [
    "application",
    "application_fee",
    "application_fee_amount",
    "balance_transaction",
    "customer",
    "description",
    "failure_balance_transaction",
    "on_behalf_of",
    "receipt_email",
    "receipt_number",
    "receipt_url",
    "review",
    "shipping",
    "source",
    "source_transfer",
    "statement_descriptor",
    "statement_descriptor_suffix",
    "transfer_data",
    "transfer_group",
];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Charge {
    pub(super) id: String,
    pub(super) created: i64,
    pub(super) status: ChargeStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChargeStatus {
    Pending,
    Succeeded,
    Failed(Decline),
}

impl Payment {
    /// The charge, which repeats much of the payment; null if there is none.
    pub(super) fn charge_json(&self) -> Value {
        let Some(charge) = &self.charge else { return Value::Null };
        let (status, decline) = match charge.status {
            ChargeStatus::Pending => ("pending", None),
            ChargeStatus::Succeeded => ("succeeded", None),
            ChargeStatus::Failed(decline) => ("failed", Some(decline)),
        };
        let is_paid = status == "succeeded";
        let members = json!({
            "id": charge.id,
            "object": "charge",
            "amount": self.amount,
            "amount_captured": if is_paid { self.amount } else { 0 },
            "amount_refunded": self.refunded,
            "billing_details": no_billing_details(),
            "calculated_statement_descriptor": "SANDBOX",
            "captured": is_paid,
            "created": charge.created,
            "currency": self.currency,
            "disputed": self.dispute.is_some(),
            "failure_code": decline.map(Decline::code),
            "failure_message": decline.map(Decline::message),
            "fraud_details": {},
            "livemode": false,
            "metadata": self.metadata,
            "outcome": outcome(charge.status),
            "paid": is_paid,
            "payment_intent": self.id,
            "payment_method": self.method,
            "payment_method_details": self.card.as_ref().map(UsedCard::details),
            "refunded": is_paid && self.refunded >= self.amount,
            "status": status,
        });
        with_nulls(members, &NULL_MEMBERS)
    }
}

/// How the card network and the risk check judged the charge.
fn outcome(status: ChargeStatus) -> Value {
    let (network_status, kind, reason, message) = match status {
        ChargeStatus::Pending => return Value::Null,
        ChargeStatus::Succeeded => ("approved_by_network", "authorized", None, "Payment complete."),
        ChargeStatus::Failed(decline) => {
            ("declined_by_network", "issuer_declined", decline.decline_code(), decline.message())
        }
    };
    json!({
        "network_status": network_status, "reason": reason, "risk_level": "normal", "seller_message": message, "type": kind,
    })
}
