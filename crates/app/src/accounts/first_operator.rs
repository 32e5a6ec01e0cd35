//! Creates the operator account and its API key at the first start.

use crate::accounts::account::email_taken;
use crate::accounts::api_keys::{KeyCreator, NewKey};
use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::scope::Scopes;
use dropleaf_core::{Result, api_key, email, secret};
use dropleaf_store::{DbError, accounts, api_keys, leases};

/// The plan of the account.
const PLAN: &str = "pro";
/// The lease under which it is created.
const FIRST_START: &str = "first_start";

/// An operator account that may have to be created. Kept between attempts, because one that seemed to fail may have succeeded,
/// and nothing else knows the key.
#[derive(Debug)]
pub struct NewOperator {
    pub account: Account,
    pub key: NewKey,
}

impl App {
    /// Creates the operator account and its API key, both or neither, if there is no operator yet. True if this attempt or an
    /// earlier one with the same `candidate` has created them. Of several nodes that start on an empty database, one does.
    pub async fn ensure_operator(&self, address: &str, candidate: &mut Option<NewOperator>) -> Result<bool> {
        if let Some(found) = self.store.find_operator().await? {
            return Ok(candidate.as_ref().is_some_and(|new| new.account.id == found.id));
        }
        let new = match candidate.take() {
            Some(new) => new,
            None => self.new_operator(address)?,
        };
        let NewOperator { account, key } = &*candidate.insert(new);
        let stmts = vec![
            // A row that only one node at a time can write: the others wait here and then find the operator. It has ended
            // already, so that it blocks nothing if it stays.
            leases::take(FIRST_START, &account.id, 0, self.now()),
            accounts::insert_first_operator(account),
            api_keys::insert(&key.key, &secret::hash(&key.secret)),
            leases::release(FIRST_START, &account.id),
        ];
        let Err(error) = self.store.commit(stmts).await else { return Ok(true) };
        match (self.store.find_operator().await?, error) {
            // The connection may have been lost after the commit.
            (Some(found), _) => Ok(found.id == account.id),
            (None, DbError::Guard(accounts::EMAIL_TAKEN)) => Err(email_taken()),
            (None, error) => Err(error.into()),
        }
    }

    fn new_operator(&self, address: &str) -> Result<NewOperator> {
        self.check_plan(PLAN)?;
        let email = Some(email::address(address)?);
        let new = Account::new(self.minter.id("acct"), PLAN.to_owned(), self.now());
        let account = Account { email, is_operator: true, ..new };
        let owner = KeyCreator { grant_id: None, scopes: Scopes::ALL };
        let key = self.mint_key(&account.id, owner, api_key::name(Some("operator"))?);
        Ok(NewOperator { account, key })
    }
}
