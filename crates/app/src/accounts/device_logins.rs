//! Device login (RFC 8628): a program starts it, a person approves or denies it, and the program polls for the result.
//! The key or tokens are created in the transaction that completes the login, so they are issued only once.

use crate::accounts::api_keys::NewKey;
use crate::accounts::oauth::{GrantedClient, Tokens};
use crate::accounts::suspension::require_active_account;
use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::api_key::{self, ApiKey};
use dropleaf_core::device_login::{
    ACCOUNT_GUESSES, CLIENT_GUESSES, DeviceLogin, DeviceLoginKind, DeviceLoginState, EARLY_SECONDS,
    LIFE_SECONDS, STARTS, new_code, parse_user_code,
};
use dropleaf_core::rate::Rate;
use dropleaf_core::scope::Scopes;
use dropleaf_core::session::Session;
use dropleaf_core::{Code, Error, Result, secret};
use dropleaf_store::{DbError, Stmt, api_keys, counters, device_logins};
use std::net::IpAddr;

/// Attempts to draw a user code that is not in use.
const CODE_ATTEMPTS: usize = 5;

/// A program's request to start a login.
#[derive(Debug, Clone)]
pub struct DeviceRequest {
    pub client_id: String,
    pub client_name: String,
    pub kind: DeviceLoginKind,
    pub scopes: Scopes,
    pub resource: String,
}

/// A newly started login; its device code is available only here.
#[derive(Debug)]
pub struct NewDeviceLogin {
    pub device_code: String,
    pub login: DeviceLogin,
}

/// The result of a poll.
#[derive(Debug)]
pub enum DevicePollResult {
    /// No answer yet.
    Pending,
    /// No answer yet, and the program polls too often.
    SlowDown,
    Denied,
    Expired,
    /// No such login, it belongs to another program, or its result was issued already.
    Unknown,
    Key(Box<NewKey>),
    Tokens(Box<Tokens>),
}

impl App {
    pub async fn start_device_login(
        &self,
        asked: DeviceRequest,
        ip: Option<IpAddr>,
    ) -> Result<NewDeviceLogin> {
        let now = self.now();
        let device_code = self.minter.token();
        let DeviceRequest { client_id, client_name, kind, scopes, resource } = asked;
        let mut login = DeviceLogin {
            user_code: String::new(),
            client_id,
            client_name,
            kind,
            scopes,
            resource,
            state: DeviceLoginState::Pending,
            account_id: None,
            created_at: now,
            expires_at: now + LIFE_SECONDS,
        };
        for _ in 0..CODE_ATTEMPTS {
            login.user_code = new_code(&self.minter);
            let mut stmts = Vec::new();
            if !self.is_exempt(ip) {
                stmts.push(counters::take(&self.client_key(&STARTS, ip), &STARTS, now));
            }
            stmts.push(device_logins::insert(&login, &secret::hash(&device_code)));
            match self.store.commit(stmts).await {
                Ok(_) => return Ok(NewDeviceLogin { device_code, login }),
                Err(DbError::Guard(device_logins::CODE_TAKEN)) => {}
                Err(error) => return Err(self.guard_error(error, None)),
            }
        }
        Err(Error::plain(Code::Overloaded).retry_after(1))
    }

    /// The pending login for the code a person typed. Codes that match nothing are guesses; they are counted before the
    /// lookup.
    pub async fn find_device_login(
        &self,
        account: &Account,
        code: &str,
        ip: Option<IpAddr>,
    ) -> Result<Option<DeviceLogin>> {
        let Some(code) = parse_user_code(code) else { return Ok(None) };
        let now = self.now();
        let counted = if self.is_exempt(ip) { Vec::new() } else { self.guess_counters(account, ip) };
        let take = |(key, rate): &(String, Rate)| counters::take(key, rate, now);
        if !counted.is_empty() {
            let stmts: Vec<Stmt> = counted.iter().map(take).collect();
            self.store.commit(stmts).await.map_err(|error| self.guard_error(error, None))?;
        }
        let found = self.store.find_device_by_code(&code, now).await?;
        if found.is_some() && !counted.is_empty() {
            let back = counted.iter().map(|(key, rate)| counters::give_back(key, rate, now));
            self.store.commit(back.collect()).await?;
        }
        Ok(found)
    }

    fn guess_counters(&self, account: &Account, ip: Option<IpAddr>) -> Vec<(String, Rate)> {
        let by_account = format!("{}:{}", ACCOUNT_GUESSES.name, account.id);
        let by_client = self.client_key(&CLIENT_GUESSES, ip);
        vec![(by_account, ACCOUNT_GUESSES), (by_client, CLIENT_GUESSES)]
    }

