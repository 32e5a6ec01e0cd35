//! The wallet credential: the payer of a page replaces its content with a signature of the wallet, without a key or an
//! account. A challenge is valid for one replacement and nothing else. Spec §5 rule 3.

use crate::app::App;
use dropleaf_core::{Code, Error, Result, secret};
use dropleaf_pay::{Address, EvmAddress, wallet};
use dropleaf_store::Stmt;
use dropleaf_store::wallet_challenges::{self, WalletChallenge};
use std::net::IpAddr;

/// Lifetime of a challenge in seconds. Spec §8.
pub const CHALLENGE_SECONDS: i64 = 300;
/// How much longer it is kept, so that a late client is told that it expired.
pub(crate) const EXPIRED_KEPT_SECONDS: i64 = 86_400;

/// A challenge as sent to its wallet.
#[derive(Debug)]
pub struct NewChallenge {
    pub challenge: String,
    /// The exact text to sign.
    pub message: String,
    pub expires_at: i64,
}

impl App {
    /// Issues a challenge for a wallet that has paid for a page that still exists; also where nothing is sold any more.
    pub async fn issue_challenge(&self, wallet: &str, ip: Option<IpAddr>) -> Result<NewChallenge> {
        self.take_paid_attempt(ip).await?;
        let wallet = match Address::parse(wallet.trim()) {
            Some(Address::Evm(address)) => address.to_lower(),
            // Solana wallets can pay, but their signatures are not supported here. Spec §5 rule 4.
            Some(Address::Solana(_)) => return Err(Error::plain(Code::UnknownWallet)),
            None => return Err(Error::field("wallet", "must be an address: 0x and 40 hexadecimal digits")),
        };
        let now = self.now();
        if !self.store.has_pages_of_wallet(&wallet, now).await? {
            return Err(Error::plain(Code::UnknownWallet));
        }
        let challenge = format!("{}{}", wallet::PREFIX, self.minter.token());
        let expires_at = now + CHALLENGE_SECONDS;
        let url = self.hosts.base.url();
        let host = url.split_once("://").map_or(url.as_str(), |(_, host)| host);
        let message = wallet::message(host, &challenge, expires_at);
        let row = WalletChallenge { wallet, message: message.clone(), expires_at, used_at: None };
        self.store.commit(vec![wallet_challenges::insert(&secret::hash(&challenge), &row)]).await?;
        Ok(NewChallenge { challenge, message, expires_at })
    }

    /// The wallet that signed, in lower case. Checks in order: known, unused, not expired, signature.
    pub(crate) async fn verify_wallet_signature(&self, credential: &wallet::Credential) -> Result<String> {
        let row = self.store.find_wallet_challenge(&secret::hash(&credential.challenge)).await?;
        let row = row.ok_or_else(|| {
            let why = "The challenge is unknown or expired. Request a new one at /wallet-auth/challenge.";
            Error::new(Code::InvalidCredential, why)
        })?;
        self.check_challenge_open(&row)?;
        let signer = credential.signer(&row.message).map(EvmAddress::to_lower);
        if signer.as_ref() == Ok(&row.wallet) {
            Ok(row.wallet)
        } else {
            Err(Error::plain(Code::BadSignature))
        }
    }

    fn check_challenge_open(&self, row: &WalletChallenge) -> Result<()> {
        if row.used_at.is_some() {
            return Err(Error::plain(Code::ChallengeUsed));
        }
        if row.expires_at <= self.now() {
            return Err(Error::plain(Code::ChallengeExpired));
        }
        Ok(())
    }

    /// Consumes the challenge, in the transaction of the operation it authorizes.
    pub(crate) fn take_challenge(&self, credential: &wallet::Credential) -> Stmt {
        wallet_challenges::take(&secret::hash(&credential.challenge), self.now())
    }
}
