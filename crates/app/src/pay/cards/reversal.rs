//! Money of a card payment that goes back to the cardholder: refunds and disputes, refunds that failed, and disputes that
//! were won. What was bought stays; credit goes back as far as it is left, and what was spent of it is recorded as owed.

use super::checkout::unavailable;
use super::webhook::PaymentEvent;
use crate::app::App;
use crate::publish::CONFLICT_RETRIES;
use dropleaf_core::ledger::{Book, Posting, Reversal, ReversalCause, unit_of};
use dropleaf_core::payment::PaymentState::{Fulfilled, Refunded, Refused, Settled};
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::{Code, Error, Result};
use dropleaf_pay::stripe::{Currency, ObjectId, ReadFault, list_refunds, read_refunds};
use dropleaf_store::{DbError, Stmt, card_payments, ledger, payments, processor_events};

/// The reason of a payment that was refunded before anything was delivered.
const REFUNDED_BY_PROCESSOR: &str = "refunded by the card processor";

impl App {
    /// Applies an event to the payment with this payment intent. False if it has to wait for the payment.
    pub(super) async fn apply_to_payment(&self, intent: &str, event: &PaymentEvent) -> Result<bool> {
        for _ in 0..CONFLICT_RETRIES {
            let Some(payment) = self.store.find_payment_by_intent(intent).await? else { return Ok(false) };
            // Asked for again with each attempt, so that an old sum never replaces a newer one.
            let refunded = match (event, payment.state) {
                (PaymentEvent::Refunded {}, Fulfilled | Settled | Refunded) => {
                    self.fetch_refunded(&payment, intent).await?
                }
                _ => 0,
            };
            let stmts = match payment.state {
                Fulfilled => self.reversal_stmts(&payment, event, refunded).await?,
                Settled => match self.refund_undelivered(&payment, event, refunded) {
                    Some(stmts) => Some(stmts),
                    None => return Ok(false),
                },
                Refunded => match self.reopen_refunded(&payment, event, refunded)? {
                    Some(stmt) => match self.store.commit(vec![stmt]).await {
                        Ok(_) => {
                            tracing::warn!(
                                payment = payment.id,
                                "refund failed: card payment is settled again"
                            );
                            // What is left of the refunds waits until it is fulfilled.
                            return Ok(false);
                        }
                        Err(DbError::Guard(payments::MOVED)) => continue,
                        Err(error) => return Err(error.into()),
                    },
                    None => return Ok(true),
                },
                Refused => return Ok(true),
                _ => return Ok(false),
            };
            let Some(stmts) = stmts else { return Ok(true) };
            match self.commit_reversal(&payment, stmts).await {
                Ok(()) => {
                    tracing::warn!(payment = payment.id, ?event, "card payment reversed");
                    return Ok(true);
                }
                // Something else changed the payment or the balance meanwhile: divide the amount again.
                Err(DbError::Guard(
                    card_payments::REVERSED
                    | ledger::OVERDRAWN
                    | ledger::POSTED
                    | processor_events::STORED
                    | payments::MOVED,
                )) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::new(Code::Conflict, "Another request is changing the payment. Try again."))
    }

    async fn commit_reversal(&self, payment: &Payment, stmts: Vec<Stmt>) -> Result<(), DbError> {
        match &payment.account_id {
            Some(account) => self.commit_credential_change(account, stmts).await,
            None => self.store.commit(stmts).await.map(|_| ()),
        }
    }

    /// A settled payment that buys nothing yet and was refunded in full buys nothing any more.
    fn refund_undelivered(
        &self,
        payment: &Payment,
        event: &PaymentEvent,
        refunded: i64,
    ) -> Option<Vec<Stmt>> {
        match event {
            PaymentEvent::Refunded {} if refunded >= payment.amount && payment.held_until <= self.now() => {
                Some(self.end_payment_stmts(payment, PaymentState::Refunded, REFUNDED_BY_PROCESSOR))
            }
            _ => None,
        }
    }

    /// A payment that bought nothing because it was refunded, and whose refund failed, is settled again: the recovery fulfils it.
    /// One that an operator refunded is left alone.
    fn reopen_refunded(
        &self,
        payment: &Payment,
        event: &PaymentEvent,
        refunded: i64,
    ) -> Result<Option<Stmt>> {
        let is_ours = payment.reason.as_deref() == Some(REFUNDED_BY_PROCESSOR);
        if !is_ours || *event != (PaymentEvent::Refunded {}) || refunded >= payment.amount {
            return Ok(None);
        }
        let now = self.now();
        let draft = match payment.item {
            Item::Provision => Some(self.seal_draft(&self.draft_key(), &payment.id)?),
            _ => None,
        };
        let state = PaymentState::Settled;
        let settled =
            Payment { state, draft, reason: None, held_until: now, updated_at: now, ..payment.clone() };
        Ok(Some(payments::update(payment, &settled)))
    }

    /// The sum of the refunds of a payment that stand, in cents. Fails if the processor does not say, so that it repeats the event.
    pub(super) async fn fetch_refunded(&self, payment: &Payment, intent: &str) -> Result<i64> {
        let id = ObjectId::parse(intent).ok_or_else(|| Error::internal("payment intent cannot be read"))?;
        let reply = self.require_processor()?.send(&list_refunds(&id)).await;
        let reply = reply.map_err(|lost| unavailable(lost.0))?;
        let sum = read_refunds(reply.status, &reply.body, &id).map_err(|fault| {
            if fault == ReadFault::Misconfigured {
                tracing::error!(
                    "card processor does not list refunds; stripe.secret_key must be able to read them"
                );
            }
            unavailable(format!("{fault:?}"))
        })?;
        let Some(sum) = sum else { return Ok(0) };
        if sum.currency != Currency::USD {
            return Err(unavailable("the refunds are in another currency"));
        }
        Ok(i64::try_from(sum.minor_units).unwrap_or(i64::MAX).min(payment.amount))
    }

    /// The statements of an event; `None` if it changes nothing (any more). The sums of refunds and of disputes are kept apart and
    /// posted as one total, so that the order of the events does not matter.
    async fn reversal_stmts(
        &self,
        payment: &Payment,
        event: &PaymentEvent,
        refunded: i64,
    ) -> Result<Option<Vec<Stmt>>> {
        let mut stmts = vec![card_payments::lock(&payment.id)];
        let (mut after, now) = (payment.clone(), self.now());
        let cause = match event {
            PaymentEvent::Refunded {} => {
                if refunded == payment.refunded_minor {
                    return Ok(None);
                }
                after.refunded_minor = refunded;
                let posted = self.store.count_refund_postings(&payment.id).await?;
                ReversalCause::Refund { total: refunded, posted }
            }
            PaymentEvent::Disputed { dispute, amount } => {
                let DisputeMarks { begun, ended } = DisputeMarks::of(dispute);
                let amount = (*amount).min(payment.amount);
                if amount <= 0
                    || self.store.find_mark(&begun).await?.is_some()
                    || self.store.find_mark(&ended).await?.is_some()
                {
                    return Ok(None);
                }
                stmts.push(processor_events::require_absent(&ended));
                stmts.push(processor_events::mark(&begun, &amount.to_string(), now));
                after.disputed_minor = payment.disputed_minor.saturating_add(amount);
                ReversalCause::Dispute(dispute)
            }
            PaymentEvent::Reinstated { dispute } => {
                let DisputeMarks { begun, ended } = DisputeMarks::of(dispute);
                if self.store.find_mark(&ended).await?.is_some() {
                    return Ok(None);
                }
                stmts.push(processor_events::mark(&ended, "", now));
                let Some(amount) = self.store.find_mark(&begun).await? else {
                    // The end of the dispute overtook its beginning: the beginning will have no effect.
                    stmts.push(processor_events::require_absent(&begun));
                    return Ok(Some(stmts));
                };
                after.disputed_minor -= amount.parse::<i64>().map_err(Error::internal)?;
                ReversalCause::Reinstatement(dispute)
            }
        };
        stmts.push(card_payments::set_reversed(payment, &after, now));
        if after.reversed_minor() != payment.reversed_minor() {
            let parts = self.divide_reversal(payment, after.reversed_minor()).await?;
            stmts.extend(self.posting_stmts(Posting::reversal(payment, cause, parts)));
        }
        Ok(Some(stmts))
    }

    async fn divide_reversal(&self, payment: &Payment, after: i64) -> Result<Reversal> {
        let (available, owed) = match &payment.account_id {
            Some(id) => {
                let available = self.store.find_account(id).await?.map_or(0, |account| {
                    if payment.sandbox { account.sandbox_balance_minor } else { account.balance_minor }
                });
                let book = Book::owed(id, unit_of(payment));
                (available, self.store.sum_owed(&payment.id, &book).await?)
            }
            None => (0, 0),
        };
        Ok(Reversal::between(payment, payment.reversed_minor(), after, available, owed))
    }
}

/// The marks of what was received about a dispute.
struct DisputeMarks {
    /// Its text is the amount.
    begun: String,
    ended: String,
}

impl DisputeMarks {
    fn of(dispute: &str) -> Self {
        Self { begun: format!("disputed:{dispute}"), ended: format!("reinstated:{dispute}") }
    }
}
