//! The same payment again: the same answer, as long as it is shown; what was left half-way is taken up; anything else is
//! refused. Never terms, and never a second settlement.

use super::asked::Asked;
use super::{Bought, PayError};
use crate::app::App;
use dropleaf_core::error::Fact;
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::{Code, Error};
use dropleaf_store::payments;

impl App {
    /// What a payment that is known comes to for this request.
    pub(super) async fn again(&self, payment: Payment, asked: &Asked) -> Result<Bought, PayError> {
        if !asked.is_of(&payment) {
            return Err(used("other_request"));
        }
        if !asked.may_be_told(&payment, self.now()) {
            return Err(used("no_longer_shown"));
        }
        match payment.state {
            PaymentState::Fulfilled => self.tell_again(payment).await,
            PaymentState::Verified
            | PaymentState::Settling
            | PaymentState::Settled
            | PaymentState::Unknown => {
                let held = self.hold(&payment).await?;
                Box::pin(self.drive(held, true)).await
            }
            // It was refused a moment ago, on another node: the next request starts afresh.
            PaymentState::Refused => Err(super::act::in_flight(1)),
        }
    }

    async fn tell_again(&self, payment: Payment) -> Result<Bought, PayError> {
        let now = self.now();
        let shown_until = payment.fulfilled_at.unwrap_or(now) + self.settings.retention.idempotency;
        let is_secret = matches!(payment.item, Item::Publish | Item::Provision);
        if is_secret && (payment.draft.is_none() || now >= shown_until) {
            return Err(used("no_longer_shown"));
        }
        if payment.delivered_at.is_none() {
            self.store.commit(vec![payments::deliver(&payment.id, now)]).await?;
        }
        self.bought(payment, true).await
    }
}

/// `reason` is a word for programs.
fn used(reason: &str) -> PayError {
    Error::plain(Code::PaymentUsed).with_fact("reason", Fact::Text(reason.into())).into()
}
