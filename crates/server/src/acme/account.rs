//! The account at the certificate authority: created once, then loaded from the database by every node.

use super::Acme;
use anyhow::{Context, Result};
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
        let StoredAccount { credentials, email } =
            serde_json::from_slice(&stored).context("the stored account is damaged")?;
        // The credentials are consumed; they are needed again if the address changes.
        let copy = serde_json::to_value(&credentials)?;
        let account = builder.from_credentials(credentials).await.map_err(described)?;
        if email != self.settings.email {
            let contact = contacts(self.settings.email.as_deref());
            let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
            account.update_contacts(&contact).await.map_err(described)?;
            self.save_account(serde_json::from_value(copy)?).await?;
        }
        Ok(account)
    }

    async fn create_account(&self, builder: instant_acme::AccountBuilder) -> Result<Account> {
        let contact = contacts(self.settings.email.as_deref());
        let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
        let new =
            NewAccount { contact: &contact, terms_of_service_agreed: true, only_return_existing: false };
        let created = builder.create(&new, self.settings.directory_url.clone(), None).await;
        let (account, credentials) = created.map_err(described)?;
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

fn described(error: Error) -> anyhow::Error {
    anyhow::anyhow!(super::failure::describe(&error))
}
