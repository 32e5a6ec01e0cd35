//! Unlocks: charged to the prepaid balance if it suffices, else paid for. Spec §5.5.

use super::balance::balance_lock;
use crate::accounts::suspension::require_active_account;
use crate::app::{ALL_CHANGED, App};
use crate::publish::CONFLICT_RETRIES;
use crate::publish::idempotency::{FirstOrReplay, IdempotentRequest, IdempotentResult, StoredOutcome};
use dropleaf_core::account::{Account, Charge};
use dropleaf_core::ledger::{Posting, dollars};
use dropleaf_core::payment::Item;
use dropleaf_core::unlock::Sku;
use dropleaf_core::{Code, Error, Result};
use dropleaf_pay::Network;
use dropleaf_store::{DbError, Stmt, accounts, custom_domains, idempotency, ledger, payments, site_upkeep};

/// An account with a new unlock.
#[derive(Debug, Clone)]
pub struct UnlockResult {
    pub account: Account,
    pub sku: Sku,
    /// None: permanent.
    pub until: Option<i64>,
    /// Charged to the balance, in cents.
    pub charged_minor: i64,
    /// The account had it permanently already; nothing was charged.
    pub already: bool,
}

/// An entry of `GET /unlock`.
#[derive(Debug, Clone)]
pub struct CatalogueEntry {
    pub sku: Sku,
    /// In dollars, for people: `2.00`.
    pub price: String,
    /// In the smallest unit of the token.
    pub amount: String,
    /// In cents: the amount charged to a balance.
    pub amount_minor: i64,
    pub currency: &'static str,
    pub period_days: Option<i64>,
    /// The networks it can be paid on (CAIP-2 names).
    pub networks: Vec<String>,
}

impl App {
    /// The unlocks sold here. Empty if nothing is sold.
    pub fn unlock_catalogue(&self) -> Vec<CatalogueEntry> {
        let Some(sold) = &self.settings.payments else { return Vec::new() };
        let evm = sold.evm.as_ref().map(|method| Network::Evm(method.chain_id).to_string());
        let entry = |sku: Sku| {
            let amount = sold.prices.of(Item::Unlock(sku));
            CatalogueEntry {
                sku,
                price: dollars(amount),
                amount: amount.to_string(),
                amount_minor: sold.prices.cents_of(Item::Unlock(sku)),
                currency: "USD",
                period_days: sku.period_days(),
                networks: evm.iter().cloned().collect(),
            }
        };
        Sku::ALL.into_iter().map(entry).collect()
    }

    /// Whether the account has it permanently, so that buying it would give nothing; checked before anything is paid.
    pub async fn is_unlocked(&self, account_id: &str, sku: Sku) -> Result<bool> {
        Ok(self.get_account(account_id).await?.unlocks.is_complete(sku, self.now()))
    }

    /// Buys an unlock from the balance. None if the balance does not suffice: then it has to be paid for.
    pub async fn unlock_with_balance(
        &self,
        account: &Account,
        sku: Sku,
        once: Option<&IdempotentRequest>,
        render: impl Fn(&UnlockResult) -> Vec<u8>,
    ) -> Result<Option<IdempotentResult<UnlockResult>>> {
        let Some(sold) = &self.settings.payments else {
            return Err(Error::new(Code::NotFound, "Payments are turned off on this server."));
        };
        let price = sold.prices.cents_of(Item::Unlock(sku));
        let _guard = match self.begin_idempotent(once).await? {
            FirstOrReplay::Replay(outcome, body) => {
                return Ok(Some(IdempotentResult::Replayed { outcome, body }));
            }
            FirstOrReplay::First(guard) => guard,
        };
        let _alone = self.payments.locks.lock(&balance_lock(&account.id)).await;
        for _ in 0..CONFLICT_RETRIES {
            let before = self.get_account(&account.id).await?;
            let now = self.now();
            if before.unlocks.is_complete(sku, now) {
                let until = before.unlocks.until(sku);
                let unlocked = UnlockResult { account: before, sku, until, charged_minor: 0, already: true };
                return Ok(Some(IdempotentResult::New(unlocked)));
            }
            let Some(charge) = before.charge(price, sold.is_sandbox()) else {
                return self.repeat_or_none(once).await;
            };
            let unlocked = unlock_preview(&before, sku, charge, now);
            let mut stmts = single_purchase_stmts(&before.id, sku, "");
            stmts.push(accounts::set_unlocks(&before, &unlocked.account.unlocks));
            stmts.extend(self.remove_expiry_stmts(&before, sku, now));
            stmts.extend(check_domains_stmt(&before, sku, now));
            let spend = Posting::spend(&self.minter.nonce(), &before.id, Item::Unlock(sku), charge);
            stmts.extend(self.posting_stmts(spend));
            stmts.push(ledger::require_balance(&unlocked.account));
            if let Some(once) = once {
                stmts.push(self.store_response(once, StoredOutcome::Updated, &render(&unlocked))?);
            }
            let stmts = require_active_account(Some(&before.id), stmts);
            match (self.commit_unlock(&before.id, sku, stmts).await, once) {
                (Ok(()), _) => return Ok(Some(IdempotentResult::New(unlocked))),
                (Err(DbError::Guard(idempotency::ANSWERED)), Some(once)) => {
                    return self.replay_response(once).await.map(Some);
                }
                // Something was bought or credited concurrently: read the account again.
                (Err(DbError::Guard(accounts::CHANGED | ledger::OVERDRAWN | ledger::MOVED)), _) => {}
                (Err(DbError::Guard(payments::BOUGHT)), _) => {
                    if !self.is_unlocked(&before.id, sku).await? {
                        return Err(already_unlocked());
                    }
                }
                (Err(error), _) => return Err(error.into()),
            }
        }
        Err(Error::new(Code::Conflict, "Another request is changing the account. Try again."))
    }

