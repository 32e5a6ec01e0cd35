//! The account at the certificate authority: created once, then loaded from the database by every node.

use super::Acme;
use super::failure::{describe, is_problem};
use anyhow::Result;
use instant_acme::{Account, AccountCredentials, Error, NewAccount};
use serde::{Deserialize, Serialize};

/// What is stored, encrypted.
#[derive(Serialize, Deserialize)]
struct StoredAccount {
    credentials: AccountCredentials,
    /// The address that the authority knows.
    email: Option<String>,
}

impl Acme {
    /// The account, created if there is none. One request if it exists.
    pub(super) async fn account(&self) -> Result<Account> {
        let builder = Account::builder_with_http(Box::new(self.authority.clone()));
        let Some(stored) = self.app.find_acme_account(&self.settings.directory_url).await? else {
            return self.create_account(builder).await;
        };
        let StoredAccount { credentials, email } = match serde_json::from_slice(&stored) {
            Ok(stored) => stored,
            Err(error) => {
                tracing::warn!(%error, "stored account at certificate authority is damaged, creating another");
                return self.create_account(builder).await;
            }
        };
        // The credentials are consumed; they are needed again if the address changes.
        let copy = serde_json::to_value(&credentials)?;
        let account = builder.from_credentials(credentials).await.map_err(|error| described(&error))?;
        if email == self.settings.email {
            return Ok(account);
        }
        let contact = contacts(self.settings.email.as_deref());
        let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
        match account.update_contacts(&contact).await {
            Ok(()) => self.save_account(serde_json::from_value(copy)?).await?,
            Err(error) if is_lost(&error) => {
                tracing::warn!(
                    error = describe(&error),
                    "account at certificate authority is lost, creating another"
                );
                let builder = Account::builder_with_http(Box::new(self.authority.clone()));
                return self.create_account(builder).await;
            }
            // Tried again with the next orders, which need the account but not the address.
            Err(error) => {
                tracing::warn!(
                    error = describe(&error),
                    "email address at certificate authority not changed"
                );
            }
        }
        Ok(account)
    }

    async fn create_account(&self, builder: instant_acme::AccountBuilder) -> Result<Account> {
        let contact = contacts(self.settings.email.as_deref());
        let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
        let new =
            NewAccount { contact: &contact, terms_of_service_agreed: true, only_return_existing: false };
        let created = builder.create(&new, self.settings.directory_url.clone(), None).await;
        let (account, credentials) = created.map_err(|error| described(&error))?;
        self.save_account(credentials).await?;
        tracing::info!(authority = self.settings.directory_url, "account created at certificate authority");
        Ok(account)
    }

    async fn save_account(&self, credentials: AccountCredentials) -> Result<()> {
        let stored = StoredAccount { credentials, email: self.settings.email.clone() };
        let stored = serde_json::to_vec(&stored)?;
        Ok(self.app.save_acme_account(&self.settings.directory_url, &stored).await?)
    }
}

fn contacts(email: Option<&str>) -> Vec<String> {
    email.map(|address| format!("mailto:{address}")).into_iter().collect()
}

/// Whether the authority does not know the account, or does not accept it any more.
fn is_lost(error: &Error) -> bool {
    is_problem(error, "accountDoesNotExist") || is_problem(error, "unauthorized")
}

fn described(error: &Error) -> anyhow::Error {
    anyhow::anyhow!(describe(error))
}
