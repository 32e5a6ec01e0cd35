//! When certificates are renewed: at the time that the authority suggests, or when an operator says so.

use crate::app::App;
use crate::moderation::audit::COMMAND_LINE;
use dropleaf_core::audit::AuditAction;
use dropleaf_core::certificate::{self, Certificate, RenewalWindow};
use dropleaf_core::{Code, Error, Result};
use dropleaf_store::DbError;
use dropleaf_store::certificates::{self as rows, UNKNOWN};

impl App {
    /// Certificates about which the authority should be asked when to renew, longest waiting first.
    pub async fn list_due_window_checks(&self, most: usize) -> Result<Vec<Certificate>> {
        let now = self.now();
        let mut due = self.store.list_certificates().await?;
        due.retain(|it| it.is_window_check_due(now));
        due.sort_by_key(|it| it.window_check_at);
        due.truncate(most);
        Ok(due)
    }

    /// Records what the authority suggests. Without a window the renewal time stays. Returns the renewal time.
    pub async fn record_renewal_window(
        &self,
        about: &Certificate,
        window: Option<RenewalWindow>,
        retry_after: Option<i64>,
    ) -> Result<Option<i64>> {
        let random = u64::from_be_bytes(self.minter.bytes::<8>());
        let renew_at = window.and_then(|window| window.choose(about, random)).or(about.renew_at);
        let check_at = certificate::next_window_check(self.now(), retry_after);
        self.store.commit(vec![rows::record_window(about, renew_at, check_at)]).await?;
        Ok(renew_at)
    }

    /// Makes the renewal of one certificate due now; the server orders it within a minute.
    pub async fn request_renewal(&self, actor: &str, name: &str) -> Result<()> {
        let name = name.to_ascii_lowercase();
        let stmts = vec![
            rows::make_due(&name, self.now()),
            self.audit_stmt(actor, AuditAction::RenewCertificate, &name, None),
        ];
        match self.store.commit(stmts).await {
            Ok(_) => {}
            Err(DbError::Guard(UNKNOWN)) => {
                return Err(Error::new(Code::NotFound, "No certificate is managed for this name."));
            }
            Err(error) => return Err(error.into()),
        }
        Self::log_operation(actor, AuditAction::RenewCertificate, &name);
        self.order_certificates_soon();
        Ok(())
    }

    /// The same for every name, from the command line. Returns the names.
    pub async fn request_all_renewals(&self) -> Result<Vec<String>> {
        let names = self.store.list_certificates().await?;
        let names = names.into_iter().filter(|it| it.unused_since.is_none()).map(|it| it.name);
        let mut done = Vec::new();
        for name in names {
            match self.request_renewal(COMMAND_LINE, &name).await {
                Ok(()) => done.push(name),
                // It was removed meanwhile.
                Err(error) if error.code == Code::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }
}
