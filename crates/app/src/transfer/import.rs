//! Imports an account from an export: all of it or nothing. Its pages first belong to a suspended account without an
//! address, so that no viewer sees half an import. One transaction hands them over at the end. An import that fails is
//! undone; one that was killed is undone by the next import or sweep, once its lease has ended.

use super::TransferProgress;
use super::archive::ExportArchive;
use super::export::blocking;
use super::import_page::import_error;
use crate::app::{ALL_CHANGED, App};
use dropleaf_core::account::Account;
use dropleaf_core::audit::AuditAction;
use dropleaf_core::custom_domain::CustomDomain;
use dropleaf_core::hostname::Hostname;
use dropleaf_core::notification::NotifyMode;
use dropleaf_core::plan::Plan;
use dropleaf_core::{Code, Error, Result, email};
use dropleaf_store::account_transfer::{self, IMPORT_LEASE};
use dropleaf_store::email_settings::set_notify_mode;
use dropleaf_store::{DbError, Stmt, accounts, counters, custom_domains, leases};
use std::collections::HashMap;
use std::fs::File;
use std::sync::{Arc, Mutex, PoisonError};

/// How long an import may take between two of its transactions.
const LEASE_SECONDS: i64 = 900;
const STAGING_REASON: &str = "An import is in progress.";
/// Warnings that are reported.
const MOST_WARNINGS: usize = 1000;

/// The account that gets the pages.
#[derive(Debug, Clone, Default)]
pub struct ImportTarget {
    /// The account with this address, which is created if there is none. Without it, the address in the export, for which
    /// there must be no account yet.
    pub email: Option<String>,
    /// The plan of a new account instead of the server's default plan. The one in the export is not trusted.
    pub plan: Option<String>,
}

/// The result of an import.
#[derive(Debug, Clone)]
pub struct Imported {
    pub account: Account,
    pub pages: u64,
    pub versions: u64,
    pub feedback: u64,
    pub domains: u64,
    /// What the operator and the owner should know, one sentence each.
    pub warnings: Vec<String>,
}

/// The state of an import under way.
#[derive(Debug)]
pub(super) struct RunningImport {
    pub(super) archive: Arc<Mutex<ExportArchive>>,
    /// The account that has the pages until the end.
    pub(super) staging_id: String,
    /// The account that gets them, if it exists already.
    target: Option<Account>,
    /// The plan of the account that gets them.
    pub(super) plan: Plan,
    locked_hash: Option<String>,
    pub(super) versions: u64,
    pub(super) feedback: u64,
    warnings: Vec<String>,
}

impl RunningImport {
    pub(super) fn warn(&mut self, page: &str, what: &str) {
        if self.warnings.len() < MOST_WARNINGS {
            self.warnings.push(format!("{page}: {what}."));
        }
    }

    /// Names that are reserved for an account stay with it.
    pub(super) fn slug_owner(&self) -> &str {
        self.target.as_ref().map_or(&self.staging_id, |target| &target.id)
    }

    /// Fails the transaction if this import took too long: another one may have begun, or the sweep may be undoing this one.
    pub(super) fn renew_lease(&self, now: i64) -> Stmt {
        leases::renew(IMPORT_LEASE, &self.staging_id, now + LEASE_SECONDS, now)
    }

    /// The hash of a random password that is not kept: the gate stays shut until the owner sets a new one.
    pub(super) async fn locked_hash(&mut self, app: &App) -> Result<String> {
        if let Some(hash) = &self.locked_hash {
            return Ok(hash.clone());
        }
        let ask = app.account_hash_request(&self.staging_id);
        let hash = app.limits.password_hasher.hash(&app.minter.token(), &app.minter, ask).await?;
        Ok(self.locked_hash.insert(hash).clone())
    }
}

