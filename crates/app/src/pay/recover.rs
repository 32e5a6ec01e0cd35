//! Payments that nobody works on and that are not decided, after a crash or an unclear answer: they are driven on, so
//! that what was paid for is made though nobody asks again.

use super::PayError;
use super::PaymentSettings;
use super::replay::{KEY_SHOWN_SECONDS, WAITS_SECONDS};
use crate::app::App;
use dropleaf_core::payment::Payment;
use dropleaf_core::{Code, Error, Result};
use dropleaf_pay::Network;
use dropleaf_store::{Stmt, payments};
use futures_util::StreamExt;
use futures_util::stream;
use std::sync::atomic::{AtomicUsize, Ordering};

const AT_MOST: i64 = 100;
/// A facilitator that hangs for one must not keep the others waiting.
const AT_ONCE: usize = 8;
/// A chain that comes and goes ends the pauses of unknown payments so often at most.
const WAKE_SECONDS: i64 = 600;

impl App {
    /// To be called before anybody is served: what the last run of this server held, nobody holds any more. Where other
    /// servers share the database it may be theirs, and ends by itself.
    pub async fn let_go_of_payments(&self) -> Result<()> {
        if !self.store.db.is_shared() {
            self.store.commit(vec![payments::let_go(self.now())]).await?;
        }
        Ok(())
    }

    /// Drives on what was left; says how many of them are decided now.
    pub async fn recover_payments(&self) -> Result<usize> {
        self.recover_payments_while(|| true).await
    }

    /// The same, but begins with no other payment when it is told to stop. What it has begun with it ends. What was
    /// reserved in another mode is left for the day that mode is back, unless it is settled: then nobody has to be asked.
    pub async fn recover_payments_while(&self, go_on: impl Fn() -> bool) -> Result<usize> {
        let sandbox = self.settings.payments.as_ref().map(PaymentSettings::is_sandbox);
        let sandbox = sandbox.filter(|_| self.facilitator.is_some());
        let now = self.now();
        if let Some(facilitator) = &self.facilitator
            && now >= self.next_wake.load(Ordering::Relaxed)
            && facilitator.is_chain_back().await
        {
            self.store.commit(vec![payments::wake_unknown(now)]).await?;
            self.next_wake.store(now + WAKE_SECONDS, Ordering::Relaxed);
        }
        let stray = self.store.list_stray_payments(sandbox, self.now(), AT_MOST).await?;
        let decided = AtomicUsize::new(0);
        stream::iter(stray)
            .for_each_concurrent(AT_ONCE, |payment| async {
                if go_on() && self.recover(payment).await {
                    decided.fetch_add(1, Ordering::Relaxed);
                }
            })
            .await;
        Ok(decided.into_inner())
    }

    async fn recover(&self, payment: Payment) -> bool {
        // A request works on it.
        let Some(_turn) = self.payment_locks.try_take(&payment.key) else { return false };
        let driven = match self.hold(&payment).await {
            Ok(held) => Box::pin(self.drive(held, false)).await,
            Err(error) => Err(error),
        };
        match driven {
            Ok(_) | Err(PayError::Refused(_)) => true,
            Err(PayError::Failed(error)) => {
                // Of the others the log has heard already, or another node works on it.
                if !matches!(error.code, Code::SettlementUnknown | Code::PaidNotSaved | Code::PaymentInFlight)
                {
                    tracing::warn!(%error, source = ?error.source, payment = payment.id, "a payment could not be taken up");
                }
                false
            }
        }
    }

    /// Asks about one open payment now, whatever its pauses are; the payment as it is afterwards.
    pub async fn ask_payment(&self, id: &str) -> Result<Payment> {
        let payment = self.get_payment(id).await?;
        // A request that is under way for this payment completes first.
        let _turn = self.payment_locks.take(&payment.key).await;
        let payment = self.get_payment(id).await?;
        if !payment.state.is_open() || payment.has_lost_content() {
            let state = payment.state.as_str();
            return Err(Error::new(
                Code::Conflict,
                format!("The payment is `{state}`. There is nothing to check."),
            ));
        }
        if !self.is_at_home(&payment) {
            let said = "The payment was reserved under a different `payments.mode` and cannot be looked up in the current mode.";
            return Err(Error::new(Code::Conflict, said));
        }
        let driven = match self.hold(&payment).await {
            Ok(held) => Box::pin(self.drive(held, false)).await,
            Err(error) => Err(error),
        };
        match driven {
            Err(PayError::Failed(error)) if error.code == Code::PaymentInFlight => {
                let said = "The payment is being processed. Try again in a minute.";
                Err(Error::new(Code::Conflict, said))
            }
            // What came of it is in the row.
            Err(PayError::Failed(error))
                if !matches!(error.code, Code::SettlementUnknown | Code::PaidNotSaved) =>
            {
                Err(error)
            }
            Ok(_) | Err(_) => self.get_payment(id).await,
        }
    }

    /// The networks that are paid on and whose chain cannot be asked: whatever gets lost there is left to the operator.
    pub fn unseen_networks(&self) -> Vec<Network> {
        let Some(payments) = self.settings.payments.as_ref().filter(|it| !it.is_sandbox()) else {
            return Vec::new();
        };
        let can_see = |network: &Network| {
            self.facilitator.as_ref().is_some_and(|it| it.can_trace(&network.to_string()))
        };
        payments.networks().into_iter().filter(|network| !can_see(network)).collect()
    }

    /// Whether somebody in this process works on a payment.
    pub fn has_payments_in_flight(&self) -> bool {
        self.payment_locks.is_busy()
    }

    /// Erases secrets that are not shown again.
    pub(crate) fn erase_drafts(&self) -> Stmt {
        let now = self.now();
        let page = now - self.settings.retention.idempotency;
        payments::erase_drafts(page, now - KEY_SHOWN_SECONDS, now - WAITS_SECONDS)
    }
}
