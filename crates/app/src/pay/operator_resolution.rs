//! Lets an operator decide on a payment whose outcome is unknown, or that is settled and buys nothing, after checking the
//! chain or returning the money. The decision is stored like any other outcome, with an audit entry.

use super::{ChainStatus, PayError};
use crate::app::App;
use dropleaf_core::audit::AuditAction;
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::{Code, Error, Result, ledger};
use dropleaf_store::{DbError, card_payments, payments};

/// What the operator found on the chain, or did there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// The money moved, by this transaction.
    Settled { transaction: String },
    /// It did not move, and cannot any more.
    NotSettled { reason: String },
    /// It moved, nothing was delivered, and the operator returned it. Nothing was posted to the ledger, and nothing is.
    Refunded { reason: String },
}

impl Resolution {
    /// Whether a payment in this state can be resolved this way. A refused one may have been paid after all.
    const fn applies_to(&self, state: PaymentState) -> bool {
        match self {
            Self::Settled { .. } => state.can_be_marked_settled(),
            Self::NotSettled { .. } => matches!(state, PaymentState::Unknown),
            Self::Refunded { .. } => matches!(state, PaymentState::Settled),
        }
    }
}

impl App {
    /// Resolves a payment. If the money moved, the purchase is fulfilled now; if that fails, it is retried like every
    /// settled payment.
    pub async fn resolve_payment(&self, actor: &str, id: &str, resolution: Resolution) -> Result<Payment> {
        let payment = self.get_payment(id).await?;
        // A settlement request in progress completes first.
        let _lock = self.payments.locks.lock(&payment.key).await;
        // Also prevents two payments from being resolved with the same transaction at once.
        let _alone = match &resolution {
            Resolution::Settled { transaction } => {
                let name = format!("transaction:{}", transaction.trim().to_ascii_lowercase());
                Some(self.payments.locks.lock(&name).await)
            }
            Resolution::NotSettled { .. } | Resolution::Refunded { .. } => None,
        };
        let payment = self.get_payment(id).await?;
        let now = self.now();
        if !resolution.applies_to(payment.state) {
            return Err(already_decided(&payment));
        }
        let (mut stmts, note) = match &resolution {
            Resolution::Settled { transaction } => {
                let transaction = parse_transaction(&payment.network, transaction)?;
                self.check_transaction(&payment, transaction).await?;
                let mut settled = Payment {
                    state: PaymentState::Settled,
                    transaction: Some(transaction.to_owned()),
                    reason: None,
                    held_until: now,
                    updated_at: now,
                    ..payment.clone()
                };
                // What a refused payment was to create is gone; a key can be created again, a page has to be sent again.
                if payment.state == PaymentState::Refused && payment.item == Item::Provision {
                    settled.draft = Some(self.seal_draft(&self.draft_key(), &payment.id)?);
                }
                (vec![payments::update(&payment, &settled)], format!("settled by {transaction}"))
            }
            Resolution::Refunded { .. } if payment.held_until > now => {
                return Err(Error::new(
                    Code::Conflict,
                    "The purchase is being fulfilled right now. Check again in a minute.",
                ));
            }
            Resolution::Refunded { reason } => {
                let reason = ledger::reason(reason)?;
                let stmts = self.end_payment_stmts(&payment, PaymentState::Refunded, &reason);
                (stmts, format!("refunded: {reason}"))
            }
            Resolution::NotSettled { .. } if payment.valid_until > now => {
                return Err(Error::new(
                    Code::Conflict,
                    "The payment can still be settled. Wait until it expires.",
                ));
            }
            Resolution::NotSettled { reason } => {
                if let ChainStatus::OnChain { transaction } = self.find_on_chain(&payment).await {
                    return Err(on_chain(&transaction));
                }
                let reason = ledger::reason(reason)?;
                (self.refuse_payment_stmts(&payment, &reason), format!("not settled: {reason}"))
            }
        };
        stmts.push(self.audit_stmt(actor, AuditAction::ResolvePayment, id, Some(note)));
        match self.store.commit(stmts).await {
            Ok(_) => Self::log_operation(actor, AuditAction::ResolvePayment, id),
            Err(DbError::Guard(payments::MOVED)) => {
                return Err(already_decided(&self.get_payment(id).await?));
            }
            Err(error) => return Err(error.into()),
        }
        let payment = self.get_payment(id).await?;
        if payment.state == PaymentState::Settled && !payment.has_lost_content() {
            self.fulfil_resolved(&payment).await;
        }
        self.get_payment(id).await
    }

