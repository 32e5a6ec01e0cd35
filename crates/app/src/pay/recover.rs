//! Recovers undecided payments that no worker holds, after a crash or an ambiguous answer: they are advanced, so that what
//! was paid for is delivered even if the client does not ask again.

use super::PayError;
use super::PaymentSettings;
use super::replay::{KEY_SHOWN_SECONDS, UNDELIVERED_SECONDS};
use crate::app::App;
use dropleaf_core::payment::Payment;
use dropleaf_core::{Code, Error, Result};
use dropleaf_pay::Network;
use dropleaf_store::{Stmt, payments};
use futures_util::StreamExt;
use futures_util::stream;
use std::sync::atomic::{AtomicUsize, Ordering};

const AT_MOST: i64 = 100;
/// Concurrent recoveries, so that a facilitator that hangs for one payment does not block the others.
const CONCURRENT_PAYMENTS: usize = 8;
/// Minimum interval between resuming all parked payments, for a chain that comes and goes.
const RESUME_ALL_INTERVAL: i64 = 600;

impl App {
    /// Releases the leases of this server's previous run. Call it before serving requests. If other servers share the
    /// database the leases may be theirs, so they are left to expire.
    pub async fn release_payment_leases(&self) -> Result<()> {
        if !self.store.db.is_shared() {
            self.store.commit(vec![payments::release_holds(self.now())]).await?;
        }
        Ok(())
    }

    /// Advances what was left open; returns how many payments are decided now.
    pub async fn recover_payments(&self) -> Result<usize> {
        self.recover_payments_while(|| true).await
    }

    /// The same, but starts no further payment once `go_on` returns false; those already started are completed. Payments
    /// reserved in another mode are left until that mode is back, unless they are settled, since those need no
    /// facilitator.
    pub async fn recover_payments_while(&self, go_on: impl Fn() -> bool) -> Result<usize> {
        let sandbox = self.settings.payments.as_ref().map(PaymentSettings::is_sandbox);
        let sandbox =
            sandbox.filter(|_| self.payments.facilitator.is_some() || self.payments.processor.is_some());
        let now = self.now();
        if let Some(facilitator) = &self.payments.facilitator
            && now >= self.payments.next_resume_at.load(Ordering::Relaxed)
            && facilitator.has_chain_recovered().await
        {
            self.store.commit(vec![payments::retry_unknown(now)]).await?;
            self.payments.next_resume_at.store(now + RESUME_ALL_INTERVAL, Ordering::Relaxed);
        }
        let unleased = self.store.list_resumable_payments(sandbox, self.now(), AT_MOST).await?;
        let decided = AtomicUsize::new(0);
        stream::iter(unleased)
            .for_each_concurrent(CONCURRENT_PAYMENTS, |payment| async {
                if go_on() && self.resume_payment(payment).await {
                    decided.fetch_add(1, Ordering::Relaxed);
                }
            })
            .await;
        Ok(decided.into_inner())
    }

    async fn resume_payment(&self, payment: Payment) -> bool {
        // A request is working on it.
        let Some(_lock) = self.payments.locks.try_lock(&payment.key) else { return false };
        let advanced = match self.acquire_payment_lease(&payment).await {
            Ok(held) => Box::pin(self.advance_payment(held, false)).await,
            Err(error) => Err(error),
        };
        match advanced {
            Ok(_) | Err(PayError::Refused(_)) => true,
            Err(PayError::Failed(error)) => {
                // The others are logged already, or another node works on it.
                if !matches!(error.code, Code::SettlementUnknown | Code::PaidNotSaved | Code::PaymentInFlight)
                {
                    tracing::warn!(%error, source = ?error.source, payment = payment.id, "payment not resumed");
                }
                false
            }
        }
    }

    /// Checks one open payment now, regardless of its pauses, and returns it afterwards.
    pub async fn check_payment_now(&self, id: &str) -> Result<Payment> {
        let payment = self.get_payment(id).await?;
        // A request in progress for this payment completes first.
        let _lock = self.payments.locks.lock(&payment.key).await;
        let payment = self.get_payment(id).await?;
        if !payment.can_be_checked() {
            let state = payment.state.as_str();
            return Err(Error::new(
                Code::Conflict,
                format!("The payment is `{state}`. There is nothing to check."),
            ));
        }
        if !self.is_same_mode(&payment) {
            let detail = "The payment was reserved under a different `payments.mode` and cannot be looked up in the current mode.";
            return Err(Error::new(Code::Conflict, detail));
        }
        let advanced = match self.acquire_payment_lease(&payment).await {
            Ok(held) => Box::pin(self.advance_payment(held, false)).await,
            Err(error) => Err(error),
        };
        match advanced {
            Err(PayError::Failed(error)) if error.code == Code::PaymentInFlight => {
                let detail = "The payment is being processed. Try again in a minute.";
                Err(Error::new(Code::Conflict, detail))
            }
            // The outcome is in the row.
            Err(PayError::Failed(error))
                if !matches!(error.code, Code::SettlementUnknown | Code::PaidNotSaved) =>
            {
                Err(error)
            }
            Ok(_) | Err(_) => self.get_payment(id).await,
        }
    }

    /// The networks in use whose chain cannot be queried: lost payments there are left to the operator.
    pub fn networks_without_chain_access(&self) -> Vec<Network> {
        let Some(payments) = self.settings.payments.as_ref().filter(|it| !it.is_sandbox()) else {
            return Vec::new();
        };
        let has_access = |network: &Network| {
            self.payments.facilitator.as_ref().is_some_and(|it| it.can_query_chain(&network.to_string()))
        };
        payments.networks().into_iter().filter(|network| !has_access(network)).collect()
    }

    /// Whether a task in this process works on a payment.
    pub fn has_payments_in_flight(&self) -> bool {
        self.payments.locks.is_busy()
    }

    /// Erases secrets that will not be shown again.
    pub(crate) fn erase_drafts(&self) -> Stmt {
        let now = self.now();
        let page = now - self.settings.retention.idempotency;
        payments::erase_drafts(page, now - KEY_SHOWN_SECONDS, now - UNDELIVERED_SECONDS)
    }
}
