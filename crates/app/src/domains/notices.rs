//! Emails owners whose custom domain begins to fail or stops working. Quotes nothing from DNS: others may have written it.

use crate::app::App;
use crate::notify::mail::{Email, MailError};
use dropleaf_core::Result;
use dropleaf_core::custom_domain::{CustomDomain, DomainNotice, GRACE_SECONDS};
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
        let address = self.store.find_account(&domain.account_id).await?.and_then(|account| account.email);
        let (Some(to), Some(notice), Some(_)) = (address, domain.notice, &self.notify.mailer) else {
            return Ok(Delivery::Dropped);
        };
        match self.send_email(&self.domain_email(domain, notice, to)).await {
            Ok(()) => Ok(Delivery::Sent),
            Err(MailError::Temporary(_)) => {
                self.store.commit(vec![custom_domains::return_notice(domain)]).await?;
                Ok(Delivery::Postponed)
            }
            Err(MailError::Permanent(_) | MailError::Ambiguous(_)) => Ok(Delivery::Dropped),
        }
    }

    fn domain_email(&self, domain: &CustomDomain, notice: DomainNotice, to: String) -> Email {
        let (base, host) = (self.hosts.base.url(), &self.hosts.base.host);
        let name = domain.hostname.unicode();
        let (subject, what) = match notice {
            DomainNotice::Failing => {
                let end = domain.failing_since.map(|since| iso::format(since + GRACE_SECONDS));
                let until = end.map(|end| format!(" until {end}")).unwrap_or_default();
                (
                    format!("Check the domain {name}"),
                    format!(
                        "The domain {name} did not pass its daily check on {host}. Your page still works there{until}. If \
                         nothing changes, it stops working then."
                    ),
                )
            }
            DomainNotice::Lapsed => (
                format!("The domain {name} stopped working"),
                format!(
                    "The domain {name} no longer shows your page on {host}: its check failed for three days, or its DNS \
                     records were changed. The page itself is unchanged and keeps its other addresses."
                ),
            ),
        };
        let text = format!(
            "{what}\n\n\
             See what is wrong, the DNS record to enter, and check again: {base}/dashboard/domains\n\n\
             If you no longer use the domain, delete it there.\n\n\
             -- \nSent by dropleaf at {host}\n"
        );
        Email { id: self.minter.nonce(), written_at: self.now(), to, subject, text }
    }
}