impl App {
    /// Imports an export. Nothing is stored unless all of it is accepted.
    pub async fn import_account(
        &self,
        actor: &str,
        file: File,
        target: &ImportTarget,
        progress: impl Fn(TransferProgress),
    ) -> Result<Imported> {
        let limits = self.settings.content.clone();
        let archive = blocking(move || ExportArchive::open(file, &limits)).await??;
        let (new_account, target) = self.resolve_target(&archive, target).await?;
        self.undo_interrupted_import().await?;
        let plan_of = target.as_ref().unwrap_or(&new_account);
        let mut import = RunningImport {
            plan: self.plan_of(plan_of),
            archive: Arc::new(Mutex::new(archive)),
            staging_id: self.minter.id("acct"),
            target,
            locked_hash: None,
            versions: 0,
            feedback: 0,
            warnings: Vec::new(),
        };
        self.begin_import(&import, &new_account.plan).await?;
        match self.run_import(actor, &mut import, new_account, progress).await {
            Ok(imported) => Ok(imported),
            Err(error) => {
                if let Err(undo) = self.undo_import(&import.staging_id).await {
                    tracing::warn!(error = %undo, "failed import not undone, the sweep will retry");
                }
                Err(error)
            }
        }
    }

    /// The account to create, and the existing account if there is one.
    async fn resolve_target(
        &self,
        archive: &ExportArchive,
        target: &ImportTarget,
    ) -> Result<(Account, Option<Account>)> {
        let record = &archive.manifest.account;
        let exported = record.email.as_deref().map(email::address).transpose()?;
        let named = target.email.as_deref().map(email::address).transpose()?;
        let is_named = named.is_some();
        let address = named.or(exported).ok_or_else(|| {
            Error::field("account", "is required: the account in the export has no email address")
        })?;
        super::record_check::past("created_at", record.created_at, self.now())?;
        let plan = target.plan.as_deref().unwrap_or(&self.settings.default_plan);
        let existing = self.store.find_account_by_email(&address).await?;
        match &existing {
            None => self.check_plan(plan)?,
            Some(_) if !is_named => {
                let why = format!("{address} has an account here. Name it with --account to import into it.");
                return Err(Error::new(Code::Conflict, why));
            }
            Some(account) => account.check_active()?,
        }
        let new = Account::new(self.minter.id("acct"), plan.to_owned(), self.now());
        let new = Account { email: Some(address), ..new };
        Ok((new, existing))
    }

    /// Takes the lease and creates the account that has the pages until the end.
    async fn begin_import(&self, import: &RunningImport, plan: &str) -> Result<()> {
        let now = self.now();
        let staging = Account::new(import.staging_id.clone(), plan.to_owned(), now);
        let stmts = vec![
            leases::take(IMPORT_LEASE, &import.staging_id, now + LEASE_SECONDS, now),
            accounts::insert(&staging),
            accounts::suspend(&staging.id, STAGING_REASON, now),
        ];
        match self.store.commit(stmts).await {
            Ok(_) => Ok(()),
            Err(DbError::Guard(leases::HELD)) => Err(superseded()),
            Err(error) => Err(error.into()),
        }
    }

