//! What a settled payment buys is made: in one transaction with the books and the payment's own row, so that it is there
//! once, and never without its money or its money without it.

use super::act::in_flight;
use super::draft::Draft;
use super::drive::{HOLD_SECONDS, keep_names};
use super::settle::receipt;
use super::{Bought, Goods, PayError};
use crate::app::App;
use dropleaf_core::error::Fact;
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::unlock::Sku;
use dropleaf_core::{Code, Error, Result, secret};
use dropleaf_pay::Outcome;
use dropleaf_store::{DbError, Stmt, accounts, api_keys, payments, site_versions, sites};

/// How often it is tried again when something else of the account changed meanwhile.
const TRIES: usize = 5;
/// When to come back for what could not be saved.
const COME_BACK: i64 = 5;

/// What comes after making it has failed.
enum Next {
    /// Somebody else had moved it; that it is settled is noted, and it is ours now.
    TryAgain(Payment),
    End(Result<Bought, PayError>),
}

impl App {
    /// `told`: its sender waits for the answer.
    pub(super) async fn fulfil(
        &self,
        mut payment: Payment,
        transaction: String,
        told: bool,
    ) -> Result<Bought, PayError> {
        for _ in 0..TRIES {
            let now = self.now();
            let done = Payment {
                state: PaymentState::Fulfilled,
                ask: None,
                // The page holds it now.
                bundle_id: None,
                transaction: Some(transaction.clone()),
                reason: None,
                held_until: now,
                updated_at: now,
                fulfilled_at: Some(now),
                delivered_at: told.then_some(now),
                ..payment.clone()
            };
            let error = match self.make(&payment, done).await {
                Ok(done) => return self.tell_made(done, told).await,
                Err(error) => error,
            };
            match self.settled_only(payment, &transaction, told, error).await {
                Next::TryAgain(ours) => payment = ours,
                Next::End(outcome) => return outcome,
            }
        }
        Err(not_saved(transaction, Error::internal("a settled payment is moved by others all the time")))
    }

    async fn tell_made(&self, done: Payment, told: bool) -> Result<Bought, PayError> {
        tracing::info!(
            payment = done.id,
            item = done.item.as_str(),
            amount = done.amount,
            "a payment was fulfilled"
        );
        let transaction = done.transaction.clone().unwrap_or_default();
        // It is there and only cannot be told: that the same request is to be sent again is true here too.
        self.bought(done, false, told).await.map_err(|error| match error {
            PayError::Failed(error) => not_saved(transaction, error),
            refused @ PayError::Refused(_) => refused,
        })
    }

