//! Accounts: the operator of the first start, accounts made by hand, and what an account sees of itself.

use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::plan::Plan;
use dropleaf_core::{Code, Error, Result, email};
use dropleaf_store::{DbError, accounts};

/// What `GET /me` tells. Decisions §3.5.
#[derive(Debug, Clone)]
pub struct Me {
    pub account: Account,
    pub plan: Plan,
    pub publishes_today: i64,
}

impl App {
    /// Makes the operator's account if there is no operator yet; its key is shown once.
    pub async fn ensure_operator(&self, address: &str) -> Result<Option<(Account, String)>> {
        if self.store.find_operator().await?.is_some() {
            return Ok(None);
        }
        let account = self.create_account(address, Some("pro"), true).await?;
        let key = self.create_key(&account, Some("operator"), None, |_| Vec::new()).await?;
        match key {
            crate::Done::Fresh(new) => Ok(Some((account, new.secret))),
            crate::Done::Again { .. } => Ok(None),
        }
    }

    pub async fn create_account(
        &self,
        address: &str,
        plan: Option<&str>,
        is_operator: bool,
    ) -> Result<Account> {
        let plan = plan.unwrap_or(&self.settings.default_plan);
        self.check_plan(plan)?;
        let account = Account {
            id: self.minter.id("acct"),
            email: Some(email::address(address)?),
            plan: plan.to_owned(),
            is_operator,
            balance_minor: 0,
            active_pages: 0,
            created_at: self.now(),
        };
        match self.store.commit(vec![accounts::insert(&account)]).await {
            Ok(_) => Ok(account),
            Err(DbError::Guard(accounts::EMAIL_TAKEN)) => {
                Err(Error::new(Code::Conflict, "An account with this e-mail address exists already."))
            }
            Err(error) => Err(error.into()),
        }
    }

    pub async fn get_account_by_email(&self, address: &str) -> Result<Account> {
        let address = email::address(address)?;
        self.store.find_account_by_email(&address).await?.ok_or_else(|| Error::not_found("account"))
    }

    pub async fn list_accounts(&self) -> Result<Vec<Account>> {
        Ok(self.store.list_accounts().await?)
    }

    pub async fn set_plan(&self, account: &Account, plan: &str) -> Result<()> {
        self.check_plan(plan)?;
        self.commit_keys(vec![accounts::set_plan(&account.id, plan)]).await?;
        Ok(())
    }

    fn check_plan(&self, plan: &str) -> Result<()> {
        if self.settings.plans.knows(plan) {
            return Ok(());
        }
        let known = self.settings.plans.names().collect::<Vec<_>>().join(", ");
        Err(Error::field("plan", format!("must be one of {known}")))
    }

    pub async fn me(&self, account: &Account) -> Result<Me> {
        let expired = self.store.list_expired_of(&account.id, self.now(), 1000).await?;
        self.expire(expired).await?;
        let account =
            self.store.find_account(&account.id).await?.ok_or_else(|| Error::not_found("account"))?;
        let plan = self.settings.plans.find(&account.plan);
        let day = crate::sites::daily_rate(&plan);
        let key = crate::sites::daily_key(&account.id);
        let publishes_today = self.store.count_used(&key, &day, self.now()).await?;
        Ok(Me { account, plan, publishes_today })
    }
}