    /// A transaction settles one payment, unless the chain itself shows that it contains both.
    async fn check_transaction(&self, payment: &Payment, transaction: &str) -> Result<()> {
        match self.find_on_chain(payment).await {
            ChainStatus::OnChain { transaction: found } if found.eq_ignore_ascii_case(transaction) => {
                return Ok(());
            }
            ChainStatus::OnChain { transaction: found } => return Err(on_chain(&found)),
            ChainStatus::Void(_) => {
                return Err(Error::new(
                    Code::Conflict,
                    "The blockchain shows that this payment was not settled and can no longer be settled.",
                ));
            }
            ChainStatus::Absent => {
                return Err(Error::new(
                    Code::Conflict,
                    "The blockchain does not show this payment yet. If it was just submitted, try again in a minute.",
                ));
            }
            ChainStatus::Unknown => {}
        }
        match self.store.find_settled_by(&payment.network, transaction, &payment.id).await? {
            Some(other) => {
                let detail = format!(
                    "This transaction settled another payment, {other}. Find the transaction of this payment."
                );
                Err(Error::new(Code::Conflict, detail))
            }
            None => Ok(()),
        }
    }

    /// What the chain shows, if it can be queried. The sandbox has none.
    async fn find_on_chain(&self, payment: &Payment) -> ChainStatus {
        let live = self.settings.payments.as_ref().is_some_and(|payments| !payments.is_sandbox());
        match &self.payments.facilitator {
            Some(facilitator) if live && !payment.sandbox => facilitator.query_chain(payment).await,
            _ => ChainStatus::Unknown,
        }
    }

    async fn fulfil_resolved(&self, payment: &Payment) {
        let advanced = match self.acquire_payment_lease(payment).await {
            Ok(held) => Box::pin(self.advance_payment(held, false)).await,
            Err(error) => Err(error),
        };
        if let Err(PayError::Failed(error)) = advanced {
            tracing::warn!(%error, payment = payment.id, "resolved payment not fulfilled, will retry");
        }
    }
}

fn on_chain(transaction: &str) -> Error {
    Error::new(
        Code::Conflict,
        format!("The blockchain shows that this payment was settled by {transaction}."),
    )
}

fn already_decided(payment: &Payment) -> Error {
    let state = payment.state.as_str();
    let detail = format!(
        "The payment is `{state}`. Only `unknown` payments can be resolved manually, `refused` payments can only be marked as \
         settled, and only `settled` payments can be refunded."
    );
    Error::new(Code::Conflict, detail)
}

/// The transaction id, if it is well-formed for this network.
fn parse_transaction<'a>(network: &str, text: &'a str) -> Result<&'a str> {
    let text = text.trim();
    let is_hash = || {
        let digits = text.strip_prefix("0x").unwrap_or_default();
        digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let is_signature = || (64..=90).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric());
    let is_object =
        || (4..=255).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let (fits, shape) = if network == card_payments::NETWORK {
        (is_object(), "must be the id of the payment at the card processor, such as pi_3Qx")
    } else if network.starts_with("eip155:") {
        (is_hash(), "must be 0x and 64 hexadecimal digits")
    } else {
        (is_signature(), "must be the transaction signature in base58")
    };
    if fits { Ok(text) } else { Err(Error::field("transaction", shape)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_look_like_those_of_their_network() {
        let (hash, signature) = (format!("0x{}", "ab".repeat(32)), "5".repeat(88));
        assert!(parse_transaction("eip155:8453", &hash).is_ok());
        assert!(parse_transaction("solana:x", &signature).is_ok());
        assert!(
            parse_transaction("stripe", "pi_3Qx").is_ok() && parse_transaction("stripe", "pi-3").is_err()
        );
        for (network, text) in
            [("eip155:8453", signature.as_str()), ("solana:x", &hash[..40]), ("eip155:8453", ""), ("x", "")]
        {
            assert!(parse_transaction(network, text).is_err(), "{network} {text}");
        }
    }
}
