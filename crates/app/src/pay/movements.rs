//! Lists the movements of an account's prepaid balance.

use super::settings::PaymentSettings;
use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::{Error, Result};
use dropleaf_store::ledger::Movement;

const DEFAULT_LIMIT: i64 = 50;
const MAX_LIMIT: i64 = 200;

/// Which movements to list: those older than the cursor (time and ID of the last one shown), newest first.
#[derive(Debug, Clone)]
pub struct MovementQuery {
    pub limit: i64,
    pub before: Option<i64>,
    pub before_id: Option<String>,
}

impl Default for MovementQuery {
    fn default() -> Self {
        Self { limit: DEFAULT_LIMIT, before: None, before_id: None }
    }
}

#[derive(Debug)]
pub struct MovementList {
    pub movements: Vec<Movement>,
    pub has_more: bool,
    /// What the account can spend now, in cents.
    pub balance_minor: i64,
}

impl App {
    /// The movements of an account's balance. Those of sandbox money only in sandbox mode, where it can be spent.
    pub async fn list_movements(&self, account: &Account, query: MovementQuery) -> Result<MovementList> {
        let MovementQuery { limit, before, before_id } = query;
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(Error::field("limit", format!("must be 1 to {MAX_LIMIT}")));
        }
        if before.is_none() && before_id.is_some() {
            return Err(Error::field("before_id", "must be sent together with before"));
        }
        let before = before.map(|at| (at, before_id.unwrap_or_default()));
        let sandbox = self.settings.payments.as_ref().is_some_and(PaymentSettings::is_sandbox);
        let mut movements = self.store.list_movements(&account.id, sandbox, before, limit + 1).await?;
        let most = usize::try_from(limit).map_err(Error::internal)?;
        let has_more = movements.len() > most;
        movements.truncate(most);
        let balance_minor = self.spendable_balance(&self.get_account(&account.id).await?);
        Ok(MovementList { movements, has_more, balance_minor })
    }
}
