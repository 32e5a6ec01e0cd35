//! A payment that the facilitator will not verify may have been settled all the same: somebody else submitted it first. The
//! chain is asked; where that is not possible the payment is kept as `unknown`, within limits, because anybody with a
//! wallet can sign for free. Decisions §5.2.

use super::act::Order;
use super::asked::Asked;
use super::drive::{FIRST_PAUSE, not_known};
use super::reserve::Reserved;
use super::settle::refused_by;
use super::{PayError, Trace};
use crate::app::App;
use dropleaf_core::payment::{Payment, PaymentState};
use dropleaf_core::rate::Rate;
use dropleaf_core::{Code, Error};
use dropleaf_pay::Network;
use dropleaf_pay::facilitator::Reason;
use dropleaf_store::{counters, payments};
use std::net::IpAddr;

/// How many unverified payments one network, or one account, can leave in an hour.
const PER_NETWORK: Rate = Rate { name: "unverified_payments_hour", limit: 10, window_seconds: 3600 };
/// While so many payments are `unknown`, no unverified one is added.
const MOST_UNKNOWN: i64 = 500;

/// Whether a statement failed because of these limits.
pub(super) fn is_unverified_limit(label: &str) -> bool {
    label == PER_NETWORK.name || label == payments::CROWDED
}

impl App {
    /// Decides on a payment that the facilitator refused to verify: reserved if the money is on the chain, an error
    /// otherwise. `again`: it was refused before.
    pub(super) async fn unverified(
        &self,
        order: Order,
        mut payment: Payment,
        again: bool,
        asked: &Asked,
        reason: Reason,
        ip: Option<IpAddr>,
    ) -> Result<Reserved, PayError> {
        let refused = || PayError::Refused(refused_by(&reason, None));
        // The sandbox is its own chain: its refusal is certain.
        if payment.sandbox {
            return Err(refused());
        }
        let hides = Network::parse(&payment.network)
            .is_none_or(|network| reason.may_hide_use(network, payment.attempts > 0));
        let trace = self.facilitator()?.trace(&payment).await;
        match trace {
            // Nobody has checked the signature of a contract: whoever reads the chain could have sent this proof.
            Trace::Landed { transaction } if !payment.payer_is_eoa => {
                tracing::error!(
                    payer = payment.payer,
                    transaction,
                    reason = reason.text,
                    "a contract wallet paid, but the facilitator does not verify its signature"
                );
                Err(not_known(Some(&transaction), Error::internal("its signature was not verified")))
            }
            Trace::Landed { transaction } => {
                tracing::info!(payment = payment.id, transaction, "somebody else submitted a payment");
                payment.state = PaymentState::Settled;
                payment.transaction = Some(transaction);
                self.reserve(order, payment, again, asked, Vec::new()).await
            }
            Trace::Void(_) => Err(refused()),
            Trace::Absent | Trace::CannotTell if !hides => Err(refused()),
            // The facilitator says it was used and the chain does not show it: one of them is behind. Nothing was
            // charged by this request, and the proof is still good.
            Trace::Absent => {
                let error = Error::plain(Code::FacilitatorUnavailable).retry_after(10);
                Err(error.with_source("the facilitator and the chain disagree").into())
            }
            Trace::CannotTell => self.keep_unverified(order, payment, again, asked, &reason, ip).await,
        }
    }

    /// Keeps a payment as `unknown`, with what it buys, and says so. Only the payer's own signature is worth a row.
    async fn keep_unverified(
        &self,
        order: Order,
        mut payment: Payment,
        again: bool,
        asked: &Asked,
        reason: &Reason,
        ip: Option<IpAddr>,
    ) -> Result<Reserved, PayError> {
        let unknown = || not_known(None, Error::internal("it is refused, but may have been submitted"));
        if !payment.payer_is_eoa {
            return Err(unknown());
        }
        // Before anything is stored, so that whoever is over the limit costs nothing.
        let counter = self.unverified_counter(&payment, ip);
        let mut guards = vec![payments::not_crowded(MOST_UNKNOWN)];
        if let Some(key) = &counter {
            if self.store.count_used(key, &PER_NETWORK, self.now()).await? >= PER_NETWORK.limit {
                return Err(unknown());
            }
            guards.push(counters::take(key, &PER_NETWORK, self.now()));
        }
        if self.store.count_open_payments(MOST_UNKNOWN).await? >= MOST_UNKNOWN {
            tracing::error!("too many payments are unknown: one that may have been paid is not kept");
            return Err(unknown());
        }
        payment.state = PaymentState::Unknown;
        payment.reason = Some(format!("not verified: {}", reason.text));
        payment.held_until = self.now() + FIRST_PAUSE;
        let id = payment.id.clone();
        match self.reserve(order, payment, again, asked, guards).await? {
            Reserved::Now(_) => {
                tracing::error!(
                    payment = id,
                    reason = reason.text,
                    "refused payment may have been submitted by somebody else"
                );
                Err(unknown())
            }
            taken @ (Reserved::Before | Reserved::Named) => Ok(taken),
        }
    }

    /// Whose payments are counted: the account's that buys, or the network's that asks. None: nobody's.
    fn unverified_counter(&self, payment: &Payment, ip: Option<IpAddr>) -> Option<String> {
        match &payment.account_id {
            Some(account) => Some(format!("{}:{account}", PER_NETWORK.name)),
            None if self.is_exempt(ip) => None,
            None => Some(self.client_key(&PER_NETWORK, ip)),
        }
    }
}
