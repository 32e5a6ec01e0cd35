//! Writes down what an owner is to be emailed about, in the transaction of the change.

use crate::app::App;
use dropleaf_core::Result;
use dropleaf_core::notification::NotificationKind;
use dropleaf_core::site::Site;
use dropleaf_store::email_notices::{self as rows, EmailNotice};
use dropleaf_store::{DbError, Stmt, expiry_announcements, expiry_emails};

/// Pages that are announced in one sweep.
const BATCH: i64 = 500;

impl App {
    /// For the transaction of a viewer's comment, reply or reopening. None if the page has no owner or mail is off.
    pub(crate) fn feedback_email_stmt(
        &self,
        kind: NotificationKind,
        site: &Site,
        feedback_id: &str,
    ) -> Option<Stmt> {
        let account_id = site.account_id.as_deref().filter(|_| self.notify.mailer.is_some())?;
        Some(rows::enqueue(&EmailNotice {
            lane: site.id.clone(),
            feedback_id: Some(feedback_id.to_owned()),
            ..self.email_notice(kind, account_id, &site.id)
        }))
    }

    /// Writes down the pages that expire soon, each expiry once. Returns how many.
    pub(crate) async fn queue_expiry_emails(&self) -> Result<usize> {
        if self.notify.mailer.is_none() {
            return Ok(0);
        }
        let mut count = 0;
        for site in self.store.list_expiring_to_email(self.now(), BATCH).await? {
            let notice = EmailNotice {
                lane: site.account_id.clone(),
                expires_at: Some(site.expires_at),
                ..self.email_notice(NotificationKind::Expiring, &site.account_id, &site.id)
            };
            match self.store.commit(vec![expiry_emails::mark_emailed(&site), rows::enqueue(&notice)]).await {
                Ok(_) => count += 1,
                Err(DbError::Guard(expiry_announcements::CHANGED)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(count)
    }

    fn email_notice(&self, kind: NotificationKind, account_id: &str, site_id: &str) -> EmailNotice {
        let now = self.now();
        EmailNotice {
            id: self.minter.ordered_id("en", now),
            account_id: account_id.to_owned(),
            site_id: site_id.to_owned(),
            lane: String::new(),
            kind,
            feedback_id: None,
            expires_at: None,
            created_at: now,
        }
    }
}
