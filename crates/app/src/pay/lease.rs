//! The lease of a worker on a payment (`held_until` in its row): it decides who may work on it, between the nodes too.

use super::PayError;
use super::purchase_result::{outcome_unknown, payment_in_flight};
use crate::app::App;
use dropleaf_core::Error;
use dropleaf_core::payment::{Payment, PaymentState};
use dropleaf_store::{DbError, payments};
use std::pin::pin;
use std::time::Duration;

/// Lease of a worker on a payment, in seconds, and how often it is renewed.
pub(super) const LEASE_SECONDS: i64 = 30;
const LEASE_RENEWAL: Duration = Duration::from_secs(10);
/// Pause between attempts to learn an outcome: as long as the payment has been open, so that pauses double. Requests in
/// between do not affect it.
pub(super) const FIRST_PAUSE: i64 = 30;
pub(super) const LONGEST_PAUSE: i64 = 3600;

impl App {
    /// Whether the configured facilitator may be asked about the payment: the sandbox is never asked about real money,
    /// nor another facilitator about sandbox money. A settled payment needs none.
    pub(super) fn is_same_mode(&self, payment: &Payment) -> bool {
        let mode = self.settings.payments.as_ref().map(super::PaymentSettings::is_sandbox);
        payment.state == PaymentState::Settled || mode == Some(payment.sandbox)
    }

    /// Takes over a payment that another worker left.
    pub(super) async fn acquire_payment_lease(&self, payment: &Payment) -> Result<Payment, PayError> {
        let now = self.now();
        if !self.is_same_mode(payment) {
            let why = "it was reserved under a different `payments.mode`";
            return Err(outcome_unknown(payment.transaction.as_deref(), Error::internal(why)));
        }
        let mut held = payment.clone();
        match payment.state {
            // No worker holds it; `held_until` is the time of the next attempt.
            PaymentState::Unknown => held.state = PaymentState::Settling,
            _ if payment.held_until > now => {
                return Err(payment_in_flight((payment.held_until - now).min(5)));
            }
            _ => {}
        }
        if held.state == PaymentState::Settling {
            held.attempts += 1;
        }
        held.held_until = now + LEASE_SECONDS;
        self.update_payment(payment, held).await
    }

    pub(super) async fn update_payment(&self, from: &Payment, mut to: Payment) -> Result<Payment, PayError> {
        to.updated_at = self.now();
        self.store.commit(vec![payments::update(from, &to)]).await.map_err(update_error)?;
        Ok(to)
    }

    /// Waits for an answer and renews the lease on the payment meanwhile.
    pub(super) async fn with_payment_lease<T>(
        &self,
        payment: &mut Payment,
        work: impl Future<Output = T>,
    ) -> T {
        let mut work = pin!(work);
        loop {
            if let Ok(done) = tokio::time::timeout(LEASE_RENEWAL, &mut work).await {
                return done;
            }
            let held = Payment { held_until: self.now() + LEASE_SECONDS, ..payment.clone() };
            match self.update_payment(payment, held).await {
                Ok(held) => *payment = held,
                // Another worker may take over. It settles with the same bytes, so nothing is settled twice.
                Err(error) => tracing::warn!(?error, payment = payment.id, "payment lease not renewed"),
            }
        }
    }
}

/// After a reservation any failure may still end in settlement, so the client is never told that nothing was charged.
pub(super) fn update_error(error: DbError) -> PayError {
    match error {
        DbError::Guard(payments::MOVED) => payment_in_flight(1),
        error => outcome_unknown(None, error.into()),
    }
}
