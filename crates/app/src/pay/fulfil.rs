//! Fulfils a settled payment in one transaction with the ledger and the payment's row, so that the purchase is delivered
//! exactly once, and never without its money or its money without it.

use super::advance::keep_identifiers;
use super::draft::Draft;
use super::lease::LEASE_SECONDS;
use super::purchase_result::payment_in_flight;
use super::settle::receipt;
use super::{PayError, PurchaseResult, PurchasedItem};
use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::error::Fact;
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::unlock::Sku;
use dropleaf_core::{Code, Error, Result, secret};
use dropleaf_pay::Outcome;
use dropleaf_store::{DbError, Stmt, accounts, api_keys, pay_sessions, payments, site_versions, sites};

/// Retries when something else of the account changed concurrently.
const COMMIT_ATTEMPTS: usize = 5;
/// `Retry-After` in seconds when a purchase could not be saved.
const RETRY_AFTER_SECONDS: i64 = 5;

/// What to do after fulfilment has failed.
enum AfterFailure {
    /// Another worker had changed the payment; it is recorded as settled now, and we hold it.
    TryAgain(Payment),
    End(Result<PurchaseResult, PayError>),
}

impl App {
    /// Fulfils a settled payment. `delivers`: its sender waits for the response.
    pub(super) async fn fulfil_payment(
        &self,
        mut payment: Payment,
        transaction: String,
        delivers: bool,
    ) -> Result<PurchaseResult, PayError> {
        for _ in 0..COMMIT_ATTEMPTS {
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
                delivered_at: delivers.then_some(now),
                ..payment.clone()
            };
            let error = match self.commit_purchase(&payment, done).await {
                Ok(done) => return self.deliver_purchase(done, delivers).await,
                Err(error) => error,
            };
            match self.record_settled(payment, &transaction, delivers, error).await {
                AfterFailure::TryAgain(ours) => payment = ours,
                AfterFailure::End(outcome) => return outcome,
            }
        }
        Err(not_saved(transaction, Error::internal("settled payment keeps being changed concurrently")))
    }

    async fn deliver_purchase(&self, done: Payment, delivers: bool) -> Result<PurchaseResult, PayError> {
        tracing::info!(
            payment = done.id,
            item = done.item.as_str(),
            amount = done.amount,
            "payment fulfilled"
        );
        let transaction = done.transaction.clone().unwrap_or_default();
        // It is fulfilled and only the response failed; the advice to send the same request again holds here too.
        self.purchase_result(done, false, delivers).await.map_err(|error| match error {
            PayError::Failed(error) => not_saved(transaction, error),
            refused @ PayError::Refused(_) => refused,
        })
    }

    /// Runs the transaction and returns the payment as written.
    async fn commit_purchase(&self, before: &Payment, mut done: Payment) -> Result<Payment, Error> {
        for tries in 1.. {
            let item_stmts = match done.item {
                Item::Publish | Item::Provision => self.drafted_stmts(&mut done)?,
                Item::Unlock(sku) => self.paid_unlock_stmts(&mut done, sku).await?,
                // The ledger credits the balance.
                Item::Topup => Vec::new(),
            };
            // The payment first, so that the transaction fails with its guard if another worker was faster.
            let mut stmts = vec![payments::update(before, &done)];
            stmts.extend(item_stmts);
            stmts.extend(self.income_stmts(&done));
            if !done.rail.is_on_chain() {
                stmts.push(pay_sessions::complete(&done.id));
            }
            stmts.extend(self.payment_stmts(&done));
            let outcome = match (done.item, &done.account_id) {
                // The account's cached credentials are dropped, so that its higher limits apply at once.
                (Item::Unlock(sku), Some(account)) => self.commit_unlock(account, sku, stmts).await,
                (Item::Topup, Some(account)) => self.commit_credential_change(account, stmts).await,
                _ => self.store.commit(stmts).await.map(|_| ()),
            };
            // Also after a failure, since the commit may have succeeded: lists of the account's pages are not read from a
            // replica without this one.
            if let Some(account) = &done.account_id {
                self.store.db.mark_changed(account);
            }
            match outcome {
                Ok(()) => return Ok(done),
                Err(DbError::Guard(label)) if label != payments::MOVED && tries < COMMIT_ATTEMPTS => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::internal("payment fulfilment retries exhausted"))
    }

    fn drafted_stmts(&self, done: &mut Payment) -> Result<Vec<Stmt>> {
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

    async fn paid_unlock_stmts(&self, done: &mut Payment, sku: Sku) -> Result<Vec<Stmt>> {
        let account = self.buyer(done).await?;
        // Two payments for a permanent unlock: the second one buys nothing. By card it becomes credit; on a chain it stays
        // settled, to be refunded.
        if account.unlocks.is_complete(sku, self.now()) {
            if !done.rail.is_on_chain() {
                done.credit_minor = done.amount;
                return Ok(Vec::new());
            }
            return Err(Error::internal("the account already has this unlock; refund the payment"));
        }
        let mut stmts = Vec::new();
        if !done.rail.is_on_chain() && sku.period_days().is_none() {
            stmts.push(payments::require_not_permanent(&account.id));
        }
        stmts.extend(self.unlock_stmts(&account, sku, self.now()));
        Ok(stmts)
    }

    /// The money moved and the purchase is not saved yet. Spec §7: 5xx after settlement.
    async fn record_settled(
        &self,
        payment: Payment,
        transaction: &str,
        delivers: bool,
        error: Error,
    ) -> AfterFailure {
        // After a lost connection the commit may have succeeded, and another worker may have fulfilled it.
        let moved = match self.store.find_payment(&payment.id).await {
            Ok(Some(done)) if done.state == PaymentState::Fulfilled => {
                return AfterFailure::End(self.replay_delivery(done, delivers).await);
            }
            Ok(Some(other)) if !is_same_lease(&other, &payment) => Some(other),
            _ => None,
        };
        match moved {
            // The other worker knows already that it is settled.
            Some(other) if other.state == PaymentState::Settled => {
                return AfterFailure::End(Err(payment_in_flight(1)));
            }
            // The other worker does not: our answer is certain, whatever answer it is about to get.
            Some(other) if matches!(other.state, PaymentState::Settling | PaymentState::Unknown) => {
                let settled = self.as_settled(&other, transaction, LEASE_SECONDS);
                let recorded = self.store.commit(vec![payments::update(&other, &settled)]).await;
                return AfterFailure::TryAgain(if recorded.is_ok() { settled } else { other });
            }
            _ => {}
        }
        tracing::error!(
            %error, source = ?error.source, payment = payment.id, transaction,
            "payment settled, but purchase not saved"
        );
        let settled = self.as_settled(&payment, transaction, 0);
        // If this fails too, settlement is requested again, which settles nothing twice.
        let stmts = vec![payments::update(&payment, &settled), keep_identifiers(&settled)];
        if let Err(error) = self.store.commit(stmts).await {
            tracing::warn!(%error, payment = payment.id, "settled payment not recorded");
        }
        AfterFailure::End(Err(not_saved(transaction.to_owned(), error)))
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

    /// The purchase of a fulfilled payment, the same on every replay. The claim token of a page is given only to its
    /// sender; whether a key may be shown was decided before.
    pub(super) async fn purchase_result(
        &self,
        payment: Payment,
        is_replay: bool,
        to_sender: bool,
    ) -> Result<PurchaseResult, PayError> {
        let item = match payment.item {
            Item::Publish | Item::Provision => match self.open_draft(&payment)? {
                Draft::Page(draft) => PurchasedItem::Page {
                    site: Box::new(draft.site(self, &payment)),
                    claim_token: to_sender.then_some(draft.claim_token),
                    warnings: draft.warnings,
                },
                Draft::Key(draft) => PurchasedItem::Key {
                    account: Box::new(draft.account(&payment)),
                    new: Box::new(draft.key(&payment)),
                },
            },
            Item::Topup => PurchasedItem::Topup { account: Box::new(self.buyer(&payment).await?) },
            Item::Unlock(sku) => {
                let account = self.buyer(&payment).await?;
                let until = account.unlocks.until(sku);
                PurchasedItem::Unlock { account: Box::new(account), sku, until }
            }
        };
        let transaction = payment.transaction.clone().unwrap_or_default();
        let receipt = if payment.rail.is_on_chain() {
            let receipt = receipt(&payment, Outcome::Settled { transaction });
            Some(receipt.ok_or_else(|| Error::internal("stored payment cannot be parsed"))?)
        } else {
            None
        };
        Ok(PurchaseResult { item, payment, receipt, is_replay })
    }

    /// The account that a payment is for.
    async fn buyer(&self, payment: &Payment) -> Result<Account> {
        let id = payment.account_id.as_deref().unwrap_or_default();
        self.store.find_account(id).await?.ok_or_else(|| Error::not_found("account"))
    }
}

fn is_same_lease(one: &Payment, other: &Payment) -> bool {
    (one.state, one.held_until, one.attempts) == (other.state, other.held_until, other.attempts)
}

fn not_saved(transaction: String, source: Error) -> PayError {
    let error = Error::plain(Code::PaidNotSaved).with_fact("transaction", Fact::Text(transaction));
    error.retry_after(RETRY_AFTER_SECONDS).with_source(source).into()
}
