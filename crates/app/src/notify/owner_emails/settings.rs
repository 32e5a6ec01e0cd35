//! Which emails an account gets, and the links in them by which their recipient changes it without signing in.

use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::notification::NotifyMode;
use dropleaf_core::{Error, Minter, Result, secret};
use dropleaf_store::email_settings;

/// The purpose of the key that signs the links.
const TOKEN: &str = "unsubscribe";

/// The recipient of an email who followed a link in it.
#[derive(Debug, Clone)]
pub struct Subscriber {
    pub account_id: String,
    pub mode: NotifyMode,
}

impl App {
    /// Which emails the account gets; none without an address.
    pub async fn notify_mode(&self, account: &Account) -> Result<NotifyMode> {
        if account.email.is_none() {
            return Ok(NotifyMode::Off);
        }
        Ok(self.store.find_notify_mode(&account.id).await?.unwrap_or(NotifyMode::Off))
    }

    pub async fn set_notify_mode(&self, account: &Account, mode: NotifyMode) -> Result<()> {
        if account.email.is_none() && mode != NotifyMode::Off {
            return Err(Error::field("notify", "needs an account with an email address"));
        }
        self.commit_for_account(&account.id, email_settings::set_notify_mode(&account.id, mode)).await?;
        Ok(())
    }

    /// The address at which the recipient of an email ends them.
    pub(super) fn unsubscribe_url(&self, account_id: &str, email: &str) -> String {
        let mac = self.keys.mac(TOKEN, message(account_id, email).as_bytes());
        format!("{}/unsubscribe/{account_id}.{}", self.hosts.base.url(), secret::text(&mac))
    }

    /// The recipient of the email with this token. It works for as long as the account has the address.
    pub async fn find_subscriber(&self, token: &str) -> Result<Subscriber> {
        let unknown = || Error::not_found("subscription");
        let (account_id, mac) = token.split_once('.').ok_or_else(unknown)?;
        if !Minter::is_id("acct", account_id) {
            return Err(unknown());
        }
        let account = self.store.find_account(account_id).await?.ok_or_else(unknown)?;
        let message = message(account_id, account.email.as_deref().ok_or_else(unknown)?);
        let is_ours = |mac: Vec<u8>| self.keys.verify(TOKEN, message.as_bytes(), &mac);
        if !secret::bytes(mac).is_some_and(is_ours) {
            return Err(unknown());
        }
        Ok(Subscriber { mode: self.notify_mode(&account).await?, account_id: account.id })
    }

    /// Changes which emails the recipient of one gets. Also for a suspended account.
    pub async fn change_subscription(&self, token: &str, mode: NotifyMode) -> Result<()> {
        let Subscriber { account_id, .. } = self.find_subscriber(token).await?;
        self.store.commit(email_settings::set_notify_mode(&account_id, mode)).await?;
        Ok(())
    }
}

fn message(account_id: &str, email: &str) -> String {
    format!("{account_id} {email}")
}
