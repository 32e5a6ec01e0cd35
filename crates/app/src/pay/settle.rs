//! Settles a payment with the facilitator. An ambiguous answer (timeout, 5xx) is never treated as a failure, because the
//! transfer may have been broadcast: then only a clear confirmation, the sandbox ledger or the chain decides.

use super::unverified::SUBMITTED_ELSEWHERE;
use super::{ChainStatus, FacilitatorCall};
use crate::app::App;
use dropleaf_core::payment::{Payment, PaymentState};
use dropleaf_core::{Error, Result};
use dropleaf_pay::facilitator::{Expected, Reason, SettleAnswer, read_settle};
use dropleaf_pay::{Address, Amount, Network, Outcome, Receipt, SolanaAddress};

/// What happened to the money.
pub(super) enum Settlement {
    Settled {
        transaction: String,
    },
    /// It did not move and will not.
    NotSettled(Reason),
    /// It did not move, because the card processor did not take the request: our key or a parameter is wrong. The same payment
    /// can be sent again.
    NotTaken,
    Ambiguous {
        why: &'static str,
        transaction: Option<String>,
    },
}

/// The history of settlement attempts of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SettlementHistory {
    Never,
    /// Clearly refused before: a refusal is certain again, but a used nonce may have been used by us.
    Refused,
    /// The outcome of an earlier attempt is unknown.
    Ambiguous,
}

impl SettlementHistory {
    pub(super) const fn of(payment: &Payment) -> Self {
        match (payment.state, payment.attempts) {
            (PaymentState::Verified, 0) => Self::Never,
            (PaymentState::Verified, _) => Self::Refused,
            _ => Self::Ambiguous,
        }
    }
}

impl App {
    /// Requests settlement until the answer is clear, at most twice.
    pub(super) async fn settle_payment(
        &self,
        payment: &mut Payment,
        past: SettlementHistory,
    ) -> Result<Settlement> {
        if !payment.rail.is_on_chain() {
            return self.settle_card_payment(payment, past).await;
        }
        if self.is_left_to_operator(payment) {
            let transaction = match self.query_chain_with_lease(payment, None).await? {
                ChainStatus::Void(reason) => return Ok(Settlement::NotSettled(Reason::new(reason))),
                ChainStatus::OnChain { transaction } => Some(transaction),
                ChainStatus::Absent | ChainStatus::Unknown => None,
            };
            return Ok(Settlement::Ambiguous { why: SUBMITTED_ELSEWHERE, transaction });
        }
        // The chain knows the outcome of an earlier attempt best, and querying it settles nothing.
        if past == SettlementHistory::Ambiguous
            && self.require_facilitator()?.can_query_chain(&payment.network)
        {
            match self.query_chain_with_lease(payment, None).await? {
                ChainStatus::OnChain { transaction } => return Ok(Settlement::Settled { transaction }),
                ChainStatus::Void(reason) => return Ok(Settlement::NotSettled(Reason::new(reason))),
                ChainStatus::Absent | ChainStatus::Unknown => {}
            }
        }
        let first = self.request_settlement(payment).await?;
        let is_ambiguous = matches!(first, SettleAnswer::Pending { .. } | SettleAnswer::Unknown { .. });
        if past == SettlementHistory::Ambiguous || !is_ambiguous {
            return self.interpret_answer(payment, past, first).await;
        }
        let name = named_transaction(&first);
        let second = match self.request_settlement(payment).await? {
            SettleAnswer::Pending { transaction: None } => SettleAnswer::Pending { transaction: name },
            SettleAnswer::Unknown { why, transaction: None } => {
                SettleAnswer::Unknown { why, transaction: name }
            }
            answer => answer,
        };
        self.interpret_answer(payment, SettlementHistory::Ambiguous, second).await
    }

    async fn interpret_answer(
        &self,
        payment: &mut Payment,
        past: SettlementHistory,
        answer: SettleAnswer,
    ) -> Result<Settlement> {
        match answer {
            SettleAnswer::Settled { transaction } => self.confirm_settlement(payment, transaction).await,
            SettleAnswer::Refused(reason) if past != SettlementHistory::Ambiguous => {
                let asked_before = past == SettlementHistory::Refused;
                let hides = Network::parse(&payment.network)
                    .is_none_or(|network| reason.may_hide_use(network, asked_before));
                self.confirm_refusal(payment, reason, hides, None).await
            }
            SettleAnswer::Reverted { reason, transaction } if past != SettlementHistory::Ambiguous => {
                self.confirm_refusal(payment, reason, true, Some(transaction)).await
            }
            answer => self.resolve_ambiguous(payment, answer).await,
        }
    }

    /// Verifies a settlement on the chain, since a facilitator can be wrong or lie. Where the chain can be queried, a
    /// payment that it does not show is neither fulfilled nor refused, but examined again later.
    async fn confirm_settlement(&self, payment: &mut Payment, transaction: String) -> Result<Settlement> {
        let facilitator = self.require_facilitator()?;
        let must_confirm =
            self.settings.payments.as_ref().is_some_and(|payments| payments.confirm_settlements);
        if payment.sandbox || !must_confirm || !facilitator.can_query_chain(&payment.network) {
            return Ok(Settlement::Settled { transaction });
        }
        let claimed = payment.clone();
        let status = self.with_payment_lease(payment, facilitator.confirm(&claimed, &transaction)).await;
        let why = match status {
            ChainStatus::OnChain { transaction } => return Ok(Settlement::Settled { transaction }),
            ChainStatus::Absent | ChainStatus::Void(_) => {
                "the facilitator reports it as settled, but the blockchain does not show it"
            }
            ChainStatus::Unknown => {
                "the facilitator reports it as settled, but the blockchain could not be queried"
            }
        };
        Ok(Settlement::Ambiguous { why, transaction: Some(transaction) })
    }

