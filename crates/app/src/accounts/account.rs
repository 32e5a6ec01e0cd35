//! Manages accounts and plans, and builds the reply of `GET /me`.

use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::audit::AuditAction;
use dropleaf_core::plan::Plan;
use dropleaf_core::{Code, Error, Result, email};
use dropleaf_store::{DbError, accounts, custom_domains};

/// The reply of `GET /me`.
#[derive(Debug, Clone)]
pub struct Me {
    pub account: Account,
    pub plan: Plan,
    pub publishes_today: i64,
}

/// A page of the operator's list of accounts.
#[derive(Debug, Clone)]
pub struct AccountList {
    pub accounts: Vec<Account>,
    pub has_more: bool,
}

/// Accounts per page of that list.
const ACCOUNTS_PER_PAGE: i64 = 50;

impl App {
    pub async fn create_account(
        &self,
        address: &str,
        plan: Option<&str>,
        is_operator: bool,
    ) -> Result<Account> {
        let plan = plan.unwrap_or(&self.settings.default_plan);
        self.check_plan(plan)?;
        let email = Some(email::address(address)?);
        let new = Account::new(self.minter.id("acct"), plan.to_owned(), self.now());
        let account = Account { email, is_operator, ..new };
        match self.store.commit(vec![accounts::insert(&account)]).await {
            Ok(_) => Ok(account),
            Err(DbError::Guard(accounts::EMAIL_TAKEN)) => Err(email_taken()),
            Err(error) => Err(error.into()),
        }
    }

    pub async fn get_account(&self, id: &str) -> Result<Account> {
        self.store.find_account(id).await?.ok_or_else(|| Error::not_found("account"))
    }

    pub async fn get_account_by_email(&self, address: &str) -> Result<Account> {
        let address = email::address(address)?;
        self.store.find_account_by_email(&address).await?.ok_or_else(|| Error::not_found("account"))
    }

    pub async fn list_accounts(&self) -> Result<Vec<Account>> {
        Ok(self.store.list_accounts().await?)
    }

    /// Accounts whose email address contains this text, newest first, older than the cursor `before` (creation time, id).
    pub async fn search_accounts(&self, text: &str, before: Option<(i64, String)>) -> Result<AccountList> {
        let text = text.trim().to_lowercase();
        let mut accounts = self.store.search_accounts(&text, before, ACCOUNTS_PER_PAGE + 1).await?;
        let has_more = i64::try_from(accounts.len()).is_ok_and(|n| n > ACCOUNTS_PER_PAGE);
        accounts.truncate(usize::try_from(ACCOUNTS_PER_PAGE).unwrap_or_default());
        Ok(AccountList { accounts, has_more })
    }

    pub async fn set_plan(&self, actor: &str, id: &str, plan: &str) -> Result<()> {
        self.check_plan(plan)?;
        let account = self.store.find_account(id).await?.ok_or_else(|| Error::not_found("account"))?;
        let change = format!("{} to {plan}", account.plan);
        let stmts = vec![
            accounts::set_plan(&account.id, plan),
            custom_domains::check_soon(&account.id, self.now()),
            self.audit_stmt(actor, AuditAction::SetPlan, &account.id, Some(change)),
        ];
        self.commit_credential_change(&account.id, stmts).await?;
        Self::log_operation(actor, AuditAction::SetPlan, &account.id);
        Ok(())
    }

    /// The limits of an account: its plan plus the unlocks it has bought.
    pub fn plan_of(&self, account: &Account) -> Plan {
        self.settings.plans.find(&account.plan).with(&account.unlocks, self.now())
    }

    pub(crate) fn check_plan(&self, plan: &str) -> Result<()> {
        if self.settings.plans.knows(plan) {
            return Ok(());
        }
        let known = self.settings.plans.names().collect::<Vec<_>>().join(", ");
        Err(Error::field("plan", format!("must be one of {known}")))
    }

    pub async fn me(&self, account: &Account) -> Result<Me> {
        let expired = self.store.list_expired_of(&account.id, self.now(), 1000).await?;
        self.expire_sites(expired).await?;
        let account =
            self.store.find_account(&account.id).await?.ok_or_else(|| Error::not_found("account"))?;
        let plan = self.plan_of(&account);
        let day = crate::publish::daily_rate(&plan);
        let key = crate::publish::daily_key(&account.id);
        let publishes_today = self.store.count_used(&key, &day, self.now()).await?;
        Ok(Me { account, plan, publishes_today })
    }
}

pub(super) fn email_taken() -> Error {
    Error::new(Code::Conflict, "An account with this email address already exists.")
}
