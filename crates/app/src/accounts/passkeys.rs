//! Passkeys: registered in a session with recent authentication, used to sign in instead of an emailed code. The
//! browser's responses are verified in the HTTP layer; this module stores passkeys, finds them, and starts sessions.

use crate::accounts::sign_in::{Browser, SignedIn, end_previous_session};
use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::passkey::{self, CEREMONY_SECONDS, Passkey};
use dropleaf_core::session::{Session, SignInMethod};
use dropleaf_core::{Code, Error, Result, secret};
use dropleaf_store::passkeys::{self, Ceremony};
use dropleaf_store::{DbError, counters};
use std::net::IpAddr;

/// A verified new passkey.
#[derive(Debug)]
pub struct NewPasskey {
    pub credential_id: Vec<u8>,
    pub user_handle: Vec<u8>,
    /// The public key and its counter, as serialized by the library.
    pub credential: String,
}

/// The browser that a passkey challenge is bound to. Only its response is accepted.
#[derive(Debug, Clone, Copy)]
pub enum ChallengeBinding<'a> {
    /// This session, to register a passkey.
    Session(&'a Session),
    /// A visitor who wants to sign in.
    Visit(&'a str),
}

impl ChallengeBinding<'_> {
    fn hash(self) -> [u8; 32] {
        match self {
            Self::Session(session) => secret::hash(&format!("session\0{}", session.id)),
            Self::Visit(visit) => secret::hash(&format!("visit\0{visit}")),
        }
    }
}

impl App {
    /// The user handle (W3C Web Authentication) of an account: random, and the same for all its passkeys. It is stored
    /// with them, so that they depend on nothing but the database.
    pub fn user_handle(&self, known: &[Passkey]) -> [u8; 16] {
        let kept = known.iter().find_map(|passkey| passkey.user_handle.as_slice().try_into().ok());
        kept.unwrap_or_else(|| self.minter.bytes())
    }

    /// Counts a challenge for a visitor: each is a row, and anyone may request one.
    pub async fn take_ceremony_attempt(&self, ip: Option<IpAddr>) -> Result<()> {
        self.take_attempt(ip).await
    }

    /// Stores the state of a challenge until it is answered.
    pub async fn store_ceremony(&self, asked: ChallengeBinding<'_>, state: String) -> Result<()> {
        let account_id = match asked {
            ChallengeBinding::Session(session) => Some(session.account_id.clone()),
            ChallengeBinding::Visit(_) => None,
        };
        let ceremony = Ceremony { account_id, state };
        let stmt = passkeys::put_ceremony(&asked.hash(), &ceremony, self.now() + CEREMONY_SECONDS);
        self.store.commit(vec![stmt]).await?;
        Ok(())
    }

    /// Returns the stored state and deletes it.
    pub async fn take_ceremony(&self, asked: ChallengeBinding<'_>) -> Result<String> {
        let found = self.store.take_ceremony(&asked.hash(), self.now()).await?;
        let of = match asked {
            ChallengeBinding::Session(session) => Some(session.account_id.as_str()),
            ChallengeBinding::Visit(_) => None,
        };
        match found {
            Some(ceremony) if ceremony.account_id.as_deref() == of => Ok(ceremony.state),
            _ => Err(Error::plain(Code::InvalidPasskey)),
        }
    }

    pub async fn list_passkeys(&self, account: &Account) -> Result<Vec<Passkey>> {
        Ok(self.store.list_passkeys(&account.id).await?)
    }

    /// Adds a verified passkey.
    pub async fn add_passkey(
        &self,
        account: &Account,
        NewPasskey { credential_id, user_handle, credential }: NewPasskey,
        name: String,
    ) -> Result<()> {
        let passkey = Passkey {
            id: self.minter.id("pass"),
            account_id: account.id.clone(),
            credential_id,
            user_handle,
            credential,
            name,
            created_at: self.now(),
            last_used_at: None,
        };
        let stmts = vec![counters::lock_account(&account.id, passkey.created_at), passkeys::insert(&passkey)];
        match self.commit_for_account(&account.id, stmts).await {
            Ok(_) => Ok(()),
            Err(DbError::Guard(passkeys::REFUSED)) => {
                let most = passkey::MOST;
                Err(Error::new(
                    Code::TooMany,
                    format!("An account can have at most {most} passkeys. Remove one first."),
                ))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The passkey with this credential id, of any account.
    pub async fn find_passkey(&self, credential_id: &[u8]) -> Result<Option<Passkey>> {
        Ok(self.store.find_passkey(credential_id).await?)
    }

    /// Starts a session for the account of a verified passkey. `credential` is its state after this use.
    pub async fn sign_in_by_passkey(
        &self,
        passkey: &Passkey,
        credential: &str,
        return_to: &str,
        browser: &Browser,
    ) -> Result<SignedIn> {
        let (new, begun) = self.session_stmts(&passkey.account_id, SignInMethod::Passkey, &browser.device);
        let mut stmts = vec![passkeys::note_use(passkey, credential, self.now()), begun];
        stmts.extend(end_previous_session(browser, &new.session));
        match self.store.commit(stmts).await {
            Ok(_) => Ok(SignedIn { secret: new.secret, return_to: return_to.to_owned() }),
            Err(DbError::Guard(passkeys::UNKNOWN)) => Err(Error::plain(Code::InvalidPasskey)),
            Err(error) => Err(error.into()),
        }
    }

    pub async fn remove_passkey(&self, account: &Account, id: &str) -> Result<()> {
        match self.commit_for_account(&account.id, vec![passkeys::delete(&account.id, id)]).await {
            Ok(_) => Ok(()),
            Err(DbError::Guard(passkeys::UNKNOWN)) => Err(Error::not_found("passkey")),
            Err(error) => Err(error.into()),
        }
    }
}
