//! The ledger: posts income and credits in the transactions of the operations, and audits that it balances. ADR 14.

use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::audit::AuditAction;
use dropleaf_core::ledger::{Posting, reason as parse_reason};
use dropleaf_core::payment::Payment;
use dropleaf_core::{Code, Error, Result};
use dropleaf_store::ledger_audit::LedgerFault;
use dropleaf_store::{DbError, Stmt, ledger};
use std::time::Duration;

/// Limit of the operator's name for a credit; a credit with a name is applied only once.
const NAME_CHARACTERS: usize = 100;
/// Faults written to the log; `dropleaf ledger audit` lists all.
const LOGGED: usize = 5;

/// The result of a credit by an operator.
#[derive(Debug)]
pub struct CreditResult {
    pub account: Account,
    /// A credit with this name was applied before; nothing changed now.
    pub already_applied: bool,
}

/// The result of a ledger audit.
#[derive(Debug)]
pub struct LedgerAudit {
    /// Transactions in the ledger.
    pub booked: i64,
    /// At most 100 of each kind; empty if the ledger balances.
    pub faults: Vec<LedgerFault>,
    pub took: Duration,
}

impl App {
    /// The statements that post a settled payment as income, for the transaction that fulfils it. The batch fails if it
    /// was posted already ([`ledger::POSTED`]).
    pub(crate) fn income_stmts(&self, payment: &Payment) -> Vec<Stmt> {
        self.posting_stmts(Posting::income(payment))
    }

    /// The statements of a posting. Without one the batch fails, so that nothing happens that cannot be posted.
    pub(crate) fn posting_stmts(&self, posting: Option<Posting>) -> Vec<Stmt> {
        self.posting_stmts_as(&self.minter.ordered_id("txn", self.now()), posting)
    }

    /// The same, as a ledger transaction with this ID.
    pub(crate) fn posting_stmts_as(&self, id: &str, posting: Option<Posting>) -> Vec<Stmt> {
        posting.map_or_else(|| vec![ledger::refuse()], |posting| ledger::post(id, &posting, self.now()))
    }

    /// Credits an account's balance, or takes some of it back if `cents` is negative. With a name it is idempotent. In sandbox
    /// mode the credit is sandbox money, like everything that is spent there.
    pub async fn credit_account(
        &self,
        actor: &str,
        account_id: &str,
        cents: i64,
        reason: &str,
        name: Option<&str>,
    ) -> Result<CreditResult> {
        let reason = parse_reason(reason)?;
        let name = match name {
            Some(name) if name.is_empty() || name.chars().count() > NAME_CHARACTERS => {
                return Err(Error::field("once", format!("must be 1 to {NAME_CHARACTERS} characters")));
            }
            Some(name) => format!("named:{name}"),
            None => self.minter.nonce(),
        };
        let account = self.get_account(account_id).await?;
        let posting = Posting::grant(&name, &account.id, cents, self.is_sandbox(), reason.clone())
            .ok_or_else(|| Error::field("amount", "must not be zero"))?;
        let unit = self.balance_unit();
        let note = format!("{}: {reason}", unit.written(cents));
        let mut stmts = self.posting_stmts(Some(posting.clone()));
        stmts.push(self.audit_stmt(actor, AuditAction::CreditAccount, &account.id, Some(note)));
        let already_applied = match self.commit_credential_change(&account.id, stmts).await {
            Ok(()) => {
                Self::log_operation(actor, AuditAction::CreditAccount, &account.id);
                false
            }
            Err(DbError::Guard(ledger::POSTED)) if self.is_posted(&posting).await? => true,
            Err(DbError::Guard(ledger::POSTED)) => {
                return Err(Error::new(
                    Code::Conflict,
                    "A different entry was already recorded under this name.",
                ));
            }
            Err(DbError::Guard(ledger::OVERDRAWN)) => {
                let has = unit.written(self.spendable_balance(&account));
                return Err(Error::field("amount", format!("is more than the balance, which is {has}")));
            }
            Err(error) => return Err(error.into()),
        };
        Ok(CreditResult { account: self.get_account(account_id).await?, already_applied })
    }

    /// Whether exactly this posting is in the ledger.
    async fn is_posted(&self, posting: &Posting) -> Result<bool> {
        Ok(self.store.find_posted(posting.key()).await? == Some(posting.fingerprint()))
    }

    /// Audits the whole ledger.
    pub async fn audit_ledger(&self) -> Result<LedgerAudit> {
        let start = self.clock.monotonic();
        let faults = self.store.audit_ledger().await?;
        let booked = self.store.count_ledger_transactions().await?;
        Ok(LedgerAudit { booked, faults, took: self.clock.monotonic().saturating_sub(start) })
    }

    /// Audits the ledger for the log. Faults do not stop the service: pages are still served, and the operator has to
    /// investigate. Returns the number of faults, or None if the audit could not run.
    pub async fn log_ledger_audit(&self) -> Option<usize> {
        match self.audit_ledger().await {
            Ok(audit) if audit.faults.is_empty() => {
                let millis = u64::try_from(audit.took.as_millis()).unwrap_or(u64::MAX);
                tracing::info!(booked = audit.booked, millis, "ledger audit passed");
                Some(0)
            }
            Ok(audit) => {
                for fault in audit.faults.iter().take(LOGGED) {
                    let LedgerFault { what, subject, found, right } = fault;
                    tracing::error!(subject, found, right, "ledger audit found a fault: {what}");
                }
                tracing::error!(
                    faults = audit.faults.len(),
                    "ledger audit failed; `dropleaf ledger audit` lists all faults"
                );
                Some(audit.faults.len())
            }
            Err(error) => {
                tracing::error!(%error, "ledger audit could not run");
                None
            }
        }
    }
}
