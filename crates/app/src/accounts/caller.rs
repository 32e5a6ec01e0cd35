//! The caller of an operation. The HTTP layer has already checked the credential.

use crate::accounts::oauth::Identity;
use dropleaf_core::account::Account;
use dropleaf_core::version_maker::{MakerKind, VersionMaker};
use dropleaf_core::{Code, Error, Result};
use dropleaf_pay::wallet::Credential;
use std::net::IpAddr;

/// A caller that may publish: an account or an anonymous client.
#[derive(Debug, Clone)]
pub struct Caller {
    pub account: Option<Account>,
    /// The grant of the OAuth client that acts for the account, if any.
    pub grant_id: Option<String>,
    /// The client's IP address, if known.
    pub ip: Option<IpAddr>,
    /// What the account published with; None counts as the dashboard.
    pub maker: Option<VersionMaker>,
}

impl Caller {
    /// A caller with a credential.
    pub fn of(known: Identity, ip: Option<IpAddr>) -> Self {
        Self { account: Some(known.account), grant_id: known.grant_id, ip, maker: Some(known.maker) }
    }

    /// Who made what this caller publishes.
    pub(crate) fn maker(&self) -> VersionMaker {
        let kind = if self.account.is_some() { MakerKind::Dashboard } else { MakerKind::Anonymous };
        self.maker.clone().unwrap_or(VersionMaker::unnamed(kind))
    }

    pub fn account(&self) -> Result<&Account> {
        self.account.as_ref().ok_or_else(|| Error::plain(Code::AuthRequired))
    }
}

/// A caller that may replace a page's content: its owner, the holder of its claim token, or the wallet that paid for it.
/// Spec §5.
#[derive(Debug, Clone)]
pub enum Writer {
    Account(Account, VersionMaker),
    Claim(String),
    Wallet(Credential),
}

impl Writer {
    /// The account whose plan limits what is written. The other writers can replace content and nothing else.
    pub(crate) const fn account(&self) -> Option<&Account> {
        match self {
            Self::Account(account, _) => Some(account),
            Self::Claim(_) | Self::Wallet(_) => None,
        }
    }

    /// Who makes the version that is written.
    pub(crate) fn maker(&self) -> VersionMaker {
        match self {
            Self::Account(_, maker) => maker.clone(),
            Self::Claim(_) => VersionMaker::unnamed(MakerKind::ClaimToken),
            Self::Wallet(_) => VersionMaker::unnamed(MakerKind::Wallet),
        }
    }
}
