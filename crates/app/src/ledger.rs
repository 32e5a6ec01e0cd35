//! The books, as the acts write in them, and whether they balance. ADR 14.

use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::audit::Act;
use dropleaf_core::ledger::{self as books, Posting, Unit};
use dropleaf_core::payment::Payment;
use dropleaf_core::{Code, Error, Result};
use dropleaf_store::ledger_audit::Fault;
use dropleaf_store::{DbError, Stmt, ledger};
use std::time::Duration;

/// What is given under a name of the operator's is given once.
const NAME_CHARACTERS: usize = 100;
/// The first faults stand in the log; the command lists all.
const LOGGED: usize = 5;

/// An account whose balance an operator has changed.
#[derive(Debug)]
pub struct Credited {
    pub account: Account,
    /// It was done before, under the same name; nothing was changed now.
    pub again: bool,
}

/// What looking through the books has found.
#[derive(Debug)]
pub struct BooksAudit {
    /// Transactions in the books.
    pub booked: i64,
    /// At most a hundred of each kind; none when everything adds up.
    pub faults: Vec<Fault>,
    pub took: Duration,
}

impl App {
    /// The statements that book a settled payment as income, for the transaction that fulfils it. They fail as a whole
    /// when it is booked already ([`ledger::POSTED`]).
    pub(crate) fn book_income(&self, payment: &Payment) -> Vec<Stmt> {
        self.booked(Posting::income(payment))
    }

    /// What could not be booked must not happen either.
    pub(crate) fn booked(&self, posting: Option<Posting>) -> Vec<Stmt> {
        let now = self.now();
        posting.map_or_else(
            || vec![ledger::refuse()],
            |posting| ledger::post(&self.minter.ordered_id("txn", now), &posting, now),
        )
    }

    /// Gives an account a balance to spend, or takes some of it back. With a name it is done once, however often it is
    /// asked for.
    pub async fn credit_account(
        &self,
        actor: &str,
        account_id: &str,
        cents: i64,
        reason: &str,
        name: Option<&str>,
    ) -> Result<Credited> {
        let reason = books::reason(reason)?;
        let name = match name {
            Some(name) if name.is_empty() || name.chars().count() > NAME_CHARACTERS => {
                return Err(Error::field("once", format!("must be 1 to {NAME_CHARACTERS} characters")));
            }
            Some(name) => format!("named:{name}"),
            None => self.minter.nonce(),
        };
        let account = self.get_account(account_id).await?;
        let posting = Posting::grant(&name, &account.id, cents, reason.clone())
            .ok_or_else(|| Error::field("amount", "must not be zero"))?;
        let said = format!("{}: {reason}", Unit::Usd2.written(cents));
        let mut stmts = self.booked(Some(posting.clone()));
        stmts.push(self.audited(actor, Act::CreditAccount, &account.id, Some(said)));
        let again = match self.commit_keys(&account.id, stmts).await {
            Ok(()) => {
                Self::log_act(actor, Act::CreditAccount, &account.id);
                false
            }
            Err(DbError::Guard(ledger::POSTED)) if self.is_booked(&posting).await? => true,
            Err(DbError::Guard(ledger::POSTED)) => {
                return Err(Error::new(
                    Code::Conflict,
                    "A different entry was already recorded under this name.",
                ));
            }
            Err(DbError::Guard(ledger::OVERDRAWN)) => {
                let has = Unit::Usd2.written(account.balance_minor);
                return Err(Error::field("amount", format!("is more than the balance, which is {has}")));
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Credited { account: self.get_account(account_id).await?, again })
    }

    /// Whether exactly this is in the books.
    async fn is_booked(&self, posting: &Posting) -> Result<bool> {
        Ok(self.store.find_posted(posting.key()).await? == Some(posting.fingerprint()))
    }

    pub async fn get_account(&self, id: &str) -> Result<Account> {
        self.store.find_account(id).await?.ok_or_else(|| Error::not_found("account"))
    }

    /// Looks through all books.
    pub async fn audit_books(&self) -> Result<BooksAudit> {
        let start = self.clock.monotonic();
        let faults = self.store.audit_books().await?;
        let booked = self.store.count_booked().await?;
        Ok(BooksAudit { booked, faults, took: self.clock.monotonic().saturating_sub(start) })
    }

    /// The same, for the log. Books that do not balance stop nobody: pages are served, and the operator has to look.
    pub async fn watch_books(&self) {
        match self.audit_books().await {
            Ok(audit) if audit.faults.is_empty() => {
                let millis = u64::try_from(audit.took.as_millis()).unwrap_or(u64::MAX);
                tracing::info!(booked = audit.booked, millis, "the books balance");
            }
            Ok(audit) => {
                for fault in audit.faults.iter().take(LOGGED) {
                    let Fault { what, subject, found, right } = fault;
                    tracing::error!(subject, found, right, "the books do not balance: {what}");
                }
                tracing::error!(
                    faults = audit.faults.len(),
                    "the books do not balance: `dropleaf ledger audit` lists all"
                );
            }
            Err(error) => tracing::error!(%error, "the books could not be looked through"),
        }
    }
}
