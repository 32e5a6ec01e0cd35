//! Refunds: `POST /v1/refunds`.

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
        transaction.save(&payment)?;
        let refund = self.json(&payment, amount, transaction);
        transaction.emit("refund.created", &refund);
        transaction.emit("charge.refunded", &payment.charge_json());
        Ok(refund)
    }

    fn json(&self, payment: &Payment, amount: u64, transaction: &mut Transaction<'_>) -> Value {
        json!({
            "id": transaction.new_id("re_3", 23),
            "object": "refund",
            "amount": amount,
            "balance_transaction": null,
            "charge": payment.charge.as_ref().map(|charge| &charge.id),
            "created": transaction.now(),
            "currency": payment.currency,
            "customer": null,
            "customer_account": null,
            "destination_details": { "type": "card", "card": { "type": "refund" } },
            "metadata": self.metadata,
            "payment_intent": payment.id,
            "payment_method": payment.method,
            "reason": self.reason,
            "receipt_number": null,
            "source_transfer_reversal": null,
            "status": "succeeded",
            "transfer_reversal": null,
        })
    }
}

fn no_such_payment() -> ApiError {
    ApiError::no_such("payment_intent", "No such payment_intent.")
}
