//! Refunds: `POST /v1/refunds`, `GET /v1/refunds`, and refunds that fail later.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::api_error::ApiError;
use super::parameters::{Metadata, Parameters};
use super::payment::{Payment, PaymentState};
use super::transaction::Transaction;
use crate::stripe::object_id::is_id;

/// A refund of a payment.
#[derive(Debug, Clone)]
pub(super) struct NewRefund {
    pub(super) payment: String,
    /// All that is left, unless it is given.
    pub(super) amount: Option<u64>,
    pub(super) reason: Option<String>,
    pub(super) metadata: Metadata,
}

impl NewRefund {
    pub(super) fn read(mut parameters: Parameters) -> Result<Self, ApiError> {
        let new = Self {
            payment: parameters.required("payment_intent", 255)?,
            amount: parameters.integer("amount")?,
            reason: parameters.one_of("reason", &["duplicate", "fraudulent", "requested_by_customer"])?,
            metadata: parameters.metadata("metadata")?,
        };
        parameters.finish()?;
        if !is_id(&new.payment) {
            return Err(no_such_payment());
        }
        Ok(new)
    }

    pub(super) fn run(&self, transaction: &mut Transaction<'_>) -> Result<Value, ApiError> {
        let payment = transaction.load(&self.payment)?;
        let mut payment: Payment = payment.ok_or_else(no_such_payment)?;
        if payment.status != PaymentState::Succeeded {
            let message = "This payment intent has no successful charge to refund.";
            return Err(ApiError::invalid(Some("payment_intent_unexpected_state"), message));
        }
        let remaining = payment.amount.saturating_sub(payment.refunded);
        if remaining == 0 {
            let message = "The charge has already been refunded.";
            return Err(ApiError::invalid(Some("charge_already_refunded"), message));
        }
        let amount = self.amount.unwrap_or(remaining);
        if amount == 0 {
            return Err(ApiError::invalid(None, "The amount must be at least 1.").at("amount"));
        }
        if amount > remaining {
            let message = "The refund is greater than the amount that has not been refunded.";
            return Err(ApiError::invalid(Some("amount_too_large"), message).at("amount"));
        }
        // What the bank has taken back cannot be given back a second time.
        if amount > remaining.saturating_sub(payment.disputed_amount()) {
            return Err(ApiError::invalid(Some("charge_disputed"), "The charge is disputed."));
        }
        payment.refunded = payment.refunded.saturating_add(amount);
        let refund = Refund {
            id: transaction.new_id("re_3", 23),
            created: transaction.now(),
            amount,
            reason: self.reason.clone(),
            metadata: self.metadata.clone(),
            has_failed: false,
        };
        let json = refund.json(&payment);
        payment.refunds.push(refund);
        transaction.save(&payment)?;
        transaction.emit("refund.created", &json);
        transaction.emit("charge.refunded", &payment.charge_json());
        Ok(json)
    }
}

impl Payment {
    /// The bank of the cardholder returns the latest refund that stands.
    pub(super) fn fail_refund(&mut self, transaction: &mut Transaction<'_>) -> Result<Value, ApiError> {
        let Some(at) = self.refunds.iter().rposition(|refund| !refund.has_failed) else {
            return Err(ApiError::invalid(None, "The payment has no refund that stands."));
        };
        if let Some(refund) = self.refunds.get_mut(at) {
            refund.has_failed = true;
            self.refunded = self.refunded.saturating_sub(refund.amount);
        }
        transaction.save(self)?;
        let json = self.refunds.get(at).map(|refund| refund.json(self)).unwrap_or_default();
        transaction.emit("refund.updated", &json);
        transaction.emit("refund.failed", &json);
        transaction.emit("charge.refund.updated", &json);
        Ok(json)
    }

    /// The refunds, newest first.
    fn refunds_json(&self) -> Value {
        let all: Vec<Value> = self.refunds.iter().rev().map(|refund| refund.json(self)).collect();
        json!({ "object": "list", "data": all, "has_more": false, "url": "/v1/refunds" })
    }
}

/// The refunds of one payment: `GET /v1/refunds`.
#[derive(Debug, Clone)]
pub(super) struct RefundList {
    pub(super) payment: String,
}

impl RefundList {
    pub(super) fn read(mut parameters: Parameters) -> Result<Self, ApiError> {
        let payment = parameters.required("payment_intent", 255)?;
        let limit = parameters.integer("limit")?;
        parameters.finish()?;
        if !limit.is_none_or(|limit| (1..=100).contains(&limit)) {
            return Err(ApiError::invalid(None, "The limit must be 1 to 100.").at("limit"));
        }
        if is_id(&payment) { Ok(Self { payment }) } else { Err(no_such_payment()) }
    }

    pub(super) fn run(&self, transaction: &Transaction<'_>) -> Result<Value, ApiError> {
        let payment: Option<Payment> = transaction.load(&self.payment)?;
        payment.map(|payment| payment.refunds_json()).ok_or_else(no_such_payment)
    }
}

/// A refund that was made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Refund {
    id: String,
    created: i64,
    amount: u64,
    reason: Option<String>,
    metadata: Metadata,
    has_failed: bool,
}

impl Refund {
    fn json(&self, payment: &Payment) -> Value {
        json!({
            "id": self.id,
            "object": "refund",
            "amount": self.amount,
            "balance_transaction": null,
            "charge": payment.charge.as_ref().map(|charge| &charge.id),
            "created": self.created,
            "currency": payment.currency,
            "customer": null,
            "customer_account": null,
            "destination_details": { "type": "card", "card": { "type": "refund" } },
            "failure_reason": self.has_failed.then_some("lost_or_stolen_card"),
            "metadata": self.metadata,
            "payment_intent": payment.id,
            "payment_method": payment.method,
            "reason": self.reason,
            "receipt_number": null,
            "source_transfer_reversal": null,
            "status": if self.has_failed { "failed" } else { "succeeded" },
            "transfer_reversal": null,
        })
    }
}

fn no_such_payment() -> ApiError {
    ApiError::no_such("payment_intent", "No such payment_intent.")
}
