//! Asking a facilitator to settle, and what its answers come to. The costliest mistake is to take an unclear answer for
//! a no: once it may have happened, only a clear yes, the sandbox's own ledger or the chain itself decides.

use super::{Ask, PayRefused, Trace};
use crate::app::App;
use dropleaf_core::payment::{Payment, PaymentState};
use dropleaf_core::{Error, Result};
use dropleaf_pay::facilitator::{Expected, Reason, ReasonKind, SettleAnswer, read_settle};
use dropleaf_pay::{Address, Amount, Network, Outcome, Receipt, SolanaAddress};

/// So long after a payment's end it is certain that a chain that does not show it never will.
const CHAIN_SECONDS: i64 = 300;

/// What became of the money.
pub(super) enum Settlement {
    Moved {
        transaction: String,
    },
    /// It did not move and will not.
    Stays(Reason),
    Unclear {
        why: &'static str,
        transaction: Option<String>,
    },
}

/// What was asked about a payment before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Past {
    Never,
    /// And clearly refused: a no is one again, but a nonce that is used now may have been used by us.
    Refused,
    /// And nobody knows what came of it.
    Unclear,
}

impl Past {
    pub(super) const fn of(payment: &Payment) -> Self {
        match (payment.state, payment.attempts) {
            (PaymentState::Verified, 0) => Self::Never,
            (PaymentState::Verified, _) => Self::Refused,
            _ => Self::Unclear,
        }
    }
}

impl App {
    /// Asks until it is clear, twice at most.
    pub(super) async fn settle(&self, payment: &mut Payment, past: Past) -> Result<Settlement> {
        let answer = self.ask_to_settle(payment).await?;
        let answer = match answer {
            SettleAnswer::Settled { transaction } => return Ok(Settlement::Moved { transaction }),
            SettleAnswer::Refused(reason) if past == Past::Never && reason.kind == ReasonKind::NonceUsed => {
                return self.used_before(payment, reason).await;
            }
            SettleAnswer::Refused(reason)
                if past != Past::Unclear && reason.kind != ReasonKind::NonceUsed =>
            {
                return Ok(Settlement::Stays(reason));
            }
            SettleAnswer::Pending { .. } | SettleAnswer::Unknown { .. } if past != Past::Unclear => {
                let named = named(&answer);
                match self.ask_to_settle(payment).await? {
                    SettleAnswer::Pending { transaction: None } => {
                        SettleAnswer::Pending { transaction: named }
                    }
                    SettleAnswer::Unknown { why, transaction: None } => {
                        SettleAnswer::Unknown { why, transaction: named }
                    }
                    answer => answer,
                }
            }
            answer => answer,
        };
        if let SettleAnswer::Settled { transaction } = answer {
            return Ok(Settlement::Moved { transaction });
        }
        self.look(payment, answer).await
    }

    /// Anybody may have handed it to the chain before us, and then the money came all the same. Where nobody can look, it
    /// was used for something else, or cancelled: nothing we did can have used it.
    async fn used_before(&self, payment: &mut Payment, reason: Reason) -> Result<Settlement> {
        Ok(match self.trace(payment).await? {
            Trace::Landed { transaction } => Settlement::Moved { transaction },
            Trace::CannotTell if self.facilitator()?.can_trace(payment) => {
                Settlement::Unclear { why: "it was used, by whom cannot be seen", transaction: None }
            }
            Trace::Absent | Trace::CannotTell => Settlement::Stays(reason),
        })
    }

    /// Looking takes time too.
    async fn trace(&self, payment: &mut Payment) -> Result<Trace> {
        let (facilitator, wanted) = (self.facilitator()?, payment.clone());
        Ok(self.while_held(payment, facilitator.trace(&wanted)).await)
    }

    /// When asking did not help: looks where the money would be.
    async fn look(&self, payment: &mut Payment, answer: SettleAnswer) -> Result<Settlement> {
        match (self.trace(payment).await?, answer) {
            (Trace::Landed { transaction }, _) => Ok(Settlement::Moved { transaction }),
            // The ledger is our own, so its no is one, whenever it is said.
            (Trace::Absent, SettleAnswer::Refused(reason)) if payment.sandbox => {
                Ok(Settlement::Stays(reason))
            }
            (Trace::Absent, _) if self.now() >= payment.valid_until.saturating_add(CHAIN_SECONDS) => {
                Ok(Settlement::Stays(Reason::new("payment_expired")))
            }
            (_, SettleAnswer::Refused(_)) => Ok(Settlement::Unclear {
                why: "it is refused, but may have been settled before",
                transaction: None,
            }),
            (_, SettleAnswer::Unknown { why, transaction }) => Ok(Settlement::Unclear { why, transaction }),
            (_, SettleAnswer::Pending { transaction }) => {
                Ok(Settlement::Unclear { why: "it is on its way", transaction })
            }
            (_, SettleAnswer::Settled { transaction }) => Ok(Settlement::Moved { transaction }),
        }
    }

    /// Always with the same bytes: whoever settled them answers as before.
    async fn ask_to_settle(&self, payment: &mut Payment) -> Result<SettleAnswer> {
        let expected = expected(payment).ok_or_else(|| Error::internal("a payment cannot be read back"))?;
        let ask =
            payment.ask.clone().ok_or_else(|| Error::internal("a payment has nothing to be asked with"))?;
        let facilitator = self.facilitator()?;
        let reply = self.while_held(payment, facilitator.ask(Ask::Settle, &ask)).await;
        Ok(match reply {
            Ok(reply) => read_settle(reply.status, &reply.body, &expected),
            Err(lost) => {
                tracing::warn!(
                    payment = payment.id,
                    why = lost.0,
                    "no answer came from the payment facilitator"
                );
                SettleAnswer::Unknown { why: "no answer came", transaction: None }
            }
        })
    }
}

fn named(answer: &SettleAnswer) -> Option<String> {
    match answer {
        SettleAnswer::Pending { transaction } | SettleAnswer::Unknown { transaction, .. } => {
            transaction.clone()
        }
        SettleAnswer::Settled { .. } | SettleAnswer::Refused(_) => None,
    }
}

/// What an answer must agree with.
fn expected(payment: &Payment) -> Option<Expected> {
    Some(Expected {
        network: Network::parse(&payment.network)?,
        payer: Address::parse(&payment.payer)?,
        amount: Amount::new(u64::try_from(payment.amount).ok()?),
        fee_payer: payment.fee_payer.as_deref().and_then(SolanaAddress::parse),
    })
}

/// How a payment ended, for its payer.
pub(super) fn receipt(payment: &Payment, outcome: Outcome) -> Option<Receipt> {
    Some(Receipt {
        network: Network::parse(&payment.network)?,
        payer: Address::parse(&payment.payer)?,
        outcome,
    })
}

/// A facilitator's no, in words of ours.
pub(super) fn refused_by(reason: &Reason, receipt: Option<Receipt>) -> PayRefused {
    let sentence = match reason.kind {
        ReasonKind::NonceUsed => "The authorization was used or cancelled before. Sign a new one.",
        ReasonKind::InsufficientFunds => "The wallet does not hold enough of the token. No money moved.",
        ReasonKind::Expired => "The authorization has expired, or will within seconds. Sign a new one.",
        ReasonKind::Signature => "The signature is not valid.",
        ReasonKind::Other => "The payment facilitator did not accept the payment. No money moved.",
    };
    PayRefused { reason: reason.text.clone(), sentence: sentence.to_owned(), malformed: false, receipt }
}
