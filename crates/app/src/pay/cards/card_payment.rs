//! Records a payment by card once the processor reports it as paid, and fulfils it. A form becomes at most one payment,
//! however often it is reported.

use super::checkout::unavailable;
use super::payment_row::NewCardPayment;
use crate::app::App;
use crate::pay::PayError;
use crate::pay::draft::Draft;
use crate::pay::settle::{Settlement, SettlementHistory};
use dropleaf_core::pay_session::{Feature, PaySession};
use dropleaf_core::payment::{Payment, PaymentState};
use dropleaf_core::rail::Rail;
use dropleaf_core::{Code, Result};
use dropleaf_pay::stripe::{Checkout, Currency, PaymentStatus};
use dropleaf_store::{DbError, card_payments, pay_sessions, payments};

/// What an operator reads about a payment that does not match its session.
const MISMATCH: &str =
    "the card processor reports a payment that does not match the pay session; compare them in its dashboard";

/// The key of a new account, taken out of its payment.
#[derive(Debug)]
pub struct DeliveredKey {
    pub secret: String,
    pub prefix: String,
}

impl App {
    /// Records the payment of a session and fulfils it. Does nothing if that was done before.
    pub(super) async fn receive_card_payment(&self, session: &PaySession, checkout: &Checkout) -> Result<()> {
        let payment =
            self.card_payment_row(session, checkout, PaymentState::Settled, session.amount_minor)?;
        // Of several reports, in this process, one works and the others wait for it.
        let _lock = self.payments.locks.lock(&payment.key).await;
        let (payment, is_new) = self.insert_card_payment(session, payment).await?;
        let payment = match payment.state {
            PaymentState::Settled if is_new => payment,
            PaymentState::Settled => match self.acquire_payment_lease(&payment).await {
                Ok(held) => held,
                Err(error) => return left_to_another(error),
            },
            _ => return Ok(()),
        };
        let intent = payment.transaction.clone().unwrap_or_default();
        if let Err(error) = Box::pin(self.fulfil_payment(payment, intent.clone(), false)).await {
            return left_to_another(error);
        }
        self.apply_waiting_events(&intent).await
    }

    /// The row of this form: the given one and true, or the one that another report inserted.
    async fn insert_card_payment(&self, session: &PaySession, payment: Payment) -> Result<(Payment, bool)> {
        if let Some(found) = self.store.find_payment_by_key(&payment.key).await? {
            return Ok((found, false));
        }
        let stmts = vec![payments::insert(&payment), pay_sessions::set_payment(&session.id, &payment.id)];
        match self.store.commit(stmts).await {
            Ok(_) => Ok((payment, true)),
            Err(DbError::Guard(payments::TAKEN)) => {
                let found = self.store.find_payment_by_key(&payment.key).await?;
                Ok((found.ok_or_else(|| unavailable("card payment vanished"))?, false))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn card_payment_row(
        &self,
        session: &PaySession,
        checkout: &Checkout,
        state: PaymentState,
        amount: i64,
    ) -> Result<Payment> {
        let row = self.new_card_payment(NewCardPayment {
            key: format!("{}:{}", card_payments::NETWORK, checkout.id),
            item: session.feature.item(),
            rail: Rail::Card,
            amount,
            sandbox: session.sandbox,
            request_hash: session.code_hash,
        });
        let draft = match session.feature {
            Feature::Provision => Some(self.seal_draft(&self.draft_key(), &row.id)?),
            Feature::Topup | Feature::Unlock(_) => None,
        };
        let intent = checkout.payment_intent.as_ref().unwrap_or(&checkout.id);
        Ok(Payment {
            credit_minor: session.credit_minor(),
            state,
            draft,
            account_id: session.account_id.clone(),
            transaction: Some(intent.to_string()),
            ..row
        })
    }

    /// A form that is not the one of its session. If it was paid, an operator has to decide, so it becomes a payment with an
    /// unknown outcome; nothing is delivered for it.
    pub(super) async fn report_mismatch(
        &self,
        session: &PaySession,
        checkout: &Checkout,
        why: &'static str,
    ) -> Result<()> {
        tracing::error!(session = session.id, checkout = %checkout.id, why, "card payment does not match");
        if checkout.payment_status != PaymentStatus::Paid {
            return Ok(());
        }
        let dollars = checkout.amount_total.filter(|total| total.currency == Currency::USD);
        let paid = dollars.and_then(|total| i64::try_from(total.minor_units).ok()).filter(|paid| *paid > 0);
        // Without an amount in dollars, what was agreed on is shown, and nothing can become credit.
        let amount = paid.unwrap_or(session.amount_minor);
        let row = self.card_payment_row(session, checkout, PaymentState::Unknown, amount)?;
        let price = if session.feature == Feature::Topup { 0 } else { session.price_minor };
        let row = Payment {
            // Not the key of the form: if the form is reported correctly after all, that is a payment of its own.
            key: format!("{}:{}", row.key, session.id),
            reason: Some(why.to_owned()),
            credit_minor: paid.map_or(0, |paid| (paid - price).max(0)),
            ..row
        };
        // If the operator finds that it is the payment of this session, the session completes.
        let stmts = vec![payments::insert(&row), pay_sessions::set_doubtful_payment(&session.id, &row.id)];
        match self.store.commit(stmts).await {
            Ok(_) | Err(DbError::Guard(payments::TAKEN)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Learns what became of a card payment that is not settled. A token is charged again, which charges nothing twice; a
    /// payment that does not match its session is left to an operator.
    pub(in crate::pay) async fn settle_card_payment(
        &self,
        payment: &mut Payment,
        past: SettlementHistory,
    ) -> Result<Settlement> {
        match payment.rail {
            Rail::Acp | Rail::Ap2 => self.charge_reserved_token(payment, past).await,
            _ => Ok(Settlement::Ambiguous { why: MISMATCH, transaction: payment.transaction.clone() }),
        }
    }

    /// Takes the key of a fulfilled payment, exactly once. `None` if it was taken before.
    pub(super) async fn take_provisioned_key(&self, payment_id: &str) -> Result<Option<DeliveredKey>> {
        let payment = self.get_payment(payment_id).await?;
        if payment.state != PaymentState::Fulfilled
            || payment.delivered_at.is_some()
            || payment.draft.is_none()
        {
            return Ok(None);
        }
        let Draft::Key(draft) = self.open_draft(&payment)? else { return Ok(None) };
        let (new, now) = (draft.key(&payment), self.now());
        let key = DeliveredKey { secret: new.secret, prefix: new.key.prefix };
        let by = self.minter.ordered_id("take", now);
        match self.store.commit(vec![card_payments::take_key(payment_id, &by, now)]).await {
            Ok(_) => Ok(Some(key)),
            Err(DbError::Guard(card_payments::DELIVERED)) => Ok(None),
            // The commit may have succeeded: then the key is this response's to deliver. Another poll may have taken it at the
            // same time, so when it was taken proves nothing.
            Err(error @ DbError::Unavailable(_)) => {
                let taken = self.store.is_key_taken_by(payment_id, &by).await?;
                if taken { Ok(Some(key)) } else { Err(error.into()) }
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Another worker fulfils the payment, or recovery will: it is recorded as settled.
fn left_to_another(error: PayError) -> Result<()> {
    match error {
        PayError::Failed(error) if matches!(error.code, Code::PaymentInFlight | Code::PaidNotSaved) => Ok(()),
        PayError::Failed(error) => Err(error),
        PayError::Refused(refused) => Err(unavailable(refused.reason)),
    }
}