    async fn run_import(
        &self,
        actor: &str,
        import: &mut RunningImport,
        new_account: Account,
        progress: impl Fn(TransferProgress),
    ) -> Result<Imported> {
        let ids = lock(&import.archive).page_ids.clone();
        let notify =
            lock(&import.archive).manifest.account.notify.as_deref().map(NotifyMode::read).transpose()?;
        let total = ids.len() as u64;
        let mut imported_ids = HashMap::with_capacity(ids.len());
        for (done, id) in (0..).zip(ids) {
            progress(TransferProgress { done, total });
            let here = self.import_page(import, &id).await.map_err(|error| about_page(error, &id))?;
            imported_ids.insert(id, here);
        }
        progress(TransferProgress { done: total, total });
        let account = import.target.clone().unwrap_or_else(|| new_account.clone());
        let domains = self.imported_domains(import, &account, &imported_ids).await?;
        let mut stmts = vec![import.renew_lease(self.now())];
        if let Some(target) = &import.target {
            stmts.push(accounts::require_active(&target.id));
        } else {
            stmts.push(accounts::insert(&new_account));
            stmts.extend(notify.into_iter().flat_map(|mode| set_notify_mode(&new_account.id, mode)));
        }
        stmts.extend(account_transfer::adopt_pages(&import.staging_id, &account.id));
        let most = self.settings.domains_per_account;
        stmts.push(counters::lock_account(&account.id, self.now()));
        stmts.extend(domains.iter().flat_map(|domain| custom_domains::insert(domain, most)));
        let reason = format!("{total} pages");
        stmts.push(self.audit_stmt(actor, AuditAction::ImportAccount, &account.id, Some(reason)));
        stmts.push(leases::release(IMPORT_LEASE, &import.staging_id));
        let all = vec![ALL_CHANGED.to_owned()];
        let changing = self.caches.pages.changing(&all);
        let outcome = self.store.commit_changed(stmts, all.clone()).await;
        changing.done();
        match outcome {
            Err(DbError::Guard(accounts::EMAIL_TAKEN)) => {
                return Err(Error::new(
                    Code::Conflict,
                    "An account with this email address was created meanwhile.",
                ));
            }
            outcome => outcome.map_err(import_error)?,
        }
        self.evict_credentials(&account.id);
        Self::log_operation(actor, AuditAction::ImportAccount, &account.id);
        Ok(Imported {
            account: self.get_account(&account.id).await?,
            pages: total,
            versions: import.versions,
            feedback: import.feedback,
            domains: domains.len() as u64,
            warnings: std::mem::take(&mut import.warnings),
        })
    }

    /// The domains of the export, unverified: the records in the DNS still point to the old server.
    async fn imported_domains(
        &self,
        import: &mut RunningImport,
        account: &Account,
        pages: &HashMap<String, String>,
    ) -> Result<Vec<CustomDomain>> {
        let existing = self.store.list_domains(&account.id).await?;
        let mut known: Vec<String> = existing.iter().map(|it| it.hostname.as_str().to_owned()).collect();
        let most = usize::try_from(self.settings.domains_per_account).unwrap_or(usize::MAX);
        let records = std::mem::take(&mut lock(&import.archive).manifest.domains);
        let mut domains = Vec::new();
        for record in records {
            let hostname = Hostname::parse(&record.hostname, &self.hosts)?;
            let page = pages.get(&record.page);
            let page = page.ok_or_else(|| Error::field("domains", "must name pages of the export"))?;
            let name = hostname.as_str().to_owned();
            if known.contains(&name) {
                import.warn(page, &format!("the account has the domain {name} already"));
            } else if known.len() >= most {
                import.warn(page, &format!("the domain {name} was left out: the account has {most} domains"));
            } else {
                import.warn(page, &format!("the domain {name} has to be verified again"));
                domains.push(CustomDomain::new(hostname, &account.id, page, record.primary, self.now()));
                known.push(name);
            }
        }
        Ok(domains)
    }

    /// Undoes an import that was killed. Called before an import and by the sweep.
    pub(crate) async fn undo_interrupted_import(&self) -> Result<()> {
        match self.store.find_interrupted_import(self.now()).await? {
            Some(staging_id) => self.undo_import(&staging_id).await,
            None => Ok(()),
        }
    }

    async fn undo_import(&self, staging_id: &str) -> Result<()> {
        if let Some(staging) = self.store.find_account(staging_id).await?
            && staging.email.is_none()
            && staging.suspended.is_some()
        {
            self.erase_everything(&staging, None).await?;
        }
        self.store.commit(vec![leases::release(IMPORT_LEASE, staging_id)]).await?;
        Ok(())
    }
}

fn lock(archive: &Mutex<ExportArchive>) -> std::sync::MutexGuard<'_, ExportArchive> {
    archive.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Names the page that an error is about.
fn about_page(mut error: Error, id: &str) -> Error {
    error.detail = format!("{id}: {}", error.detail);
    error
}

/// Another import holds the lease, or this one has lost it.
pub(super) fn superseded() -> Error {
    let detail = "Another import is in progress on this server, or this one was paused for too long. Wait for the other one, \
                  then try again.";
    Error::new(Code::Conflict, detail)
}
