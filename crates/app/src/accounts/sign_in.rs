//! Sign-in by email: sends a code and a link, and starts a session for either. Addresses with an account, those that may
//! get one and those that may not take the same path (same statements, counters and replies), so that a caller cannot
//! tell them apart.

use crate::accounts::email_codes::{self as codes, CODE_ATTEMPTS, CODE_SECONDS};
use crate::accounts::sessions::NewSession;
use crate::app::App;
use crate::infra::throttle::rate_limited;
use crate::notify::mail::Email;
use dropleaf_core::account::Account;
use dropleaf_core::session::{Session, SignInMethod};
use dropleaf_core::sign_up::SignUp;
use dropleaf_core::{Code, Error, Result, email, secret};
use dropleaf_store::sign_ins::{self, NewSignIn, SignIn, SignInKey};
use dropleaf_store::{DbError, Stmt, counters, sessions};
use std::net::IpAddr;

/// Lifetime in seconds of a link created on the command line.
const COMMAND_LINE_LINK_SECONDS: i64 = 3600;

/// Where to go after a sign-in without a destination.
const HOME: &str = "/dashboard";

/// The browser that signs in.
#[derive(Debug, Clone, Default)]
pub struct Browser {
    pub ip: Option<IpAddr>,
    /// A short description of the device.
    pub device: String,
    /// The secret of its current session, which the new one replaces.
    pub old_session: Option<String>,
}

/// A completed sign-in.
#[derive(Debug)]
pub struct SignedIn {
    pub secret: String,
    /// A path on this host.
    pub return_to: String,
}

impl App {
    /// Whether anyone may create an account here.
    pub fn allows_sign_up(&self) -> bool {
        self.settings.sign_up == SignUp::Open
    }

    /// Whether emails can be sent.
    pub fn has_mail(&self) -> bool {
        self.require_mail().is_ok()
    }

    /// Opens a sign-in for this browser. An email is returned only if the address has or may have an account. The caller
    /// sends it in a background task, so that the response time does not depend on it.
    pub async fn request_sign_in(
        &self,
        visit: &str,
        address: &str,
        return_to: &str,
        ip: Option<IpAddr>,
    ) -> Result<Option<Email>> {
        self.require_mail()?;
        let address = email::address(address)?;
        let now = self.now();
        let known = self.store.find_account_by_email(&address).await?.is_some();
        let may_sign_in = self.settings.sign_up.admits(&address) || known;
        let (code, token) = (self.new_email_code(), self.minter.token());
        // If the address may not sign in, the row holds a MAC that no code matches, and its link is never sent.
        let proofs = [self.minter.bytes::<32>(), self.sign_in_mac(visit, &address, &code)];
        let mut stmts = self.count_sign_in(&address, ip, now);
        stmts.push(sign_ins::put(&NewSignIn {
            visit_hash: secret::hash(visit),
            link_hash: secret::hash(&token),
            email: &address,
            code_mac: proofs[usize::from(may_sign_in)],
            tries: CODE_ATTEMPTS,
            return_to,
            expires_at: now + CODE_SECONDS,
        }));
        self.store.commit(stmts).await.map_err(|error| self.sign_in_refusal(error, now))?;
        let email = self.sign_in_email(address, &code, &token, now);
        Ok(may_sign_in.then_some(email))
    }

    /// The open sign-in of this browser.
    pub async fn find_sign_in(&self, visit: &str) -> Result<Option<SignIn>> {
        Ok(self.store.find_sign_in(&secret::hash(visit), self.now()).await?)
    }

    /// The sign-in of a link. Read-only, because mail scanners open links too.
    pub async fn find_sign_in_by_link(&self, token: &str) -> Result<Option<SignIn>> {
        Ok(self.store.find_sign_in_by_link(&secret::hash(token), self.now()).await?)
    }

    /// Signs in with the code sent for this browser. It works once; a wrong code uses up an attempt.
    pub async fn sign_in_by_code(&self, visit: &str, typed: &str, browser: &Browser) -> Result<SignedIn> {
        let wrong = || Error::plain(Code::InvalidCode);
        let guess = self.take_guess_from("sign_in", browser.ip).await?;
        let code = codes::parse_code(typed).ok_or_else(wrong)?;
        let open = self.find_sign_in(visit).await?.ok_or_else(wrong)?;
        let hash = secret::hash(visit);
        let mac = self.sign_in_mac(visit, &open.email, &code);
        let proof = sign_ins::try_code(&hash, &mac, self.now());
        let signed_in = self
            .complete_sign_in(proof, SignInKey::Visit(&hash), &hash, SignInMethod::Code, browser)
            .await?
            .ok_or_else(wrong)?;
        self.refund_guess(&guess).await;
        Ok(signed_in)
    }

