//! Handles payments that the facilitator refuses to verify. Such a payment may have been settled all the same, if a third
//! party submitted it first. The chain is queried; where that is not possible the payment is kept as `unknown`, within
//! limits, because anyone with a wallet can sign for free.

use super::lease::FIRST_PAUSE;
use super::order::{Order, PayRequest};
use super::purchase_result::{outcome_unknown, payment_in_flight, refused_by};
use super::request_identity::RequestIdentity;
use super::reserve::{Reserved, UNVERIFIED_RATE};
use super::{ChainStatus, PayError, PurchaseResult};
use crate::app::App;
use dropleaf_core::Error;
use dropleaf_core::payment::{Payment, PaymentState};
use dropleaf_pay::facilitator::{self, Reason};
use dropleaf_pay::{Checked, Network, Refusal, Terms};
use dropleaf_store::{counters, payments};
use std::net::IpAddr;

/// While this many payments are `unknown`, no unverified one is added, and no token is charged.
pub(super) const MOST_UNKNOWN: i64 = 500;

/// How long after its expiry the chain is queried about a proof that was never sent before. Older transfers are public
/// for anyone to copy.
const LATE_SECONDS: i64 = 3600;
/// Prefix of the reason of a payment that was never verified here.
const NOT_VERIFIED: &str = "not verified: ";
/// The reason of a payment that is left to the operator.
pub(super) const SUBMITTED_ELSEWHERE: &str = "not verified: may have been submitted by a third party";

impl App {
    /// Decides on a payment that the facilitator refused to verify: reserved if the money is on the chain, an error
    /// otherwise. `is_retry`: it was refused before.
    pub(super) async fn decide_unverified(
        &self,
        order: Order,
        payment: Payment,
        is_retry: bool,
        identity: &RequestIdentity,
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
        let status = self.require_facilitator()?.query_chain(&payment).await;
        match status {
            // The signature of a contract was not checked: any reader of the chain could have sent this proof.
            ChainStatus::OnChain { transaction } if !payment.payer_is_eoa => {
                tracing::error!(
                    payer = payment.payer,
                    transaction,
                    reason = reason.text,
                    "contract wallet paid, but the facilitator does not verify its signature"
                );
                Err(outcome_unknown(Some(&transaction), Error::internal("signature not verified")))
            }
            ChainStatus::OnChain { transaction } => {
                let landed = Payment { transaction: Some(transaction), ..payment };
                self.reserve_on_chain(order, landed, is_retry, identity, &reason, ip).await
            }
            ChainStatus::Void(_) => Err(refused()),
            ChainStatus::Absent | ChainStatus::Unknown if !hides => Err(refused()),
            // The facilitator says it was used and the chain does not show it: one of them is behind.
            ChainStatus::Absent => {
                Err(outcome_unknown(None, Error::internal("facilitator and chain disagree")))
            }
            ChainStatus::Unknown => {
                self.park_unverified(order, payment, is_retry, identity, &reason, ip).await
            }
        }
    }

    /// Decides on a proof that has expired when it is first sent. If a third party submitted it in time, it buys what it
    /// was signed for; otherwise it is refused.
    pub(super) async fn decide_expired(
        &self,
        request: PayRequest,
        checked: &Checked,
        terms: &Terms,
        identity: &RequestIdentity,
        refused: Option<&Payment>,
    ) -> Result<PurchaseResult, PayError> {
        let body = facilitator::build_request(checked, terms);
        let payment = self.new_payment(checked, body, identity, refused)?;
        let is_recent = self.now() - payment.valid_until <= LATE_SECONDS;
        let facilitator = self.require_facilitator()?;
        let can_query_chain = !payment.sandbox && facilitator.can_query_chain(&payment.network);
        if !payment.payer_is_eoa || !is_recent || !can_query_chain {
            return Err(self.refusal_under_current_terms(Refusal::Expired));
        }
        let ChainStatus::OnChain { transaction } = facilitator.query_chain(&payment).await else {
            return Err(self.refusal_under_current_terms(Refusal::Expired));
        };
        let landed = Payment { transaction: Some(transaction), ..payment };
        let reason = Reason::new(Refusal::Expired.reason());
        let reserved =
            self.reserve_on_chain(request.order, landed, refused.is_some(), identity, &reason, request.ip);
        match Box::pin(reserved).await? {
            Reserved::New(payment) => Box::pin(self.advance_payment(*payment, true)).await,
            Reserved::Existing | Reserved::IdentifierTaken => Err(payment_in_flight(1)),
        }
    }

