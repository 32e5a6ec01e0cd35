//! Emails operators before a certificate lapses whose renewal fails, and once more when it has expired.

use crate::app::App;
use crate::notify::mail::{Email, MailError};
use dropleaf_core::certificate::Certificate;
use dropleaf_core::{Result, iso};
use dropleaf_store::certificates as rows;

/// Names listed in one email; the operator's page shows all.
const LISTED_MOST: usize = 20;

impl App {
    /// Sends the warnings that are due, in one email. Returns how many certificates it is about.
    pub async fn warn_of_expiring_certificates(&self) -> Result<usize> {
        self.warn_of(|_| true).await
    }

    /// The same, only for certificates whose renewal has failed. The others may be renewed in a moment.
    pub async fn warn_of_failing_renewals(&self) -> Result<usize> {
        self.warn_of(|certificate| certificate.failures > 0).await
    }

    async fn warn_of(&self, is_included: impl Fn(&Certificate) -> bool) -> Result<usize> {
        let now = self.now();
        let mut expiring = self.store.list_certificates().await?;
        expiring.retain(|certificate| certificate.needs_warning(now) && is_included(certificate));
        if expiring.is_empty() {
            return Ok(0);
        }
        expiring.sort_by_key(|certificate| certificate.not_after);
        for certificate in &expiring {
            let (name, error) = (&certificate.name, certificate.last_error.as_deref());
            tracing::warn!(
                name,
                error,
                expires_at = certificate.not_after,
                "certificate expires and is not renewed"
            );
        }
        let receivers = self.operator_recipients().await?;
        let mut is_settled = self.notify.mailer.is_none() || receivers.is_empty();
        for to in receivers {
            match self.send_email(&self.expiry_email(to, &expiring, now)).await {
                Ok(()) | Err(MailError::Permanent(_)) => is_settled = true,
                Err(MailError::Temporary(_) | MailError::Ambiguous(_)) => {}
            }
        }
        // Otherwise it is tried again with the next pass.
        if is_settled {
            let stmts = expiring.iter().map(|certificate| rows::mark_warned(&certificate.name, now));
            self.store.commit(stmts.collect()).await?;
        }
        Ok(expiring.len())
    }

    fn expiry_email(&self, to: String, expiring: &[Certificate], now: i64) -> Email {
        let (base, host) = (self.hosts.base.url(), &self.hosts.base.host);
        let line = |certificate: &Certificate| {
            let end = certificate.not_after.unwrap_or_default();
            let verb = if end <= now { "expired" } else { "expires" };
            let error = certificate.last_error.as_deref().unwrap_or("no error was recorded");
            format!("- {} {verb} {}\n  Last error: {error}\n", certificate.name, iso::format(end))
        };
        let lines: String = expiring.iter().take(LISTED_MOST).map(line).collect();
        let more = match expiring.len().saturating_sub(LISTED_MOST) {
            0 => String::new(),
            more => format!("- and {more} more\n"),
        };
        let text = format!(
            "These certificates on {host} are not renewed:\n\n{lines}{more}\n\
             The server keeps trying. Details and a button to try at once: {base}/operator/certificates\n\n\
             -- \nSent by dropleaf at {host}\n"
        );
        let subject = match expiring {
            [one] if one.not_after.is_some_and(|end| end <= now) => {
                format!("The certificate of {} has expired", one.name)
            }
            [one] => format!("The certificate of {} expires soon", one.name),
            many => format!("{} certificates on {host} expire soon or have expired", many.len()),
        };
        Email { id: self.minter.nonce(), written_at: now, to, subject, text, unsubscribe: None }
    }
}
