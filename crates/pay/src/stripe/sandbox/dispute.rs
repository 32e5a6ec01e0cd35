//! Disputes: the bank takes a payment back, and gives it to us again if we win.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::api_error::ApiError;
use super::payment::{Payment, PaymentState};
use super::transaction::Transaction;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Dispute {
    pub(super) id: String,
    pub(super) created: i64,
    pub(super) amount: u64,
    pub(super) status: DisputeStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum DisputeStatus {
    NeedsResponse,
    Won,
    Lost,
}

impl Payment {
    /// The cardholder disputes an amount, or all that is not refunded; it is withdrawn at once.
    pub(super) fn open_dispute(
        &mut self,
        transaction: &mut Transaction<'_>,
        amount: Option<u64>,
    ) -> Result<Value, ApiError> {
        if self.status != PaymentState::Succeeded {
            return Err(ApiError::invalid(None, "Only a payment that succeeded can be disputed."));
        }
        if self.dispute.is_some() {
            return Err(ApiError::invalid(Some("charge_disputed"), "The payment is disputed already."));
        }
        let remaining = self.amount.saturating_sub(self.refunded);
        let amount = amount.unwrap_or(remaining);
        if amount == 0 || amount > remaining {
            return Err(ApiError::invalid(None, "There is not that much left to dispute.").at("amount"));
        }
        let id = transaction.new_id("du_1", 24);
        let status = DisputeStatus::NeedsResponse;
        self.dispute = Some(Dispute { id, created: transaction.now(), amount, status });
        transaction.save(self)?;
        let json = self.dispute_json();
        transaction.emit("charge.dispute.created", &json);
        transaction.emit("charge.dispute.funds_withdrawn", &json);
        Ok(json)
    }

    /// The bank decides the dispute; if we win, the amount comes back.
    pub(super) fn close_dispute(
        &mut self,
        transaction: &mut Transaction<'_>,
        won: bool,
    ) -> Result<Value, ApiError> {
        match &mut self.dispute {
            Some(dispute) if dispute.status == DisputeStatus::NeedsResponse => {
                dispute.status = if won { DisputeStatus::Won } else { DisputeStatus::Lost };
            }
            _ => return Err(ApiError::invalid(None, "The payment has no open dispute.")),
        }
        transaction.save(self)?;
        let json = self.dispute_json();
        transaction.emit("charge.dispute.closed", &json);
        if won {
            transaction.emit("charge.dispute.funds_reinstated", &json);
        }
        Ok(json)
    }

    /// The part of the payment that a dispute has taken.
    pub(super) fn disputed_amount(&self) -> u64 {
        let taken = self.dispute.as_ref().filter(|dispute| dispute.status != DisputeStatus::Won);
        taken.map_or(0, |dispute| dispute.amount)
    }

    fn dispute_json(&self) -> Value {
        let Some(dispute) = &self.dispute else { return Value::Null };
        json!({
            "id": dispute.id,
            "object": "dispute",
            "amount": dispute.amount,
            "balance_transactions": [],
            "charge": self.charge.as_ref().map(|charge| &charge.id),
            "created": dispute.created,
            "currency": self.currency,
            "enhanced_eligibility_types": [],
            "evidence": {},
            "evidence_details": { "due_by": null, "has_evidence": false, "past_due": false, "submission_count": 0 },
            "intended_submission_method": null,
            "is_charge_refundable": false,
            "livemode": false,
            "metadata": {},
            "payment_intent": self.id,
            "reason": "fraudulent",
            "status": dispute.status,
        })
    }
}