    /// Signs in with the link from the email, in any browser. It works once. The destination was chosen by the requester,
    /// and anyone can request an email, so it is followed only in the browser that requested it.
    pub async fn sign_in_by_link(
        &self,
        token: &str,
        visit: &str,
        browser: &Browser,
    ) -> Result<Option<SignedIn>> {
        let (hash, visit_hash) = (secret::hash(token), secret::hash(visit));
        let proof = sign_ins::use_link(&hash, &visit_hash, HOME, self.now());
        self.complete_sign_in(proof, SignInKey::Link(&hash), &visit_hash, SignInMethod::Link, browser).await
    }

    /// A link that signs in this account without an email, for the operator.
    pub async fn create_sign_in_link(&self, account: &Account) -> Result<String> {
        let Some(email) = &account.email else { return Err(Error::not_found("address of this account")) };
        let token = self.minter.token();
        let stmt = sign_ins::put(&NewSignIn {
            visit_hash: self.minter.bytes(),
            link_hash: secret::hash(&token),
            email,
            code_mac: self.minter.bytes(),
            tries: 0,
            return_to: HOME,
            expires_at: self.now() + COMMAND_LINE_LINK_SECONDS,
        });
        self.store.commit(vec![stmt]).await?;
        Ok(self.sign_in_url(&token))
    }

    /// One transaction: consumes the proof, creates the account if needed, starts the session, and ends an older one. The
    /// address counts as confirmed if this browser asked for the email.
    async fn complete_sign_in(
        &self,
        proof: Stmt,
        key: SignInKey<'_>,
        visit_hash: &[u8; 32],
        method: SignInMethod,
        browser: &Browser,
    ) -> Result<Option<SignedIn>> {
        let account = Account::new(self.minter.id("acct"), self.settings.default_plan.clone(), self.now());
        let NewSession { session, secret } = self.new_session(&account.id, method, &browser.device);
        let mut stmts = vec![
            proof,
            sign_ins::create_account(key, &account),
            sign_ins::create_session(key, &session, &secret::hash(&secret)),
            sign_ins::confirm_email(visit_hash, self.now()),
            sign_ins::finish(key),
        ];
        stmts.extend(end_previous_session(browser, &session));
        let outcomes = self.store.commit(stmts).await?;
        let (Some(proof), Some(begun)) = (outcomes.first(), outcomes.get(2)) else {
            return Err(Error::internal("sign-in batch returned too few outcomes"));
        };
        let Some(found) = sign_ins::proved(proof)? else { return Ok(None) };
        if begun.affected != 1 {
            return Err(Error::internal("verified sign-in started no session"));
        }
        Ok(Some(SignedIn { secret, return_to: found.return_to }))
    }

    /// Bound to the requesting browser and to the address.
    fn sign_in_mac(&self, visit: &str, address: &str, code: &str) -> [u8; 32] {
        self.keys.mac("sign_in_code", format!("{visit}\0{address}\0{code}").as_bytes())
    }

    fn sign_in_url(&self, token: &str) -> String {
        format!("{}/login/link?token={token}", self.hosts.base.url())
    }

    fn count_sign_in(&self, address: &str, ip: Option<IpAddr>, now: i64) -> Vec<Stmt> {
        if self.is_exempt(ip) {
            return Vec::new();
        }
        let rates = &self.settings.rates;
        let client = &rates.sign_in_client_hour;
        vec![
            counters::take(&self.client_key(client, ip), client, now),
            self.count_email_to(&rates.sign_in_address_hour, address, now),
        ]
    }

    fn sign_in_refusal(&self, error: DbError, now: i64) -> Error {
        let DbError::Guard(label) = error else { return error.into() };
        let rates = &self.settings.rates;
        [rates.sign_in_client_hour, rates.sign_in_address_hour]
            .into_iter()
            .find(|rate| rate.name == label)
            .map_or_else(
                || Error::internal(format!("guard {label} failed")),
                |rate| rate_limited(&rate.status(rate.limit, now)),
            )
    }

    /// A fixed text: it contains no input from the requester.
    fn sign_in_email(&self, to: String, code: &str, token: &str, now: i64) -> Email {
        let (shown, minutes) = (codes::format_code(code), CODE_SECONDS / 60);
        let (link, host) = (self.sign_in_url(token), &self.hosts.base.host);
        let text = format!(
            "Your code is {shown}\n\n\
             Enter it on the sign-in page, or open this link:\n\n{link}\n\n\
             The code and the link work once and expire in {minutes} minutes.\n\n\
             If you did not try to sign in, you can ignore this email. Do not share the code or the link with anyone: they give \
             access to your account.\n\n\
             -- \nSent by dropleaf at {host}\n"
        );
        Email {
            id: self.minter.nonce(),
            written_at: now,
            to,
            subject: format!("{shown} is your code"),
            text,
            unsubscribe: None,
        }
    }
}

/// Ends the session that the browser held before.
pub(crate) fn end_previous_session(browser: &Browser, new: &Session) -> Option<Stmt> {
    browser.old_session.as_deref().map(|old| sessions::delete_replaced(&secret::hash(old), &new.id))
}