    /// Records a person's answer. None if there is nothing to answer any more: it was answered concurrently or has
    /// expired. An API key is lasting access, so approving one requires a session with recent authentication.
    pub async fn answer_device_login(
        &self,
        account: &Account,
        session: &Session,
        code: &str,
        allow: bool,
        ip: Option<IpAddr>,
    ) -> Result<Option<DeviceLogin>> {
        let Some(login) = self.find_device_login(account, code, ip).await? else { return Ok(None) };
        if allow && !self.may_approve_device(session, &login) {
            return Err(Error::plain(Code::ProofNeeded));
        }
        let state = if allow { DeviceLoginState::Allowed } else { DeviceLoginState::Denied };
        let stmt = device_logins::answer(&login.user_code, &account.id, state, self.now());
        match self.commit_for_account(&account.id, vec![stmt]).await {
            Ok(_) => {
                tracing::info!(
                    account = account.id,
                    client = login.client_id,
                    answer = state.as_str(),
                    "device login answered"
                );
                Ok(Some(login))
            }
            Err(DbError::Guard(device_logins::ANSWERED)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether this session may approve the login, or must authenticate again first.
    pub fn may_approve_device(&self, session: &Session, login: &DeviceLogin) -> bool {
        login.kind == DeviceLoginKind::Tokens || session.is_recent(self.now())
    }

    /// Polls the state of a login. `client_id` is checked where programs must identify themselves.
    pub async fn poll_device_login(
        &self,
        device_code: &str,
        kind: DeviceLoginKind,
        client_id: Option<&str>,
    ) -> Result<DevicePollResult> {
        let hash = secret::hash(device_code);
        let Some(login) = self.store.find_device(&hash).await? else { return Ok(DevicePollResult::Unknown) };
        if login.kind != kind || client_id.is_some_and(|id| id != login.client_id) {
            return Ok(DevicePollResult::Unknown);
        }
        let now = self.now();
        match login.state {
            DeviceLoginState::Done => Ok(DevicePollResult::Unknown),
            DeviceLoginState::Denied => Ok(DevicePollResult::Denied),
            DeviceLoginState::Pending | DeviceLoginState::Allowed if login.expires_at <= now => {
                Ok(DevicePollResult::Expired)
            }
            DeviceLoginState::Pending => {
                let in_time = self.store.poll_device(&hash, now, EARLY_SECONDS).await?;
                Ok(if in_time { DevicePollResult::Pending } else { DevicePollResult::SlowDown })
            }
            DeviceLoginState::Allowed => self.complete_device_login(&hash, login, now).await,
        }
    }

    async fn complete_device_login(
        &self,
        hash: &[u8; 32],
        login: DeviceLogin,
        now: i64,
    ) -> Result<DevicePollResult> {
        let Some(account_id) = login.account_id else {
            return Err(Error::internal("allowed device login has no account"));
        };
        let mut stmts = require_active_account(Some(&account_id), vec![device_logins::take(hash, now)]);
        let given = match login.kind {
            DeviceLoginKind::Key => {
                let secret = self.minter.api_key();
                let key = ApiKey {
                    id: self.minter.id("key"),
                    account_id,
                    name: api_key::name(Some(&login.client_name))?,
                    prefix: secret::shown_prefix(&secret).to_owned(),
                    created_at: now,
                    last_used: None,
                    grant_id: None,
                    scopes: login.scopes,
                };
                stmts.push(counters::lock_account(&key.account_id, now));
                stmts.push(api_keys::insert(&key, &secret::hash(&secret)));
                DevicePollResult::Key(Box::new(NewKey { key, secret }))
            }
            DeviceLoginKind::Tokens => {
                let client = GrantedClient { id: &login.client_id, name: &login.client_name };
                let (tokens, granted) =
                    self.grant_access_stmts(client, &account_id, login.scopes, &login.resource);
                stmts.extend(granted);
                DevicePollResult::Tokens(Box::new(tokens))
            }
        };
        match self.store.commit(stmts).await {
            Ok(_) => Ok(given),
            Err(DbError::Guard(device_logins::TAKEN)) => Ok(DevicePollResult::Unknown),
            Err(DbError::Guard(api_keys::FULL)) => Err(api_key::too_many()),
            Err(error) => Err(error.into()),
        }
    }
}
