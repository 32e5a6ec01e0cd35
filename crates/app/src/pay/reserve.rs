//! Reserves a payment: stages and records what it buys, with its identifiers, in one transaction before any money is
//! requested. The payment holds the staged content until the page takes it over or the payment is refused.

use super::PayError;
use super::lease::LEASE_SECONDS;
use super::order::Order;
use super::purchase_result::{outcome_unknown, payment_in_flight};
use super::request_identity::RequestIdentity;
use super::unlock::{already_unlocked, single_purchase_stmts};
use super::unverified::MOST_UNKNOWN;
use crate::accounts::suspension::require_active_account;
use crate::app::App;
use dropleaf_core::payment::{Payment, PaymentState};
use dropleaf_core::rate::Rate;
use dropleaf_core::{Code, Error, Result};
use dropleaf_pay::{Asset, Checked};
use dropleaf_store::{DbError, Stmt, idempotency, payments};

/// Unverified payments that one network, or one account, can leave in an hour.
pub(super) const UNVERIFIED_RATE: Rate =
    Rate { name: "unverified_payments_hour", limit: 10, window_seconds: 3600 };

/// `Retry-After` while too many payments are unknown.
const UNKNOWN_RETRY_SECONDS: i64 = 60;

pub(super) enum Reserved {
    New(Box<Payment>),
    /// Another worker reserved the payment first.
    Existing,
    /// One of the request's identifiers belongs to another payment.
    IdentifierTaken,
}

impl App {
    /// The row of a payment that was not reserved yet, or was refused before. [`App::reserve_payment`] adds what it buys.
    pub(super) fn new_payment(
        &self,
        checked: &Checked,
        settle_request: String,
        identity: &RequestIdentity,
        refused: Option<&Payment>,
    ) -> Result<Payment> {
        let now = self.now();
        let fee_payer = match &checked.offer.asset {
            Asset::Evm { .. } => None,
            Asset::Solana { mint, .. } => Some(mint.fee_payer.to_string()),
        };
        Ok(Payment {
            id: refused.map_or_else(|| self.minter.ordered_id("pay", now), |payment| payment.id.clone()),
            key: checked.key.to_string(),
            item: identity.item,
            rail: identity.rail,
            generation: i64::try_from(checked.generation.number()).map_err(Error::internal)?,
            network: checked.network.to_string(),
            asset: checked.asset.to_string(),
            payer: checked.payer.to_string(),
            pay_to: checked.offer.pay_to().to_string(),
            amount: i64::try_from(checked.amount.units()).map_err(Error::internal)?,
            credit_minor: 0,
            refunded_minor: 0,
            disputed_minor: 0,
            payer_is_eoa: checked.payer_is_eoa,
            sandbox: self.settings.payments.as_ref().is_some_and(super::PaymentSettings::is_sandbox),
            request_hash: identity.request_hash,
            client: identity.client.clone(),
            once_hashes: identity.identifier_hashes(),
            state: PaymentState::Verified,
            ask: Some(settle_request),
            fee_payer,
            draft: None,
            bundle_id: None,
            site_id: None,
            account_id: identity.account_id.clone(),
            transaction: None,
            reason: None,
            // Earlier settlement attempts still count.
            attempts: refused.map_or(0, |payment| payment.attempts),
            held_until: now + LEASE_SECONDS,
            valid_until: checked.valid_until,
            // A chain searched by time is searched from when the payment was first seen.
            created_at: refused.map_or(now, |payment| payment.created_at),
            updated_at: now,
            fulfilled_at: None,
            delivered_at: None,
        })
    }

    /// Stages what the payment buys and writes its row. `is_retry`: it was refused before.
    pub(super) async fn reserve_payment(
        &self,
        order: Order,
        mut payment: Payment,
        is_retry: bool,
        identity: &RequestIdentity,
    ) -> Result<Reserved, PayError> {
        let mut stmts = Vec::new();
        if !payment.rail.is_on_chain() {
            // Anyone can send a token, and each may become a payment with an unknown outcome.
            stmts.push(payments::require_few_unknown(MOST_UNKNOWN));
        }
        stmts.extend(self.stage_order(order, &mut payment).await?);
        stmts.push(if is_retry { payments::reserve_again(&payment) } else { payments::insert(&payment) });
        stmts.extend(self.identifier_stmts(identity, &payment));
        // The suspension check happens only here, before money is requested; after that a purchase is delivered in any
        // case.
        match self.store.commit(require_active_account(payment.account_id.as_deref(), stmts)).await {
            Ok(_) => Ok(Reserved::New(Box::new(payment))),
            Err(DbError::Guard(payments::TAKEN)) => Ok(Reserved::Existing),
            Err(DbError::Guard(idempotency::ANSWERED)) => Ok(Reserved::IdentifierTaken),
            Err(DbError::Guard(payments::BOUGHT)) => Err(already_unlocked().into()),
            Err(DbError::Guard(payments::TOO_MANY_UNKNOWN)) => {
                tracing::error!("too many unknown payments: card token not charged");
                Err(too_many_unknown().into())
            }
            Err(error @ DbError::Unavailable(_)) => self.check_lost_commit(payment, error).await,
            Err(error) => Err(self.guard_error(error, None).into()),
        }
    }

