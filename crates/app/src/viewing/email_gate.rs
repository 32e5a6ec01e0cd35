//! The email gate: sends a code to an address and verifies it. Admitted and other addresses take the same path (same
//! statements, counters and replies), so that a caller cannot tell them apart.

use crate::accounts::email_codes::{self as codes, CODE_ATTEMPTS, CODE_SECONDS};
use crate::app::App;
use crate::infra::throttle::rate_limited;
use crate::notify::mail::Email;
use dropleaf_core::rate::Rate;
use dropleaf_core::site::Site;
use dropleaf_core::{Code, Error, Result, email};
use dropleaf_store::{DbError, Stmt, counters, email_codes};
use std::net::IpAddr;

impl App {
    /// Fails if no email can be sent: a gate that cannot send codes stays closed.
    pub fn require_mail(&self) -> Result<()> {
        let ready = self.notify.mailer.as_ref().is_some_and(|mailer| mailer.is_ready());
        if ready { Ok(()) } else { Err(Error::plain(Code::MailNotConfigured)) }
    }

    /// Creates a code for this address. An email is returned only if the address may pass. The caller sends it in a
    /// background task, so that the response time does not depend on it.
    pub async fn request_gate_code(
        &self,
        site: &Site,
        address: &str,
        ip: Option<IpAddr>,
    ) -> Result<Option<Email>> {
        self.require_mail()?;
        let Some(domain) = &site.email_gate_domain else { return Ok(None) };
        let address = email::address(address)?;
        let now = self.now();
        let code = self.new_email_code();
        let may_pass = email::is_of_domain(&address, domain);
        // For an address that may not pass, the row holds a MAC that no code matches.
        let proofs = [self.minter.bytes::<32>(), self.code_mac(site, &address, &code)];
        let mut stmts = self.count_code(site, &address, ip, now);
        let hash = self.address_hash(site, &address);
        stmts.push(email_codes::put(
            &site.id,
            &hash,
            &proofs[usize::from(may_pass)],
            CODE_ATTEMPTS,
            now + CODE_SECONDS,
        ));
        self.store.commit(stmts).await.map_err(|error| self.gate_code_error(error, now))?;
        let email = self.gate_code_email(address, &code, now);
        Ok(may_pass.then_some(email))
    }

    /// Whether this is the open code of this address. It works once; a wrong code uses up an attempt.
    pub async fn verify_gate_code(
        &self,
        site: &Site,
        address: &str,
        code: &str,
        ip: Option<IpAddr>,
    ) -> Result<bool> {
        let address = email::address(address)?;
        let guess = self.take_guess("code", site, ip).await?;
        let Some(code) = codes::parse_code(code) else { return Ok(false) };
        let (hash, mac) = (self.address_hash(site, &address), self.code_mac(site, &address, &code));
        let is_correct = self.store.take_code(&site.id, &hash, &mac, self.now()).await?;
        if is_correct {
            self.refund_guess(&guess).await;
        }
        Ok(is_correct)
    }

    /// The same address hashes differently for each site, so the table does not reveal who reads what.
    fn address_hash(&self, site: &Site, address: &str) -> [u8; 32] {
        self.keys.mac("email_address", format!("{}\0{address}", site.id).as_bytes())
    }

    /// Bound to the version of the site's gates, so that a code requested before a change is invalid after it.
    fn code_mac(&self, site: &Site, address: &str, code: &str) -> [u8; 32] {
        let message = format!("{}\0{}\0{address}\0{code}", site.id, site.gate_version);
        self.keys.mac("email_code", message.as_bytes())
    }

    /// The counters of one code. An address counts across all sites, so that a mailbox cannot be flooded.
    fn count_code(&self, site: &Site, address: &str, ip: Option<IpAddr>, now: i64) -> Vec<Stmt> {
        if self.is_exempt(ip) {
            return Vec::new();
        }
        let rates = &self.settings.rates;
        let take = |rate: &Rate, key: &str| counters::take(key, rate, now);
        vec![
            take(&rates.code_client_hour, &self.client_key(&rates.code_client_hour, ip)),
            self.count_email_to(&rates.code_address_hour, address, now),
            take(&rates.code_site_hour, &format!("{}:{}", rates.code_site_hour.name, site.id)),
        ]
    }

    fn gate_code_error(&self, error: DbError, now: i64) -> Error {
        let DbError::Guard(label) = error else { return error.into() };
        let rates = &self.settings.rates;
        [rates.code_client_hour, rates.code_address_hour, rates.code_site_hour]
            .into_iter()
            .find(|rate| rate.name == label)
            .map_or_else(
                || Error::internal(format!("guard {label} failed")),
                |rate| rate_limited(&rate.status(rate.limit, now)),
            )
    }

    /// A fixed text: it contains no input from the page's publisher or from the requester of the code.
    fn gate_code_email(&self, to: String, code: &str, now: i64) -> Email {
        let (shown, minutes) = (codes::format_code(code), CODE_SECONDS / 60);
        let text = format!(
            "Your code is {shown}\n\n\
             Enter it on the page that asked for your email address. It works once and expires in {minutes} minutes.\n\n\
             If you did not request this code, you can ignore this email. Do not share the code with anyone.\n\n\
             -- \nSent by dropleaf at {}\n",
            self.hosts.base.host
        );
        let subject = format!("{shown} is your code");
        Email { id: self.minter.nonce(), written_at: now, to, subject, text, unsubscribe: None }
    }
}
