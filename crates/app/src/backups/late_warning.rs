//! Emails operators when the last backup is older than twice the interval, and once a week until there is one.

use super::BackupSettings;
use super::status::is_late;
use crate::app::App;
use crate::notify::mail::{Email, MailError};
use dropleaf_core::{Result, iso};
use dropleaf_store::backup_state::{self as rows, BackupState};
use std::sync::PoisonError;

const REPEAT_AFTER: i64 = 7 * 86_400;

impl App {
    pub(super) fn is_warning_due(&self, settings: &BackupSettings, state: &BackupState) -> bool {
        let now = self.now();
        is_late(settings, state, now) && state.warned_at.is_none_or(|at| at + REPEAT_AFTER <= now)
    }

    /// Sends the warning if it is due.
    pub(super) async fn warn_of_late_backups(&self, settings: &BackupSettings) -> Result<()> {
        let state = self.backup_state(settings).await?;
        if !self.is_warning_due(settings, &state) {
            return Ok(());
        }
        tracing::warn!(last = state.succeeded_at, failures = state.failures, "backups are late");
        let receivers = self.operator_recipients().await?;
        let mut is_settled = self.notify.mailer.is_none() || receivers.is_empty();
        for to in receivers {
            match self.send_email(&self.late_email(to, settings, &state)).await {
                Ok(()) | Err(MailError::Permanent(_)) => is_settled = true,
                Err(MailError::Temporary(_) | MailError::Ambiguous(_)) => {}
            }
        }
        // Otherwise it is tried again with the next check.
        if is_settled {
            self.store.commit(rows::mark_warned(self.now())).await?;
        }
        Ok(())
    }

    fn late_email(&self, to: String, settings: &BackupSettings, state: &BackupState) -> Email {
        let (base, host) = (self.hosts.base.url(), &self.hosts.base.host);
        let last = match state.succeeded_at {
            Some(at) => format!("The last backup is from {}.", iso::format(at)),
            None => "There is no backup yet.".to_owned(),
        };
        let known = self.backups.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let error = known.unwrap_or_else(|| "see the log of the server".to_owned());
        let text = format!(
            "Backups of {host} to {} fail. {last}\n\n\
             Failed attempts since then: {}\nLast error: {error}\n\n\
             The server keeps trying. To try at once, run `dropleaf backup`. State: {base}/operator\n\n\
             -- \nSent by dropleaf at {host}\n",
            settings.destination.name(),
            state.failures,
        );
        let subject = format!("Backups of {host} fail");
        Email { id: self.minter.nonce(), written_at: self.now(), to, subject, text, unsubscribe: None }
    }
}
