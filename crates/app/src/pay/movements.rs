//! Lists the movements of an account's prepaid balance.

use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::ledger::Book;
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
    /// The movements of the balance that the account can spend now: of sandbox money in sandbox mode, else of real money.
    pub async fn list_movements(&self, account: &Account, query: MovementQuery) -> Result<MovementList> {
        let MovementQuery { limit, before, before_id } = query;
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(Error::field("limit", format!("must be 1 to {MAX_LIMIT}")));
        }
        if before.is_none() && before_id.is_some() {
            return Err(Error::field("before_id", "must be sent together with before"));
        }
        let before = before.map(|at| (at, before_id.unwrap_or_default()));
        let book = Book::prepaid(&account.id, self.is_sandbox());
        let mut movements = self.store.list_movements(&book, before, limit + 1).await?;
        let most = usize::try_from(limit).map_err(Error::internal)?;
        let has_more = movements.len() > most;
        movements.truncate(most);
        let balance_minor = self.spendable_balance(&self.get_account(&account.id).await?);
        Ok(MovementList { movements, has_more, balance_minor })
    }
}
