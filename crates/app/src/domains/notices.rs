//! Emails owners whose custom domain begins to fail or stops working. Quotes nothing from DNS: others may have written it.

use crate::app::App;
use crate::notify::mail::{Email, MailError};
use dropleaf_core::Result;
use dropleaf_core::account::Account;
use dropleaf_core::custom_domain::{CustomDomain, DomainNotice, DomainProblem};
use dropleaf_core::iso;
use dropleaf_store::{DbError, custom_domains};

const BATCH: i64 = 50;

/// What became of an email.
enum Delivery {
    Sent,
    /// There is no address or no mail server, it was refused, or another node sent it.
    Dropped,
    /// The mail server could not be reached.
    Postponed,
}

impl App {
    /// Sends the emails about domains while `go_on` returns true. Returns how many were sent.
    pub async fn send_domain_notices(&self, go_on: impl Fn() -> bool) -> Result<usize> {
        let mut count = 0;
        for domain in self.store.list_domain_notices(BATCH).await? {
            if !go_on() {
                break;
            }
            match self.send_domain_notice(&domain).await? {
                Delivery::Sent => count += 1,
                Delivery::Dropped => {}
                // The others would fail too; they are sent in the next round.
                Delivery::Postponed => break,
            }
        }
        Ok(count)
    }

    async fn send_domain_notice(&self, domain: &CustomDomain) -> Result<Delivery> {
        // Taken before sending: a crash may lose an email, but none is sent twice.
        match self.store.commit(vec![custom_domains::take_notice(domain)]).await {
            Ok(_) => {}
            Err(DbError::Guard(custom_domains::CHANGED)) => return Ok(Delivery::Dropped),
            Err(error) => return Err(error.into()),
        }
        let account = self.store.find_account(&domain.account_id).await?;
        let (Some(account), Some(notice), Some(_)) = (account, domain.notice, &self.notify.mailer) else {
            return Ok(Delivery::Dropped);
        };
        let Some(to) = account.email.clone() else { return Ok(Delivery::Dropped) };
        match self.send_email(&self.domain_email(domain, notice, &account, to)).await {
            Ok(()) => Ok(Delivery::Sent),
            Err(MailError::Temporary(_)) => {
                self.store.commit(vec![custom_domains::return_notice(domain)]).await?;
                Ok(Delivery::Postponed)
            }
            Err(MailError::Permanent(_) | MailError::Ambiguous(_)) => Ok(Delivery::Dropped),
        }
    }

    fn domain_email(
        &self,
        domain: &CustomDomain,
        notice: DomainNotice,
        account: &Account,
        to: String,
    ) -> Email {
        let (base, host) = (self.hosts.base.url(), &self.hosts.base.host);
        let (hostname, name) = (&domain.hostname, domain.hostname.unicode());
        let problem = domain.problem(self.plan_of(account).custom_domains).unwrap_or(DomainProblem::Record);
        let cause = match problem {
            DomainProblem::Record => {
                format!("The daily check of the domain {name} did not find its DNS record.")
            }
            DomainProblem::Plan => {
                format!("Your plan no longer includes custom domains, which the domain {name} needs.")
            }
            DomainProblem::Lost => {
                format!("The DNS records of the domain {name} no longer point to your account.")
            }
        };
        let (subject, effect) = match notice {
            DomainNotice::Failing => {
                let end = domain.works_until().map(iso::format);
                let until = end.map(|end| format!(" until {end}")).unwrap_or_default();
                (
                    format!("Check the domain {name}"),
                    format!(
                        "Your page on {host} still works there{until}. If nothing changes, it stops working then."
                    ),
                )
            }
            DomainNotice::Lapsed => (
                format!("The domain {name} stopped working"),
                format!(
                    "It no longer shows your page on {host}. The page itself is unchanged and keeps its other addresses."
                ),
            ),
        };
        let remedy = match problem {
            DomainProblem::Record | DomainProblem::Lost => {
                "Open this page to see the DNS record to restore and to check again"
            }
            DomainProblem::Plan => {
                "Open this page to see how to get custom domains again. The DNS record can stay as it is"
            }
        };
        let text = format!(
            "{cause} {effect}\n\n\
             {remedy}:\n{base}/dashboard/domains/{hostname}\n\n\
             If you no longer use the domain, delete it there.\n\n\
             -- \nSent by dropleaf at {host}\n"
        );
        Email { id: self.minter.nonce(), written_at: self.now(), to, subject, text, unsubscribe: None }
    }
}
