//! What happens to a payment without a request of ours: delayed money arrives or fails to, the cardholder disputes, an operator
//! refunds. The caller decides when.

use serde_json::Value;

use super::api_error::ApiError;
use super::call::Handled;
use super::checkout_session::CheckoutSession;
use super::decline::Decline;
use super::parameters::Metadata;
use super::payment::{Payment, PaymentState};
use super::refund::NewRefund;
use super::stored::{ObjectKey, ObjectKind};
use super::transaction::Transaction;
use super::{Context, StoredObject};
use crate::stripe::object_id::is_id;

/// Something that happens to a payment.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    pub payment: PaymentRef<'a>,
    pub kind: StepKind,
}

/// What a payment is found by. The payment of a checkout session must be found by the session, which changes with it.
#[derive(Debug, Clone, Copy)]
pub enum PaymentRef<'a> {
    Checkout(&'a str),
    Intent(&'a str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// The money of a stalled payment arrives.
    ReceiveFunds,
    /// The money of a stalled payment will not arrive.
    FailFunds,
    /// All that is left is refunded, unless an amount is given.
    Refund {
        amount: Option<u64>,
    },
    /// The latest refund that stands fails, and its amount comes back.
    FailRefund,
    /// All that is left is disputed and withdrawn, unless an amount is given.
    OpenDispute {
        amount: Option<u64>,
    },
    CloseDispute {
        won: bool,
    },
}

impl Step<'_> {
    /// The objects that [`run`](Self::run) must be given, as far as they exist.
    pub fn needs(&self) -> Vec<ObjectKey> {
        match self.payment {
            PaymentRef::Checkout(session) if is_id(session) => vec![
                ObjectKey::new(ObjectKind::CheckoutSession, session),
                ObjectKey::new(ObjectKind::Payment, &Payment::id_for_session(session)),
            ],
            PaymentRef::Intent(intent) if is_id(intent) => vec![ObjectKey::new(ObjectKind::Payment, intent)],
            _ => Vec::new(),
        }
    }

    /// Answers with the payment intent, the refund or the dispute.
    pub fn run(&self, found: &[StoredObject], context: &Context<'_>) -> Handled {
        let mut transaction = Transaction::new(found, context);
        let result = self.take(&mut transaction);
        Handled::finish(result, transaction, None)
    }

    fn take(&self, transaction: &mut Transaction<'_>) -> Result<Value, ApiError> {
        let (id, session) = match self.payment {
            PaymentRef::Intent(intent) => (intent.to_owned(), None),
            PaymentRef::Checkout(id) => {
                let session = CheckoutSession::get(transaction, id)?;
                (Payment::id_for_session(id), Some(session))
            }
        };
        let mut payment = Payment::get(transaction, &id)?;
        match self.kind {
            StepKind::ReceiveFunds => settle(transaction, payment, session, true),
            StepKind::FailFunds => settle(transaction, payment, session, false),
            StepKind::Refund { amount } => {
                NewRefund { payment: id, amount, reason: None, metadata: Metadata::new() }.run(transaction)
            }
            StepKind::FailRefund => payment.fail_refund(transaction),
            StepKind::OpenDispute { amount } => payment.open_dispute(transaction, amount),
            StepKind::CloseDispute { won } => payment.close_dispute(transaction, won),
        }
    }
}

fn settle(
    transaction: &mut Transaction<'_>,
    mut payment: Payment,
    session: Option<CheckoutSession>,
    is_received: bool,
) -> Result<Value, ApiError> {
    if payment.status != PaymentState::Processing {
        return Err(ApiError::invalid(
            Some("payment_intent_unexpected_state"),
            "The payment is not under way.",
        ));
    }
    if payment.session.is_some() && session.is_none() {
        return Err(ApiError::invalid(None, "Name the checkout session of this payment."));
    }
    if is_received {
        payment.succeed(transaction)?;
    } else {
        payment.decline(transaction, Decline::Generic)?;
    }
    if let Some(mut session) = session {
        if is_received {
            session.is_paid = true;
            transaction.save(&session)?;
            transaction.emit("checkout.session.async_payment_succeeded", &session.json());
        } else {
            transaction.emit("checkout.session.async_payment_failed", &session.json());
        }
    }
    Ok(payment.intent_json())
}
