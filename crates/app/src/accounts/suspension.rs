//! Suspends accounts: a suspended account can read what it has and delete its pages, nothing else, and its pages are not
//! served. Everything is kept, so that lifting the suspension restores it unchanged.

use crate::app::{ALL_CHANGED, App};
use dropleaf_core::account::Account;
use dropleaf_core::audit::AuditAction;
use dropleaf_core::site::Site;
use dropleaf_core::{Code, Error, Result, takedown};
use dropleaf_store::{DbError, Outcome, Stmt, accounts};

/// An account after it was suspended or the suspension was lifted.
#[derive(Debug, Clone)]
pub struct SuspensionResult {
    pub account: Account,
    /// It was in that state already; nothing changed.
    pub already: bool,
}

impl App {
    pub async fn suspend_account(
        &self,
        actor: &str,
        account_id: &str,
        reason: &str,
    ) -> Result<SuspensionResult> {
        let reason = takedown::reason_for(reason, "is required for the suspension")?;
        let account = self.get_account(account_id).await?;
        if account.is_operator {
            return Err(Error::new(Code::Forbidden, "The account of an operator cannot be suspended."));
        }
        let stmt = accounts::suspend(&account.id, &reason, self.now());
        self.change_suspension(actor, AuditAction::SuspendAccount, account, stmt, reason).await
    }

    /// Suspends the owner of this page.
    pub async fn suspend_owner(&self, actor: &str, site_id: &str, reason: &str) -> Result<SuspensionResult> {
        self.suspend_account(actor, &self.owner_of(site_id).await?, reason).await
    }

    pub async fn lift_owner_suspension(
        &self,
        actor: &str,
        site_id: &str,
        reason: &str,
    ) -> Result<SuspensionResult> {
        self.lift_suspension(actor, &self.owner_of(site_id).await?, reason).await
    }

    async fn owner_of(&self, site_id: &str) -> Result<String> {
        let site = self.store.find_site(site_id).await?.ok_or_else(|| Error::not_found("page"))?;
        site.account_id.ok_or_else(|| Error::not_found("account"))
    }

    /// The account to suspend with a page; none if the page has no owner, or the owner is an operator.
    pub(crate) async fn suspendable_owner(&self, site: &Site) -> Result<Option<Account>> {
        let Some(id) = &site.account_id else { return Ok(None) };
        Ok(self.store.find_account(id).await?.filter(|account| !account.is_operator))
    }

    /// The statements that suspend an account, for the batch of another operation.
    pub(crate) fn suspend_stmts(&self, actor: &str, account: &Account, reason: &str) -> [Stmt; 2] {
        [
            accounts::suspend(&account.id, reason, self.now()),
            self.audit_stmt(actor, AuditAction::SuspendAccount, &account.id, Some(reason.to_owned())),
        ]
    }

    /// Commits a change of a page together with the suspension of its owner, which hides their other pages too.
    pub(crate) async fn commit_suspending(
        &self,
        stmts: Vec<Stmt>,
        before: &Site,
        after: &Site,
        account: &Account,
    ) -> Result<(), DbError> {
        let outcome = self.commit_site_with(stmts, Some(before), after, Some(ALL_CHANGED)).await;
        self.evict_credentials(&account.id);
        outcome
    }

    pub async fn lift_suspension(
        &self,
        actor: &str,
        account_id: &str,
        reason: &str,
    ) -> Result<SuspensionResult> {
        let reason = takedown::reason_for(reason, "is required for lifting the suspension")?;
        let account = self.get_account(account_id).await?;
        let stmt = accounts::lift_suspension(&account.id);
        self.change_suspension(actor, AuditAction::LiftSuspension, account, stmt, reason).await
    }

    async fn change_suspension(
        &self,
        actor: &str,
        act: AuditAction,
        account: Account,
        stmt: Stmt,
        reason: String,
    ) -> Result<SuspensionResult> {
        let stmts = vec![stmt, self.audit_stmt(actor, act, &account.id, Some(reason))];
        // An account may have more pages than can be named in a notification; it is rare enough to evict all of them.
        let all = vec![ALL_CHANGED.to_owned()];
        let changing = self.caches.pages.changing(&all);
        let outcome = self.store.commit_changed(stmts, all.clone()).await;
        changing.done();
        self.evict_credentials(&account.id);
        let already = match outcome {
            Ok(()) => false,
            Err(DbError::Guard(accounts::UNMOVED)) => true,
            Err(error) => return Err(error.into()),
        };
        if !already {
            Self::log_operation(actor, act, &account.id);
        }
        Ok(SuspensionResult { account: self.get_account(&account.id).await?, already })
    }

    /// Commits an operation of an account. Fails if the account has been suspended.
    pub(crate) async fn commit_for_account(
        &self,
        account_id: &str,
        stmts: Vec<Stmt>,
    ) -> Result<Vec<Outcome>, DbError> {
        let mut outcomes = self.store.commit(require_active_account(Some(account_id), stmts)).await?;
        outcomes.remove(0);
        Ok(outcomes)
    }

    /// Refuses to write to a page of a suspended account, for writers without an account: the wallet that paid for it.
    pub(crate) async fn check_owner_active(&self, account_id: Option<&str>) -> Result<()> {
        match account_id {
            Some(id) => self.get_account(id).await?.check_active(),
            None => Ok(()),
        }
    }
}

/// Adds a guard that the account is active at commit time: the caller was authorized earlier, and reading the request
/// body may have taken hours. Everything that a suspended account may not do passes through here.
pub(crate) fn require_active_account(account_id: Option<&str>, mut stmts: Vec<Stmt>) -> Vec<Stmt> {
    // The account before its pages, as everywhere: a fixed lock order prevents deadlocks.
    stmts.splice(0..0, account_id.map(accounts::require_active));
    stmts
}

/// The same for changes of pages, without locking the account's row: an account may publish and change many pages at once.
/// Everything that is counted in that row is changed by a statement with a guard of its own.
pub(crate) fn require_active_owner(account_id: Option<&str>, mut stmts: Vec<Stmt>) -> Vec<Stmt> {
    stmts.splice(0..0, account_id.map(accounts::require_active_shared));
    stmts
}
