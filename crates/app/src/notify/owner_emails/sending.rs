//! Sends what owners are to be emailed about. Everything in an email is taken from the database before it is sent: a crash
//! in between may lose an email, but none is sent twice, also not by two nodes.

use super::text::SiteNews;
use crate::app::App;
use crate::notify::mail::MailError;
use dropleaf_core::Result;
use dropleaf_core::notification::{
    EXPIRY_PAUSE, KEPT_SECONDS, NotificationKind, NotifyMode, PER_ADDRESS, RETRY_PAUSE, SITE_PAUSE,
    last_digest, next_digest,
};
use dropleaf_core::site::State;
use dropleaf_store::DbError;
use dropleaf_store::email_notices::{self as rows, DueAccount, EmailNotice};
use std::collections::{BTreeMap, BTreeSet};

/// Accounts that get an email in one round.
const BATCH: i64 = 100;
/// Lanes in one email; the rest follows in the next round.
const LANES: i64 = 50;
/// Comments that are looked up at a time.
const IDS_AT_ONCE: usize = 200;

impl App {
    /// Sends the emails that are due while `go_on` returns true. Returns how many were sent.
    pub async fn send_owner_emails(&self, go_on: impl Fn() -> bool) -> Result<usize> {
        if self.notify.mailer.is_none() {
            return Ok(0);
        }
        let (now, mut count) = (self.now(), 0);
        for account in self.store.list_due_accounts(now, last_digest(now), BATCH).await? {
            if !go_on() {
                break;
            }
            count += usize::from(self.send_owner_email(&account).await?);
        }
        Ok(count)
    }

    async fn send_owner_email(&self, account: &DueAccount) -> Result<bool> {
        let now = self.now();
        let lanes = match account.mode {
            NotifyMode::Off => return Ok(false),
            NotifyMode::Instant => self.store.list_due_lanes(&account.id, now, LANES).await?,
            NotifyMode::Daily => vec![account.id.clone()],
        };
        let mut stmts = vec![self.count_email_to(&PER_ADDRESS, &account.email, now)];
        for lane in &lanes {
            stmts.push(rows::pause(lane, pause_end(account, lane, now), now));
            stmts.push(match account.mode {
                NotifyMode::Daily => rows::take_all(&account.id),
                NotifyMode::Off | NotifyMode::Instant => rows::take_lane(&account.id, lane),
            });
        }
        let notices = match self.store.commit(stmts).await {
            Ok(outcomes) => rows::taken(&outcomes)?,
            // Another node sends it.
            Err(DbError::Guard(rows::PAUSED)) => return Ok(false),
            Err(DbError::Guard(name)) if name == PER_ADDRESS.name => {
                tracing::info!(
                    account = account.id,
                    "notification postponed: daily limit of the address reached"
                );
                self.postpone(&lanes, now + EXPIRY_PAUSE).await?;
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        };
        let news = match self.owner_news(&account.id, &notices).await {
            Ok(news) => news,
            Err(error) => {
                self.put_back(account, &lanes, &notices, now).await?;
                return Err(error);
            }
        };
        if news.is_empty() {
            self.store.commit(vec![self.uncount_email_to(&PER_ADDRESS, &account.email, now)]).await?;
            return Ok(false);
        }
        match self.send_email(&self.owner_email(account, &news)).await {
            Ok(()) => Ok(true),
            Err(MailError::Temporary(_)) => {
                self.put_back(account, &lanes, &notices, now).await?;
                Ok(false)
            }
            Err(MailError::Permanent(_) | MailError::Ambiguous(_)) => Ok(false),
        }
    }

    /// Writes back what was taken for an email that was certainly not sent; it is tried again after a pause.
    async fn put_back(
        &self,
        account: &DueAccount,
        lanes: &[String],
        notices: &[EmailNotice],
        now: i64,
    ) -> Result<()> {
        let fresh = notices.iter().filter(|notice| notice.created_at > now - KEPT_SECONDS);
        let mut stmts: Vec<_> = fresh.map(rows::enqueue).collect();
        stmts.push(self.uncount_email_to(&PER_ADDRESS, &account.email, now));
        stmts.extend(lanes.iter().map(|lane| rows::set_pause(lane, now + RETRY_PAUSE)));
        self.store.commit(stmts).await?;
        Ok(())
    }

    async fn postpone(&self, lanes: &[String], until: i64) -> Result<()> {
        self.store.commit(lanes.iter().map(|lane| rows::set_pause(lane, until)).collect()).await?;
        Ok(())
    }

    /// What still holds of the notices, by page: comments that exist on pages that are online, and expiries ahead.
    async fn owner_news(&self, account_id: &str, notices: &[EmailNotice]) -> Result<Vec<SiteNews>> {
        let mut by_site: BTreeMap<&str, Vec<&EmailNotice>> = BTreeMap::new();
        for notice in notices {
            by_site.entry(&notice.site_id).or_default().push(notice);
        }
        let mut all = Vec::new();
        for (site_id, notices) in by_site {
            let Some(site) = self.store.find_site(site_id).await? else { continue };
            if site.account_id.as_deref() != Some(account_id) || site.state != State::Live {
                continue;
            }
            let existing = self.existing_feedback(site_id, &notices).await?;
            let count = |kind: NotificationKind| {
                let of_kind = notices.iter().filter(|notice| notice.kind == kind);
                of_kind.filter(|it| it.feedback_id.as_ref().is_some_and(|id| existing.contains(id))).count()
            };
            let expires_at = notices
                .iter()
                .filter(|notice| notice.kind == NotificationKind::Expiring)
                .filter_map(|notice| notice.expires_at)
                .find(|at| site.expires_at == Some(*at) && *at > self.now());
            let news = SiteNews {
                comments: count(NotificationKind::Comment),
                replies: count(NotificationKind::Reply),
                reopened: count(NotificationKind::Reopened),
                expires_at,
                id: site.id,
                title: site.title,
            };
            if !news.is_empty() {
                all.push(news);
            }
        }
        Ok(all)
    }

    async fn existing_feedback(&self, site_id: &str, notices: &[&EmailNotice]) -> Result<BTreeSet<String>> {
        let ids: BTreeSet<&str> = notices.iter().filter_map(|notice| notice.feedback_id.as_deref()).collect();
        let ids: Vec<&str> = ids.into_iter().collect();
        let mut existing = BTreeSet::new();
        for part in ids.chunks(IDS_AT_ONCE) {
            let found = self.store.list_feedback_by_id(site_id, part).await?;
            existing.extend(found.into_iter().map(|item| item.id));
        }
        Ok(existing)
    }
}

/// When the next email of this lane may be sent.
fn pause_end(account: &DueAccount, lane: &str, now: i64) -> i64 {
    match account.mode {
        NotifyMode::Daily => next_digest(now),
        NotifyMode::Off | NotifyMode::Instant if lane == account.id => now + EXPIRY_PAUSE,
        NotifyMode::Off | NotifyMode::Instant => now + SITE_PAUSE,
    }
}
