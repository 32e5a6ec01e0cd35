//! Erases an account with everything it has: pages, bodies, keys, sessions, feedback, domains. Payments and ledger entries
//! stay, because the ledger is append-only, and so does evidence of pages that were taken down until its own end.

use crate::app::{ALL_CHANGED, App};
use crate::publish::CONFLICT_RETRIES;
use dropleaf_core::account::Account;
use dropleaf_core::audit::AuditAction;
use dropleaf_core::site::{Site, State};
use dropleaf_core::{Code, Error, Result};
use dropleaf_store::account_erasure::{self, ErasedRows, Tombstones};
use dropleaf_store::{DbError, accounts, sites};

/// Pages read at once.
const BATCH: i64 = 200;
const SUSPENDED_REASON: &str = "The account is being erased.";

/// What was erased with an account.
#[derive(Debug, Clone, Copy, Default)]
pub struct ErasedAccount {
    /// Pages whose content was still stored.
    pub pages: u64,
    pub versions: u64,
    pub rows: ErasedRows,
}

impl App {
    /// Erases an account. If it is interrupted, the account stays suspended and the call can be repeated.
    pub async fn erase_account(&self, actor: &str, account: &Account) -> Result<ErasedAccount> {
        self.check_erasable(account).await?;
        let erased = self.erase_everything(account, Some(actor)).await?;
        Self::log_operation(actor, AuditAction::EraseAccount, &account.id);
        Ok(erased)
    }

    async fn check_erasable(&self, account: &Account) -> Result<()> {
        let refused = |code: Code, why: String| Err(Error::new(code, why));
        if account.is_operator {
            return refused(Code::Forbidden, "The account of an operator cannot be deleted.".into());
        }
        if account.balance_minor != 0 || account.sandbox_balance_minor != 0 {
            let why = "The account has a prepaid balance. Refund it and take it back with `dropleaf account credit` first.";
            return refused(Code::Conflict, why.into());
        }
        let undecided = self.store.count_undecided_payments_of(&account.id).await?;
        if undecided > 0 {
            let why = format!(
                "The account has {undecided} undecided payments. Wait for them or decide them first."
            );
            return refused(Code::Conflict, why);
        }
        let reports = self.store.count_open_reports_of(&account.id).await?;
        if reports > 0 {
            let why = format!("The account's pages have {reports} open reports. Decide them first.");
            return refused(Code::Conflict, why);
        }
        Ok(())
    }

    /// The same without the checks. Without an actor it undoes an import: there is no audit entry, and no tombstone that
    /// would keep the links from being imported again.
    pub(crate) async fn erase_everything(
        &self,
        account: &Account,
        actor: Option<&str>,
    ) -> Result<ErasedAccount> {
        self.suspend_for_erasure(account).await?;
        let mut account = account.clone();
        if actor.is_some() {
            // A payment may have arrived before the suspension.
            account = self.get_account(&account.id).await?;
            self.check_erasable(&account).await.map_err(still_suspended)?;
        }
        let mut erased = ErasedAccount::default();
        loop {
            let pages = self.store.list_unpurged_of(&account.id, BATCH).await?;
            if pages.is_empty() {
                break;
            }
            for site in pages {
                erased.versions += self.erase_page(site).await?;
                erased.pages += 1;
            }
        }
        let appealed = self.store.list_appealed_bundles_of(&account.id).await?;
        let mut stmts = Vec::new();
        if let Some(actor) = actor {
            stmts.push(self.audit_stmt(actor, AuditAction::EraseAccount, &account.id, None));
        }
        let slugs_until = self.now() + self.settings.retention.slug_hold;
        let tombstones = if actor.is_some() { Tombstones::Kept { slugs_until } } else { Tombstones::Deleted };
        let email = account.email.as_deref();
        stmts.extend(account_erasure::erase(&account.id, email, tombstones, self.now()));
        let all = vec![ALL_CHANGED.to_owned()];
        let changing = self.caches.pages.changing(&all);
        let outcome = self.store.db.batch_notify(stmts, all.clone()).await;
        changing.done();
        self.evict_credentials(&account.id);
        let outcome = outcome.map_err(|error| match error {
            DbError::Guard(account_erasure::UNSETTLED) => {
                still_suspended(Error::new(Code::Conflict, "A payment of the account arrived meanwhile."))
            }
            error => error.into(),
        })?;
        erased.rows = account_erasure::erased(&outcome);
        self.erase_content(&account.id, &appealed).await;
        if erased.rows.custom_domains > 0
            && let Err(error) = self.served_domains_changed().await
        {
            tracing::warn!(%error, "custom domains not reloaded, will retry");
        }
        // The write-ahead log of SQLite keeps old contents until it is truncated; the sweep tries again.
        if let Err(error) = self.store.db.truncate_log().await {
            tracing::warn!(%error, "write-ahead log not truncated after an erasure");
        }
        Ok(erased)
    }

    /// From here on the account can neither publish nor change anything, on any node.
    async fn suspend_for_erasure(&self, account: &Account) -> Result<()> {
        let stmt = accounts::suspend(&account.id, SUSPENDED_REASON, self.now());
        let all = vec![ALL_CHANGED.to_owned()];
        let changing = self.caches.pages.changing(&all);
        let outcome = self.store.commit_changed(vec![stmt], all.clone()).await;
        changing.done();
        self.evict_credentials(&account.id);
        match outcome {
            Ok(()) | Err(DbError::Guard(accounts::UNMOVED)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends a page and erases its content; returns how many versions it had.
    async fn erase_page(&self, mut site: Site) -> Result<u64> {
        for _ in 0..CONFLICT_RETRIES {
            let versions = self.store.list_versions(&site.id).await?;
            if site.state == State::TakenDown {
                // Its evidence is kept for as long as the server keeps such evidence.
                self.finish_takedown(&site, true).await?;
            } else {
                let state = if site.state == State::Burnt { State::Burnt } else { State::Deleted };
                let (next, stmts) = self.end_site_stmts(&site, state, true);
                match self.commit_site(stmts, Some(&site), &next).await {
                    Ok(()) | Err(DbError::Guard(sites::CHANGED)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            match self.store.find_site(&site.id).await? {
                Some(now) if now.purged_at.is_none() => site = now,
                _ => {
                    let bundles: Vec<_> = versions.iter().map(|version| version.bundle_id.clone()).collect();
                    self.erase_content(&site.id, &bundles).await;
                    return Ok(versions.len() as u64);
                }
            }
        }
        Err(self.guard_error(DbError::Guard(sites::CHANGED), None))
    }
}

/// An erasure that stopped after the suspension.
fn still_suspended(mut error: Error) -> Error {
    error.detail.push_str(
        " The account stays suspended: then delete it again, or lift the suspension with `dropleaf account restore-access`.",
    );
    error
}