    /// Records a payment whose money moved, or may have. Neither the state of the account nor the content can refuse it
    /// any more: if the content cannot be stored, the row is written without it, and the purchase is delivered when its
    /// payer sends the request again. `guards` come first, so that they determine the error if nothing is written.
    pub(super) async fn reserve_possibly_settled(
        &self,
        order: Order,
        mut payment: Payment,
        is_retry: bool,
        identity: &RequestIdentity,
        guards: Vec<Stmt>,
    ) -> Result<Reserved, PayError> {
        let without_content = payment.clone();
        let staged = match order {
            // Also if the account has it already: the row is there to be refunded.
            Order::Unlock { .. } => Ok(Vec::new()),
            order => self.stage_order(order, &mut payment).await,
        };
        let failure = match staged {
            Ok(content) => {
                let mut stmts = guards.clone();
                stmts.extend(content);
                stmts.push(if is_retry {
                    payments::reserve_again(&payment)
                } else {
                    payments::insert(&payment)
                });
                stmts.extend(self.identifier_stmts(identity, &payment));
                match self.commit_reservation(payment, stmts).await {
                    Ok(reserved) => return reserved,
                    Err(error) => error.into(),
                }
            }
            Err(error) => error,
        };
        tracing::error!(
            error = %failure,
            source = ?failure.source,
            payment = without_content.id,
            "payment kept without its content"
        );
        let mut stmts = guards;
        stmts.push(if is_retry {
            payments::reserve_again(&without_content)
        } else {
            payments::insert(&without_content)
        });
        let transaction = without_content.transaction.clone();
        match self.commit_reservation(without_content, stmts).await {
            Ok(reserved) => reserved,
            Err(error) => Err(outcome_unknown(transaction.as_deref(), error.into())),
        }
    }

    /// The outer error is one that the same row without its content may not meet.
    async fn commit_reservation(
        &self,
        payment: Payment,
        stmts: Vec<Stmt>,
    ) -> Result<Result<Reserved, PayError>, DbError> {
        match self.store.commit(stmts).await {
            Ok(_) => Ok(Ok(Reserved::New(Box::new(payment)))),
            Err(DbError::Guard(payments::TAKEN)) => Ok(Ok(Reserved::Existing)),
            Err(DbError::Guard(label)) if is_unverified_limit(label) => {
                let why = Error::internal("too many unverified payments are open");
                Ok(Err(outcome_unknown(payment.transaction.as_deref(), why)))
            }
            Err(error @ DbError::Unavailable(_)) => Ok(self.check_lost_commit(payment, error).await),
            Err(error) => Err(error),
        }
    }

    /// Stages the content of an order and references it in the payment.
    async fn stage_order(&self, order: Order, payment: &mut Payment) -> Result<Vec<Stmt>> {
        Ok(match order {
            Order::Publish(page) => {
                let staged = self.stage_prepared(page.prepared).await?;
                payment.draft = Some(self.seal_draft(&self.draft_page(&staged), &payment.id)?);
                payment.bundle_id = Some(staged.bundle_id);
                staged.stmts
            }
            Order::Provision => {
                payment.draft = Some(self.seal_draft(&self.draft_key(), &payment.id)?);
                Vec::new()
            }
            // No secret and nothing new: the row contains everything.
            Order::Unlock { account, sku } => {
                single_purchase_stmts(&account.id, sku, &payment.id).into_iter().collect()
            }
        })
    }

    /// Stages the content of a settled payment again, after it was released when the payment was refused.
    pub(super) async fn restage_content(&self, order: Order, payment: Payment) -> Result<Payment, PayError> {
        let mut staged = Payment { updated_at: self.now(), ..payment.clone() };
        let mut stmts = self.stage_order(order, &mut staged).await?;
        stmts.push(payments::update(&payment, &staged));
        match self.store.commit(stmts).await {
            Ok(_) => Ok(staged),
            Err(DbError::Guard(payments::MOVED)) => Err(payment_in_flight(1)),
            Err(error) => Err(outcome_unknown(payment.transaction.as_deref(), error.into())),
        }
    }

    /// After a lost connection the commit may have succeeded, or still succeed. In that case the payment proceeds, with
    /// or without its sender, so the client is never told that nothing was charged.
    async fn check_lost_commit(&self, payment: Payment, error: DbError) -> Result<Reserved, PayError> {
        match self.store.find_payment_by_key(&payment.key).await {
            Ok(Some(found)) if found == payment => Ok(Reserved::New(Box::new(payment))),
            Ok(_) | Err(_) => Err(outcome_unknown(payment.transaction.as_deref(), error.into())),
        }
    }
}

/// Nothing was sent to the card processor.
fn too_many_unknown() -> Error {
    let detail = "The outcome of too many payments is not known yet, so no further card is charged. Nothing was charged. Try again \
                  later.";
    Error::new(Code::ProcessorUnavailable, detail).retry_after(UNKNOWN_RETRY_SECONDS)
}

/// Whether a guard failed because of the limits on unverified payments.
fn is_unverified_limit(label: &str) -> bool {
    label == UNVERIFIED_RATE.name || label == payments::TOO_MANY_UNKNOWN
}
