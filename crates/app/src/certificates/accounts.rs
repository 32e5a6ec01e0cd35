//! The account at a certificate authority: its credentials, encrypted in the database and shared by all nodes.

use crate::app::App;
use crate::infra::sealing;
use dropleaf_core::Result;
use dropleaf_store::acme_accounts;

impl App {
    /// The credentials for this authority, as stored by [`App::save_acme_account`]. None if they were encrypted with another
    /// secret, such as before the database was restored elsewhere: then another account is created.
    pub async fn find_acme_account(&self, directory_url: &str) -> Result<Option<Vec<u8>>> {
        let Some(sealed) = self.store.find_acme_account(directory_url).await? else { return Ok(None) };
        match sealing::open(self.acme_account_key(directory_url), directory_url.as_bytes(), &sealed) {
            Ok(opened) => Ok(Some(opened.into())),
            Err(error) => {
                tracing::warn!(%error, directory_url, "account at certificate authority not readable");
                Ok(None)
            }
        }
    }

    pub async fn save_acme_account(&self, directory_url: &str, credentials: &[u8]) -> Result<()> {
        let key = self.acme_account_key(directory_url);
        let sealed = sealing::seal(&self.minter, key, directory_url.as_bytes(), credentials)?;
        self.store.commit(vec![acme_accounts::put(directory_url, sealed, self.now())]).await?;
        Ok(())
    }

    /// Forgets an account that the authority no longer knows.
    pub async fn delete_acme_account(&self, directory_url: &str) -> Result<()> {
        self.store.commit(vec![acme_accounts::delete(directory_url)]).await?;
        Ok(())
    }

    fn acme_account_key(&self, directory_url: &str) -> [u8; 32] {
        self.keys.mac("acme-account", directory_url.as_bytes())
    }
}