    /// The statements that activate a paid unlock, for the transaction that records its payment. Commit them with
    /// [`App::commit_unlock`]. They fail only if the account does not exist.
    pub(crate) fn unlock_stmts(&self, account: &Account, sku: Sku, now: i64) -> Vec<Stmt> {
        let mut stmts = vec![accounts::unlock(&account.id, sku, now)];
        stmts.extend(self.remove_expiry_stmts(account, sku, now));
        stmts.extend(check_domains_stmt(account, sku, now));
        stmts
    }

    /// Removes the plan's maximum lifetime from existing pages; future pages have none either.
    fn remove_expiry_stmts(&self, account: &Account, sku: Sku, now: i64) -> Option<Stmt> {
        let life = self.settings.plans.find(&account.plan).longest_life_seconds?;
        (sku == Sku::MakePermanent).then(|| site_upkeep::lift_expiry(&account.id, life, now))
    }

    /// Commits statements that raise an account's limits, effective at once.
    pub(crate) async fn commit_unlock(
        &self,
        account_id: &str,
        sku: Sku,
        stmts: Vec<Stmt>,
    ) -> Result<(), DbError> {
        if sku != Sku::MakePermanent {
            return self.commit_credential_change(account_id, stmts).await;
        }
        // Only the statement knows which pages it changes; it is rare enough to evict them all, on every node.
        let all = vec![ALL_CHANGED.to_owned()];
        let changing = self.caches.pages.changing(&all);
        let outcome = self.store.commit_changed(stmts, all.clone()).await;
        changing.done();
        self.evict_credentials(account_id);
        outcome
    }
}

/// The statements that prevent paying twice for a permanent unlock.
pub(super) fn single_purchase_stmts(account_id: &str, sku: Sku, payment_id: &str) -> Vec<Stmt> {
    if sku.period_days().is_some() {
        return Vec::new();
    }
    payments::require_single_purchase(account_id, Item::Unlock(sku), payment_id).into()
}

/// Nothing was charged: the account has it, or another payment for it is undecided.
pub(super) fn already_unlocked() -> Error {
    let detail = "The account already has this unlock, or another payment for it is in progress. Nothing was charged. See GET /me.";
    Error::new(Code::Conflict, detail).retry_after(5)
}

/// The account after the purchase.
fn unlock_preview(before: &Account, sku: Sku, charge: Charge, now: i64) -> UnlockResult {
    let unlocks = before.unlocks.with(sku, now);
    let account = Account { unlocks, ..before.clone() }.charged(charge);
    UnlockResult { account, sku, until: unlocks.until(sku), charged_minor: charge.total(), already: false }
}

/// Domains that the account could not use are checked soon.
fn check_domains_stmt(account: &Account, sku: Sku, now: i64) -> Option<Stmt> {
    (sku == Sku::CustomDomain).then(|| custom_domains::check_soon(&account.id, now))
}
