//! Content that an operator allowed after an appeal: neither the phishing check nor the external check refuses it. The
//! blocklist of taken-down content and the secrets check still apply. An allow can be revoked.

use super::ContentScan;
use crate::app::App;
use dropleaf_core::appeal::{AllowedContent, Appeal};
use dropleaf_core::audit::AuditAction;
use dropleaf_core::{Code, Error, Result, hex, takedown};
use dropleaf_store::{DbError, allowed_content};

impl App {
    /// Queried only for content that was refused.
    pub(super) async fn is_allowed(&self, scan: &ContentScan) -> Result<bool> {
        Ok(self.store.find_allowed(scan.digest).await?.is_some())
    }

    /// Refuses to allow content that would still be refused: its publisher would be told to send it again, and it would
    /// fail.
    pub(crate) async fn check_allowable(&self, appeal: &Appeal) -> Result<()> {
        let Some(bundle_id) = &appeal.bundle_id else { return Ok(()) };
        // Another process may have removed it from the blocklist just now.
        self.moderation.blocklist.invalidate();
        if self.blocklist().await?.is_none() {
            return Ok(());
        }
        let scan = self.scan_stored(bundle_id).await?;
        let Some(id) = scan.blocked_content_id() else { return Ok(()) };
        let page = self.store.find_site_of_blocked_content(id).await?;
        let page = page.as_deref().unwrap_or(id);
        Err(Error::new(
            Code::Conflict,
            format!(
                "Similar content was taken down and is blocked. First unblock it at /operator/pages/{page} or with `dropleaf \
                 unwanted forget {page} --reason …`, then allow this content."
            ),
        ))
    }

    /// The most recently allowed content.
    pub async fn list_allowed(&self, limit: i64) -> Result<Vec<AllowedContent>> {
        Ok(self.store.list_allowed(limit).await?)
    }

    /// Revokes an allow, by the id of its appeal or the hash of the content. What is already published stays.
    pub async fn revoke_allowed(&self, actor: &str, named: &str, reason: &str) -> Result<AllowedContent> {
        let reason = takedown::reason_for(reason, "is required for revoking the approval")?;
        let found = match hex::digest(named) {
            Some(digest) => self.store.find_allowed(digest).await?,
            None => self.store.find_allowed_by(named).await?,
        };
        let allowed = found.ok_or_else(|| Error::not_found("allowed content"))?;
        let subject = allowed.appeal_id.clone().unwrap_or_else(|| hex::encode(&allowed.digest));
        let act = AuditAction::DisallowContent;
        let stmts = vec![
            allowed_content::delete(allowed.digest),
            self.audit_stmt(actor, act, &subject, Some(reason)),
        ];
        match self.store.commit(stmts).await {
            Ok(_) => {
                Self::log_operation(actor, act, &subject);
                Ok(allowed)
            }
            Err(DbError::Guard(allowed_content::NOT_ALLOWED)) => Err(Error::not_found("allowed content")),
            Err(error) => Err(error.into()),
        }
    }
}