    /// One transaction. Comes back with the payment as it is written then.
    async fn make(&self, before: &Payment, mut done: Payment) -> Result<Payment, Error> {
        for tries in 1.. {
            let goods = match done.item {
                Item::Publish | Item::Provision => self.make_drafted(&mut done)?,
                Item::Unlock(sku) => self.make_unlock(&done, sku).await?,
            };
            // The payment first: if somebody else was faster, that is what the transaction fails with.
            let mut stmts = vec![payments::update(before, &done)];
            stmts.extend(goods);
            stmts.extend(self.book_income(&done));
            let outcome = match (done.item, &done.account_id) {
                // Whoever knows the account's key finds its limits lifted at once.
                (Item::Unlock(sku), Some(account)) => self.commit_unlock(account, sku, stmts).await,
                _ => self.store.commit(stmts).await.map(|_| ()),
            };
            match outcome {
                Ok(()) => return Ok(done),
                Err(DbError::Guard(label)) if label != payments::MOVED && tries < TRIES => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::internal("a payment was tried for ever"))
    }

    fn make_drafted(&self, done: &mut Payment) -> Result<Vec<Stmt>> {
        match self.open_draft(done)? {
            Draft::Page(draft) => {
                let site = draft.site(self, done);
                done.site_id = Some(site.id.clone());
                Ok(vec![sites::insert(&site), site_versions::insert(&draft.version(done))])
            }
            Draft::Key(draft) => {
                let (account, new) = (draft.account(done), draft.key(done));
                done.account_id = Some(account.id.clone());
                let hash = secret::hash(&new.secret);
                Ok(vec![accounts::insert(&account), api_keys::insert(&new.key, &hash)])
            }
        }
    }

    async fn make_unlock(&self, done: &Payment, sku: Sku) -> Result<Vec<Stmt>> {
        let id = done.account_id.as_deref().unwrap_or_default();
        let account = self.store.find_account(id).await?.ok_or_else(|| Error::not_found("account"))?;
        // Two payments for what holds for good: the second is not spent on nothing, but stays to be refunded.
        if account.unlocks.is_complete(sku, self.now()) {
            return Err(Error::internal("the account already has this unlock; refund the payment"));
        }
        Ok(self.unlock_stmts(&account, sku, self.now()))
    }

    /// The money moved and nothing came of it yet. Spec §7: 5xx after settlement.
    async fn settled_only(&self, payment: Payment, transaction: &str, told: bool, error: Error) -> Next {
        // Whether a lost connection committed is not known, and somebody else may have made it.
        let moved = match self.store.find_payment(&payment.id).await {
            Ok(Some(done)) if done.state == PaymentState::Fulfilled => {
                return Next::End(self.tell_again(done, told).await);
            }
            Ok(Some(other)) if !is_same_hold(&other, &payment) => Some(other),
            _ => None,
        };
        match moved {
            // They know already.
            Some(other) if other.state == PaymentState::Settled => return Next::End(Err(in_flight(1))),
            // They do not: what we heard is certain, whatever they are about to hear.
            Some(other) if matches!(other.state, PaymentState::Settling | PaymentState::Unknown) => {
                let settled = self.as_settled(&other, transaction, HOLD_SECONDS);
                let noted = self.store.commit(vec![payments::update(&other, &settled)]).await;
                return Next::TryAgain(if noted.is_ok() { settled } else { other });
            }
            _ => {}
        }
        tracing::error!(
            %error, source = ?error.source, payment = payment.id, transaction,
            "a payment is settled, but what it buys could not be saved"
        );
        let settled = self.as_settled(&payment, transaction, 0);
        // If this fails too it is asked for again, which settles nothing twice.
        let stmts = vec![payments::update(&payment, &settled), keep_names(&settled)];
        if let Err(error) = self.store.commit(stmts).await {
            tracing::warn!(%error, payment = payment.id, "a settled payment could not be noted");
        }
        Next::End(Err(not_saved(transaction.to_owned(), error)))
    }

    fn as_settled(&self, payment: &Payment, transaction: &str, held_for: i64) -> Payment {
        let now = self.now();
        Payment {
            state: PaymentState::Settled,
            transaction: Some(transaction.to_owned()),
            reason: None,
            held_until: now + held_for,
            updated_at: now,
            ..payment.clone()
        }
    }

    /// What a fulfilled payment bought, as it is told the first time and every time. What changes a page is told to its
    /// sender alone; who may be told of a key was decided before.
    pub(super) async fn bought(
        &self,
        payment: Payment,
        again: bool,
        to_sender: bool,
    ) -> Result<Bought, PayError> {
        let goods = match payment.item {
            Item::Publish | Item::Provision => match self.open_draft(&payment)? {
                Draft::Page(draft) => Goods::Page {
                    site: Box::new(draft.site(self, &payment)),
                    claim_token: to_sender.then_some(draft.claim_token),
                    warnings: draft.warnings,
                },
                Draft::Key(draft) => Goods::Key {
                    account: Box::new(draft.account(&payment)),
                    new: Box::new(draft.key(&payment)),
                },
            },
            Item::Unlock(sku) => {
                let id = payment.account_id.as_deref().unwrap_or_default();
                let account =
                    self.store.find_account(id).await?.ok_or_else(|| Error::not_found("account"))?;
                let until = account.unlocks.until(sku);
                Goods::Unlock { account: Box::new(account), sku, until }
            }
        };
        let transaction = payment.transaction.clone().unwrap_or_default();
        let receipt = receipt(&payment, Outcome::Settled { transaction })
            .ok_or_else(|| Error::internal("a payment cannot be read back"))?;
        Ok(Bought { goods, payment, receipt, again })
    }
}

fn is_same_hold(one: &Payment, other: &Payment) -> bool {
    (one.state, one.held_until, one.attempts) == (other.state, other.held_until, other.attempts)
}

fn not_saved(transaction: String, source: Error) -> PayError {
    let error = Error::plain(Code::PaidNotSaved).with_fact("transaction", Fact::Text(transaction));
    error.retry_after(COME_BACK).with_source(source).into()
}
