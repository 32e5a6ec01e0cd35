//! Sells pages and API keys from the prepaid balance, without a 402. Spec §5 rule 5. Unlocks are in `unlock`.

use super::draft::{provisioned_account, provisioned_key};
use super::order::CheckedPage;
use super::replay::{KEY_SHOWN_SECONDS, payment_used};
use super::settings::PaymentSettings;
use crate::accounts::api_keys::NewKey;
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::publish::idempotency::{FirstOrReplay, IdempotentRequest, IdempotentResult, StoredOutcome};
use crate::publish::{CONFLICT_RETRIES, CreatedSite, first_version};
use dropleaf_core::account::Account;
use dropleaf_core::ledger::{Posting, Unit};
use dropleaf_core::payment::Item;
use dropleaf_core::site::{NewSite, Site};
use dropleaf_core::{Code, Error, Result, secret};
use dropleaf_store::{DbError, Stmt, accounts, api_keys, idempotency, ledger, site_versions, sites};

/// Something bought from a balance.
#[derive(Debug)]
pub struct BalancePurchase<T> {
    pub item: T,
    /// The account that paid, after the purchase.
    pub buyer: Account,
}

/// A new account with its first key.
#[derive(Debug)]
pub struct ProvisionedAccount {
    pub account: Account,
    pub new: NewKey,
}

/// The result of a purchase from a balance. `None` if the balance does not suffice: then it has to be paid for.
pub type BalanceResult<T> = Result<Option<IdempotentResult<BalancePurchase<T>>>>;

/// What is charged, and the statements that deliver it.
struct Delivery<T> {
    item: Item,
    /// The ID of the ledger transaction.
    txn_id: String,
    goods: T,
    stmts: Vec<Stmt>,
    outcome: StoredOutcome,
}

impl App {
    /// What the account can spend now, in cents: sandbox money in sandbox mode, real money otherwise.
    pub fn spendable_balance(&self, account: &Account) -> i64 {
        account.spendable(self.is_sandbox())
    }

    /// The unit of what accounts can spend now.
    pub fn balance_unit(&self) -> Unit {
        if self.is_sandbox() { Unit::Play2 } else { Unit::Usd2 }
    }

    /// Whether balances are charged in sandbox money.
    pub(super) fn is_sandbox(&self) -> bool {
        self.settings.payments.as_ref().is_some_and(PaymentSettings::is_sandbox)
    }

    /// Why an account with credit is asked to pay: real credit is not spent in sandbox mode. `None` if it has none, or if it can
    /// be spent.
    pub fn unspendable_credit(&self, account: &Account) -> Option<String> {
        let credit = Some(account.balance_minor).filter(|cents| self.is_sandbox() && *cents > 0)?;
        let credit = Unit::Usd2.written(credit);
        Some(format!("The account's real credit of {credit} is not spent in sandbox mode."))
    }

    /// Publishes a page and charges it to the caller's balance. It belongs to the account, does not expire, and does not
    /// count against the plan. Spec §8.
    pub async fn publish_with_balance(
        &self,
        caller: &Caller,
        mut page: CheckedPage,
        once: Option<&IdempotentRequest>,
        render: impl Fn(&BalancePurchase<CreatedSite>) -> Vec<u8>,
    ) -> BalanceResult<CreatedSite> {
        let account = caller.account()?;
        let _guard = match self.begin_idempotent(once).await? {
            FirstOrReplay::Replay(outcome, body) => {
                return Ok(Some(IdempotentResult::Replayed { outcome, body }));
            }
            FirstOrReplay::First(guard) => guard,
        };
        page.refusal.take().map_or(Ok(()), Err)?;
        let _alone = self.payments.locks.lock(&balance_lock(&account.id)).await;
        // Checked before the content is stored, and again with each attempt to commit.
        if !self.can_buy(account, Item::Publish).await? {
            return self.repeat_or_none(once).await;
        }
        let staged = self.stage_prepared(page.prepared).await?;
        let now = self.now();
        let txn_id = self.minter.ordered_id("txn", now);
        let id = self.minter.ordered_id("site", now);
        let new = NewSite {
            token: self.minter.page_token(),
            host_label: self.keys.host_label(&id),
            id,
            title: staged.title,
            bundle_id: staged.bundle_id,
            byte_size: staged.byte_size,
            spa: staged.spa,
            created_at: now,
        };
        // Without a claim token: that is for adopting a page into an account, and this page has its account already.
        let site =
            Site { account_id: Some(account.id.clone()), payment_id: Some(txn_id.clone()), ..Site::new(new) };
        let mut stmts = self.sandbox_sale_stmts(Item::Publish, caller.ip)?;
        stmts.extend(staged.stmts);
        stmts.push(sites::insert(&site));
        stmts.push(site_versions::insert(&first_version(&site, staged.file_count, caller.maker())));
        let goods = CreatedSite { site, claim_token: None, warnings: staged.warnings };
        let outcome = StoredOutcome::Created;
        let delivery = Delivery { item: Item::Publish, txn_id, goods, stmts, outcome };
        self.charge_balance(account, delivery, once, render).await
    }

