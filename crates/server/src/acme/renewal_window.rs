//! Asks the authority when to renew (ARI, RFC 9773). A certificate that was revoked is noticed here: its window is in the past.

use super::Acme;
use super::failure::describe;
use anyhow::Result;
use dropleaf_core::certificate::{Certificate, RenewalWindow};
use instant_acme::{Account, Error};

/// When to ask again after a failure, in seconds.
const RETRY_SECONDS: i64 = 6 * 3600;

impl Acme {
    /// Asks later, because the authority does not respond.
    pub(super) async fn postpone_window_checks(&self, due: &[Certificate]) -> Result<()> {
        for about in due {
            self.app.record_renewal_window(about, None, Some(RETRY_SECONDS)).await?;
        }
        Ok(())
    }

    /// Asks about one certificate and records the answer.
    pub(super) async fn check_window(&self, account: &Account, about: &Certificate) -> Result<()> {
        let Some(id) = self.current_id(about).await? else {
            self.app.record_renewal_window(about, None, None).await?;
            return Ok(());
        };
        let (window, retry_after) = match account.renewal_info(&id).await {
            Ok((info, again)) => {
                let window = RenewalWindow {
                    start: info.suggested_window.start.unix_timestamp(),
                    end: info.suggested_window.end.unix_timestamp(),
                };
                (Some(window), i64::try_from(again.as_secs()).ok())
            }
            Err(Error::Unsupported(_)) => (None, None),
            Err(error) => {
                tracing::info!(name = about.name, error = describe(&error), "renewal time not received");
                (None, Some(RETRY_SECONDS))
            }
        };
        let renew_at = self.app.record_renewal_window(about, window, retry_after).await?;
        if let Some(at) = renew_at.filter(|at| *at <= self.app.now() && about.renew_at != Some(*at)) {
            tracing::warn!(name = about.name, renew_at = at, "authority asks to replace the certificate now");
        }
        Ok(())
    }
}
