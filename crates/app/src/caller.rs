//! Who asks, as far as an act needs to know it. The door has checked the credential already.

use dropleaf_core::account::Account;
use dropleaf_core::{Code, Error, Result};
use dropleaf_pay::wallet::Credential;
use std::net::IpAddr;

/// Somebody who may publish: an account, or nobody in particular.
#[derive(Debug, Clone)]
pub struct Caller {
    pub account: Option<Account>,
    /// The grant of the program that asks in the account's name, if one does.
    pub grant_id: Option<String>,
    /// The client's own address, when it is known.
    pub ip: Option<IpAddr>,
}

impl Caller {
    pub fn account(&self) -> Result<&Account> {
        self.account.as_ref().ok_or_else(|| Error::plain(Code::AuthRequired))
    }
}

/// Somebody who may replace a page's content: its owner, whoever holds its claim token, or the wallet that paid for
/// it. Spec §5.
#[derive(Debug, Clone)]
pub enum Writer {
    Account(Account),
    Claim(String),
    Wallet(Credential),
}

impl Writer {
    /// The account whose plan limits what is written; the others replace content and nothing else.
    pub(crate) const fn account(&self) -> Option<&Account> {
        match self {
            Self::Account(account) => Some(account),
            Self::Claim(_) | Self::Wallet(_) => None,
        }
    }
}
