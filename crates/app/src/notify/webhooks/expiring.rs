//! Announces pages that expire soon, each once, to the endpoints of their owner.

use crate::app::App;
use dropleaf_core::Result;
use dropleaf_core::webhook::{Event, EventType, Subject};
use dropleaf_store::{DbError, expiry_announcements as rows};

const BATCH: i64 = 500;

impl App {
    /// Writes the events of pages that expire soon. Returns how many.
    pub(crate) async fn announce_expiring_sites(&self) -> Result<usize> {
        let now = self.now();
        let mut count = 0;
        for site in self.store.list_expiring(now, now + self.settings.webhooks.expiring, BATCH).await? {
            let subject = Subject::Site { id: &site.id, expires_at: Some(site.expires_at) };
            let event = Event { event_type: EventType::SiteExpiring, account_id: &site.account_id, subject };
            let mut stmts = vec![rows::announce(&site)];
            stmts.extend(self.event_stmts(&event));
            match self.store.commit(stmts).await {
                Ok(_) => count += 1,
                Err(DbError::Guard(rows::CHANGED)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(count)
    }
}