    /// Creates another account with a key and charges it to the caller's balance.
    pub async fn provision_with_balance(
        &self,
        caller: &Caller,
        once: Option<&IdempotentRequest>,
        render: impl Fn(&BalancePurchase<ProvisionedAccount>) -> Vec<u8>,
    ) -> BalanceResult<ProvisionedAccount> {
        self.check_provision_allowed()?;
        let buyer = caller.account()?;
        let _guard = match self.begin_idempotent(once).await? {
            FirstOrReplay::Replay(outcome, body) => {
                self.check_key_still_shown(once).await?;
                return Ok(Some(IdempotentResult::Replayed { outcome, body }));
            }
            FirstOrReplay::First(guard) => guard,
        };
        let _alone = self.payments.locks.lock(&balance_lock(&buyer.id)).await;
        if !self.can_buy(buyer, Item::Provision).await? {
            return self.repeat_or_none(once).await;
        }
        let now = self.now();
        let account = provisioned_account(self.minter.id("acct"), now);
        let new = provisioned_key(
            self.minter.id("key"),
            account.id.clone(),
            self.minter.api_key(),
            account.created_at,
        );
        let mut stmts = self.sandbox_sale_stmts(Item::Provision, caller.ip)?;
        stmts.push(accounts::insert(&account));
        stmts.push(api_keys::insert(&new.key, &secret::hash(&new.secret)));
        let delivery = Delivery {
            item: Item::Provision,
            txn_id: self.minter.ordered_id("txn", now),
            goods: ProvisionedAccount { account, new },
            stmts,
            outcome: StoredOutcome::Updated,
        };
        self.charge_balance(buyer, delivery, once, render).await
    }

    /// The result of a request for which the balance does not suffice: the first response again if another node has handled the
    /// same request in the meantime, because then this purchase itself used the balance up.
    pub(super) async fn repeat_or_none<T>(
        &self,
        once: Option<&IdempotentRequest>,
    ) -> Result<Option<IdempotentResult<T>>> {
        let Some(once) = once else { return Ok(None) };
        let stored = self.find_stored_response(once).await?;
        Ok(stored.map(|(outcome, body)| IdempotentResult::Replayed { outcome, body }))
    }

    async fn can_buy(&self, account: &Account, item: Item) -> Result<bool> {
        let sold = self.require_payments()?;
        let account = self.get_account(&account.id).await?;
        Ok(account.charge(sold.prices.cents_of(item), sold.is_sandbox()).is_some())
    }

    /// Charges the balance and delivers, in one transaction.
    async fn charge_balance<T>(
        &self,
        account: &Account,
        delivery: Delivery<T>,
        once: Option<&IdempotentRequest>,
        render: impl Fn(&BalancePurchase<T>) -> Vec<u8>,
    ) -> BalanceResult<T> {
        let sold = self.require_payments()?;
        let Delivery { item, txn_id, goods, stmts: delivery_stmts, outcome } = delivery;
        let mut bought = BalancePurchase { item: goods, buyer: account.clone() };
        for _ in 0..CONFLICT_RETRIES {
            let before = self.get_account(&account.id).await?;
            let Some(charge) = before.charge(sold.prices.cents_of(item), sold.is_sandbox()) else {
                return self.repeat_or_none(once).await;
            };
            let spend = Posting::spend(&txn_id, &before.id, item, charge);
            bought.buyer = before.charged(charge);
            let mut stmts = delivery_stmts.clone();
            stmts.extend(self.posting_stmts_as(&txn_id, spend));
            stmts.push(ledger::require_balance(&bought.buyer));
            if let Some(once) = once {
                stmts.push(self.store_response(once, outcome, &render(&bought))?);
            }
            match (self.commit_for_account(&account.id, stmts).await, once) {
                (Ok(_), _) => {
                    tracing::info!(
                        account = account.id,
                        item = item.as_str(),
                        cents = charge.total(),
                        transaction = txn_id,
                        "bought from the balance"
                    );
                    return Ok(Some(IdempotentResult::New(bought)));
                }
                (Err(DbError::Guard(idempotency::ANSWERED)), Some(once)) => {
                    return self.replay_response(once).await.map(Some);
                }
                // Something else was bought concurrently: read the balance again.
                (Err(DbError::Guard(ledger::OVERDRAWN | ledger::MOVED)), _) => {}
                (Err(error), _) => return Err(self.guard_error(error, None)),
            }
        }
        Err(Error::new(
            Code::Conflict,
            "Another request is changing the account. Nothing was charged. Try again.",
        ))
    }

    /// The stored response contains a key. It is kept longer than the key is shown, so that a late repeat buys nothing.
    async fn check_key_still_shown(&self, once: Option<&IdempotentRequest>) -> Result<()> {
        let Some(once) = once else { return Ok(()) };
        let shown_since = self.now() - KEY_SHOWN_SECONDS;
        match self.store.find_response(&once.scope, &secret::hash(&once.key), shown_since).await? {
            Some(_) => Ok(()),
            None => Err(payment_used("no_longer_shown")),
        }
    }
}

/// The lock of an account's balance: purchases in one process wait for each other instead of failing each other.
pub(super) fn balance_lock(account_id: &str) -> String {
    format!("balance:{account_id}")
}