    /// Reserves a payment that is on the chain as settled, or keeps it for the operator if the settings say so.
    async fn reserve_on_chain(
        &self,
        order: Order,
        mut payment: Payment,
        is_retry: bool,
        identity: &RequestIdentity,
        reason: &Reason,
        ip: Option<IpAddr>,
    ) -> Result<Reserved, PayError> {
        tracing::info!(
            payment = payment.id,
            transaction = payment.transaction,
            "payment was submitted by a third party"
        );
        if !self.accepts_submitted_elsewhere() {
            return self.park_unverified(order, payment, is_retry, identity, reason, ip).await;
        }
        payment.state = PaymentState::Settled;
        self.reserve_possibly_settled(order, payment, is_retry, identity, Vec::new()).await
    }

    /// Keeps a payment as `unknown` with what it buys, and returns that error. Only a payer's own signature is worth a
    /// row.
    async fn park_unverified(
        &self,
        order: Order,
        mut payment: Payment,
        is_retry: bool,
        identity: &RequestIdentity,
        reason: &Reason,
        ip: Option<IpAddr>,
    ) -> Result<Reserved, PayError> {
        let transaction = payment.transaction.clone();
        let unknown = |why: Error| outcome_unknown(transaction.as_deref(), why);
        let submitted = || Error::internal("refused, but may have been submitted by a third party");
        if !payment.payer_is_eoa {
            return Err(unknown(submitted()));
        }
        // Before anything is stored, so that a client over the limit costs nothing.
        let counter = self.unverified_counter(&payment, ip);
        let mut guards = vec![payments::require_few_unknown(MOST_UNKNOWN)];
        if let Some(key) = &counter {
            let used = self.store.count_used(key, &UNVERIFIED_RATE, self.now()).await;
            if used.map_err(|error| unknown(error.into()))? >= UNVERIFIED_RATE.limit {
                return Err(unknown(submitted()));
            }
            guards.push(counters::take(key, &UNVERIFIED_RATE, self.now()));
        }
        let open = self.store.count_unknown_payments(MOST_UNKNOWN).await;
        if open.map_err(|error| unknown(error.into()))? >= MOST_UNKNOWN {
            tracing::error!("too many unknown payments: possibly paid payment not recorded");
            return Err(unknown(submitted()));
        }
        payment.state = PaymentState::Unknown;
        payment.reason = Some(format!("{NOT_VERIFIED}{}", reason.text));
        payment.held_until = self.now() + FIRST_PAUSE;
        let id = payment.id.clone();
        match self.reserve_possibly_settled(order, payment, is_retry, identity, guards).await? {
            Reserved::New(_) => {
                tracing::error!(
                    payment = id,
                    reason = reason.text,
                    "refused payment may have been submitted by a third party"
                );
                Err(unknown(submitted()))
            }
            taken @ (Reserved::Existing | Reserved::IdentifierTaken) => Ok(taken),
        }
    }

    /// Whether payments that a third party submitted before we received them are accepted.
    fn accepts_submitted_elsewhere(&self) -> bool {
        self.settings.payments.as_ref().is_some_and(|payments| payments.accept_submitted_elsewhere)
    }

    /// Whether only the operator can decide that a payment was settled: it was not verified here, and the settings do not
    /// accept payments submitted elsewhere.
    pub(super) fn is_left_to_operator(&self, payment: &Payment) -> bool {
        let is_unverified = payment.reason.as_deref().is_some_and(|reason| reason.starts_with(NOT_VERIFIED));
        is_unverified && !self.accepts_submitted_elsewhere()
    }

    /// The counter: of the buying account, or else of the client's network. None: not counted.
    fn unverified_counter(&self, payment: &Payment, ip: Option<IpAddr>) -> Option<String> {
        match &payment.account_id {
            Some(account) => Some(format!("{}:{account}", UNVERIFIED_RATE.name)),
            None if self.is_exempt(ip) => None,
            None => Some(self.client_key(&UNVERIFIED_RATE, ip)),
        }
    }
}