    /// Verifies a refusal of the first attempt. If it may hide that the payment was used (`hides`), only the chain can
    /// confirm it: anyone can submit an authorization, and then the money has arrived.
    async fn confirm_refusal(
        &self,
        payment: &mut Payment,
        reason: Reason,
        hides: bool,
        reverted: Option<String>,
    ) -> Result<Settlement> {
        let status = self.query_chain_with_lease(payment, reverted.as_deref()).await?;
        Ok(match status {
            ChainStatus::OnChain { transaction } => Settlement::Settled { transaction },
            ChainStatus::Absent if !hides || payment.sandbox => Settlement::NotSettled(reason),
            // The failed transaction made the authorization public, and until it expires it can be submitted again.
            ChainStatus::Absent if reverted.is_some() => Settlement::Ambiguous {
                why: "its transaction failed, but the authorization can still be used",
                transaction: reverted,
            },
            ChainStatus::Absent => Settlement::Ambiguous {
                why: "the facilitator reports it as used, but the blockchain does not show it",
                transaction: None,
            },
            ChainStatus::Unknown if hides => Settlement::Ambiguous {
                why: "refused, but may have been submitted by a third party",
                transaction: reverted,
            },
            ChainStatus::Void(_) | ChainStatus::Unknown => Settlement::NotSettled(reason),
        })
    }

    /// Looks up the payment on the chain while renewing its lease. `named`: a transaction that a facilitator just named.
    async fn query_chain_with_lease(
        &self,
        payment: &mut Payment,
        named: Option<&str>,
    ) -> Result<ChainStatus> {
        let (facilitator, mut lookup) = (self.require_facilitator()?, payment.clone());
        if let Some(name) = named {
            lookup.transaction = Some(name.to_owned());
        }
        Ok(self.with_payment_lease(payment, facilitator.query_chain(&lookup)).await)
    }

    /// Looks up the payment on the chain after an ambiguous answer.
    async fn resolve_ambiguous(&self, payment: &mut Payment, answer: SettleAnswer) -> Result<Settlement> {
        let status = self.query_chain_with_lease(payment, named_transaction(&answer).as_deref()).await?;
        let (why, transaction) = match (status, answer) {
            (ChainStatus::OnChain { transaction }, _) => return Ok(Settlement::Settled { transaction }),
            // The sandbox ledger is our own, so its refusal is always certain.
            (ChainStatus::Absent, SettleAnswer::Refused(reason)) if payment.sandbox => {
                return Ok(Settlement::NotSettled(reason));
            }
            (ChainStatus::Void(reason), _) => return Ok(Settlement::NotSettled(Reason::new(reason))),
            (_, SettleAnswer::Refused(_)) => ("it is refused, but may have been settled before", None),
            (_, SettleAnswer::Reverted { transaction, .. }) => {
                ("a transaction failed, but another may have settled it", Some(transaction))
            }
            (_, SettleAnswer::Unknown { why, transaction }) => (why, transaction),
            (_, SettleAnswer::Pending { transaction }) => ("it is pending", transaction),
            (_, SettleAnswer::Settled { transaction }) => ("it was not confirmed", Some(transaction)),
        };
        Ok(Settlement::Ambiguous { why, transaction })
    }

    /// Always sends the same bytes, so that a facilitator that settled them repeats its answer.
    async fn request_settlement(&self, payment: &mut Payment) -> Result<SettleAnswer> {
        let expected = expected(payment).ok_or_else(|| Error::internal("stored payment cannot be parsed"))?;
        let body = payment.ask.clone().ok_or_else(|| Error::internal("payment has no settle request"))?;
        let facilitator = self.require_facilitator()?;
        let reply = self.with_payment_lease(payment, facilitator.send(FacilitatorCall::Settle, &body)).await;
        Ok(match reply {
            Ok(reply) => read_settle(reply.status, &reply.body, &expected),
            Err(lost) => {
                tracing::warn!(
                    payment = payment.id,
                    why = lost.0,
                    "no response from the payment facilitator"
                );
                SettleAnswer::Unknown { why: "no response", transaction: None }
            }
        })
    }
}

fn named_transaction(answer: &SettleAnswer) -> Option<String> {
    match answer {
        SettleAnswer::Pending { transaction } | SettleAnswer::Unknown { transaction, .. } => {
            transaction.clone()
        }
        SettleAnswer::Reverted { transaction, .. } => Some(transaction.clone()),
        SettleAnswer::Settled { .. } | SettleAnswer::Refused(_) => None,
    }
}

/// What an answer must match.
fn expected(payment: &Payment) -> Option<Expected> {
    Some(Expected {
        network: Network::parse(&payment.network)?,
        payer: Address::parse(&payment.payer)?,
        amount: Amount::new(u64::try_from(payment.amount).ok()?),
        fee_payer: payment.fee_payer.as_deref().and_then(SolanaAddress::parse),
    })
}

/// The outcome of a payment, for its payer.
pub(super) fn receipt(payment: &Payment, outcome: Outcome) -> Option<Receipt> {
    Some(Receipt {
        network: Network::parse(&payment.network)?,
        payer: Address::parse(&payment.payer)?,
        outcome,
    })
}
