//! The e-mail gate: a code for an address, and the address for a code. Whatever is asked, an address that may pass and
//! one that may not take the same way through here: the same statements, the same counters, the same answers.

use crate::app::App;
use crate::codes::{self, LIFE, TRIES};
use crate::limits::refused;
use crate::mailer::Letter;
use dropleaf_core::rate::Rate;
use dropleaf_core::site::Site;
use dropleaf_core::{Code, Error, Result, email};
use dropleaf_store::{DbError, Stmt, counters, email_codes};
use std::net::IpAddr;

impl App {
    /// Fails when no letter could leave: a gate that cannot ask stays shut.
    pub fn require_mail(&self) -> Result<()> {
        let ready = self.mailer.as_ref().is_some_and(|mailer| mailer.is_ready());
        if ready { Ok(()) } else { Err(Error::plain(Code::MailNotConfigured)) }
    }

    /// Makes a code for this address. The letter is there only when the address may pass, and is for a task in the
    /// background: the answer must not wait for it.
    pub async fn request_code(
        &self,
        site: &Site,
        address: &str,
        ip: Option<IpAddr>,
    ) -> Result<Option<Letter>> {
        self.require_mail()?;
        let Some(domain) = &site.email_gate_domain else { return Ok(None) };
        let address = email::address(address)?;
        let now = self.now();
        let code = self.code();
        let may_pass = email::is_of_domain(&address, domain);
        // For a stranger the row holds a proof that no code gives.
        let proofs = [self.minter.bytes::<32>(), self.code_mac(site, &address, &code)];
        let mut stmts = self.count_code(site, &address, ip, now);
        let hash = self.address_hash(site, &address);
        stmts.push(email_codes::put(&site.id, &hash, &proofs[usize::from(may_pass)], TRIES, now + LIFE));
        self.store.commit(stmts).await.map_err(|error| self.code_refusal(error, now))?;
        let letter = self.code_letter(address, &code, now);
        Ok(may_pass.then_some(letter))
    }

    /// Whether this is the open code of this address. It works once; a wrong one costs a try.
    pub async fn use_code(&self, site: &Site, address: &str, code: &str, ip: Option<IpAddr>) -> Result<bool> {
        let address = email::address(address)?;
        let guess = self.take_guess("code", site, ip)?;
        let Some(code) = codes::typed(code) else { return Ok(false) };
        let (hash, mac) = (self.address_hash(site, &address), self.code_mac(site, &address, &code));
        let right = self.store.take_code(&site.id, &hash, &mac, self.now()).await?;
        if right {
            self.give_back(&guess);
        }
        Ok(right)
    }

    /// The same address at two sites is two hashes: the table does not tell who reads what.
    fn address_hash(&self, site: &Site, address: &str) -> [u8; 32] {
        self.keys.mac("email_address", format!("{}\0{address}", site.id).as_bytes())
    }

    /// Bound to the version of the gates, so that a code asked for before a change opens nothing after it.
    fn code_mac(&self, site: &Site, address: &str, code: &str) -> [u8; 32] {
        let message = format!("{}\0{}\0{address}\0{code}", site.id, site.gate_version);
        self.keys.mac("email_code", message.as_bytes())
    }

    /// The counters one code moves. An address counts at all sites together, so that nobody's mailbox is flooded.
    fn count_code(&self, site: &Site, address: &str, ip: Option<IpAddr>, now: i64) -> Vec<Stmt> {
        if self.is_exempt(ip) {
            return Vec::new();
        }
        let rates = &self.settings.rates;
        let take = |rate: &Rate, key: &str| counters::take(key, rate, now);
        vec![
            take(&rates.code_client_hour, &self.client_key(&rates.code_client_hour, ip)),
            self.count_mailbox(&rates.code_address_hour, address, now),
            take(&rates.code_site_hour, &format!("{}:{}", rates.code_site_hour.name, site.id)),
        ]
    }

    fn code_refusal(&self, error: DbError, now: i64) -> Error {
        let DbError::Guard(label) = error else { return error.into() };
        let rates = &self.settings.rates;
        [rates.code_client_hour, rates.code_address_hour, rates.code_site_hour]
            .into_iter()
            .find(|rate| rate.name == label)
            .map_or_else(
                || Error::internal(format!("guard {label} failed")),
                |rate| refused(&rate.standing(rate.limit, now)),
            )
    }

    /// A fixed text: nothing in it comes from whoever made the page or asked for the code.
    fn code_letter(&self, to: String, code: &str, now: i64) -> Letter {
        let (shown, minutes) = (codes::shown(code), LIFE / 60);
        let text = format!(
            "Your code is {shown}\n\n\
             Enter it on the page that asked for your email address. It works once and expires in {minutes} minutes.\n\n\
             If you did not request this code, you can ignore this email. Do not share the code with anyone.\n\n\
             -- \nSent by dropleaf at {}\n",
            self.hosts.base.host
        );
        let subject = format!("{shown} is your code");
        Letter { id: self.minter.nonce(), written_at: now, to, subject, text }
    }
}
