//! Feedback: comments left by viewers within rate limits, read and resolved by the owner. Spec §3, §4.

use crate::app::App;
use crate::notify::owner_notices::{NO_ACCOUNT, Notice, NoticeKind};
use crate::viewing::feedback_threads::FeedbackThread;
use crate::viewing::pages::PageKey;
use dropleaf_core::account::Account;
use dropleaf_core::feedback::{self, Feedback, FeedbackContent};
use dropleaf_core::feedback_filter::StateFilter;
use dropleaf_core::feedback_list::{self, Cursor, FeedbackQuery};
use dropleaf_core::feedback_thread::{Author, LISTED_REPLIES};
use dropleaf_core::notification::NotificationKind;
use dropleaf_core::rate::{Rate, RateLimitStatus};
use dropleaf_core::site::Site;
use dropleaf_core::webhook::EventType;
use dropleaf_core::{Code, Error, Minter, Result, page_address, secret};
use dropleaf_store::{DbError, feedback as rows, sites};
use std::net::IpAddr;

/// Comments read from the database at a time; each can be tens of kilobytes long.
const READ_BATCH: usize = 200;

/// One page of the list of comments.
#[derive(Debug)]
pub struct FeedbackList {
    /// Each comment with the newest replies to it.
    pub threads: Vec<FeedbackThread>,
    /// The cursor of the next page, if there is more.
    pub next: Option<Cursor>,
}

impl App {
    /// Stores a viewer's comment. The caller has checked that the viewer may see the page. Returns the comment, and the
    /// secret by which its author is recognized.
    pub async fn create_feedback(
        &self,
        site: &Site,
        ip: Option<IpAddr>,
        content: FeedbackContent,
    ) -> Result<(Feedback, String, Option<RateLimitStatus>)> {
        if !site.takes_feedback() {
            return Err(Error::not_found("page"));
        }
        let serves = |host: &str| {
            self.served_domain(host).is_some_and(|domain| Some(domain.token) == PageKey::token(&site.token))
        };
        let is_foreign = |url: &str| !page_address::belongs_to(url, site, &self.hosts, serves);
        if content.page_url.as_deref().is_some_and(is_foreign) {
            return Err(Error::field("page_url", "must be an address of this page"));
        }
        let now = self.now();
        let viewer_token = self.minter.page_token();
        let item = Feedback {
            viewer_hash: Some(secret::hash(&viewer_token)),
            ..Feedback::new(self.minter.ordered_id("fb", now), site.id.clone(), content, now)
        };
        let rates = self.feedback_rates(site, ip);
        let exempt = self.is_exempt(ip);
        let mut stmts = vec![sites::lock_live(&site.id)];
        if !exempt {
            stmts.extend(rates.iter().map(|(rate, key)| dropleaf_store::counters::take(key, rate, now)));
        }
        stmts.push(rows::insert(&item));
        stmts.extend(self.feedback_email_stmt(NotificationKind::Comment, site, &item.id));
        stmts.extend(self.feedback_stmts(EventType::FeedbackCreated, site, &item.id));
        let notice =
            Notice::new(site.account_id.as_deref().unwrap_or(NO_ACCOUNT), &site.id, NoticeKind::Feedback);
        match self.commit_and_notify(stmts, notice).await {
            Ok(()) => {
                let (rate, key) = &rates[0];
                // The comment is stored, so a failure to read the remaining quota must not fail the request.
                let used = if exempt { None } else { self.store.count_used(key, rate, now).await.ok() };
                Ok((item, viewer_token, used.map(|used| rate.status(used, now))))
            }
            Err(DbError::Guard(sites::CHANGED)) => Err(Error::not_found("page")),
            Err(DbError::Guard(rows::FULL)) => Err(Error::new(
                Code::TooMany,
                "This page has reached its limit of open comments. Its owner must resolve some first.",
            )),
            Err(error) => Err(self.guard_error(error, None)),
        }
    }

    /// How often a client network may write on a page, and how often all of them together may.
    pub(super) fn feedback_rates(&self, site: &Site, ip: Option<IpAddr>) -> [(Rate, String); 2] {
        [
            (feedback::PER_NETWORK, self.client_key(&feedback::PER_NETWORK, ip)),
            (feedback::PER_SITE, format!("{}:{}", feedback::PER_SITE.name, site.id)),
        ]
    }

    /// A page of the comments on the account's own page, for the owner's programs: unresolved first, then newest. The
    /// comments returned are marked as read.
    pub async fn list_feedback(
        &self,
        account: &Account,
        name: &str,
        query: &FeedbackQuery,
    ) -> Result<FeedbackList> {
        query.check()?;
        let site = self.get_site(account, name).await?;
        let (feedback, next) = self.feedback_page(&site, query).await?;
        if !feedback.is_empty() && self.store.count_unread_feedback(&site.id).await? > 0 {
            let given = feedback.chunks(READ_BATCH);
            let marks = given.map(|given| rows::mark_read(&site.id, given, self.now()));
            self.store.commit(marks.collect()).await?;
        }
        let threads = self.add_replies(&site.id, feedback, LISTED_REPLIES, query.reply_bytes()).await?;
        Ok(FeedbackList { threads, next })
    }

    /// The same for the owner in the dashboard; the comments stay unread for the owner's programs.
    pub async fn peek_feedback(
        &self,
        account: &Account,
        name: &str,
        query: &FeedbackQuery,
    ) -> Result<FeedbackList> {
        query.check()?;
        let site = self.get_site(account, name).await?;
        let (feedback, next) = self.feedback_page(&site, query).await?;
        let threads = self.add_replies(&site.id, feedback, LISTED_REPLIES, query.reply_bytes()).await?;
        Ok(FeedbackList { threads, next })
    }

    /// How many comments on a site are unresolved.
    pub async fn count_open_feedback_of(&self, site_id: &str) -> Result<i64> {
        Ok(self.store.count_open_feedback_of(site_id).await?)
    }

    /// One page of the list without replies, and the cursor of the next one.
    async fn feedback_page(
        &self,
        site: &Site,
        query: &FeedbackQuery,
    ) -> Result<(Vec<Feedback>, Option<Cursor>)> {
        let mut feedback: Vec<Feedback> = Vec::new();
        let mut after = query.cursor.clone();
        let has_more = loop {
            let wanted = query.most().saturating_sub(feedback.len()).min(READ_BATCH);
            let one_more = i64::try_from(wanted).unwrap_or_default() + 1;
            let filter = &query.filter;
            let mut found = match filter.state {
                // These lists use the index alone.
                StateFilter::All if filter.is_plain() => {
                    self.store.list_feedback(&site.id, after.as_ref(), one_more).await?
                }
                StateFilter::Open if filter.is_plain() => {
                    self.store.list_open_feedback(&site.id, after.as_ref(), one_more).await?
                }
                _ => self.store.search_feedback(&site.id, filter, after.as_ref(), one_more).await?,
            };
            let is_longer = found.len() > wanted;
            found.truncate(wanted);
            feedback.extend(found);
            let is_cut = feedback_list::cut(&mut feedback, query.bytes);
            if is_cut || !is_longer || feedback.len() >= query.most() {
                break is_cut || is_longer;
            }
            after = feedback.last().map(|item| Cursor::of(item, query.filter.order));
        };
        let next = feedback.last().filter(|_| has_more).map(|item| Cursor::of(item, query.filter.order));
        Ok((feedback, next))
    }

    /// Comments on a page that none of the owner's programs has read.
    pub async fn count_unread_feedback(&self, site_id: &str) -> Result<i64> {
        Ok(self.store.count_unread_feedback(site_id).await?)
    }

    pub async fn resolve_feedback(
        &self,
        account: &Account,
        id: &str,
        note: Option<String>,
        by: Author,
    ) -> Result<Feedback> {
        let note = feedback::note(note)?;
        check_id(id)?;
        let open_on = self.store.find_site_of_open_feedback(&account.id, id).await?;
        // The page is locked first, as by everything that writes comments, so that two such transactions cannot deadlock.
        let mut stmts: Vec<_> = open_on.iter().map(|site_id| sites::lock(site_id)).collect();
        stmts.extend(open_on.iter().flat_map(|site_id| self.resolving_stmts(&account.id, site_id, id)));
        stmts.push(rows::resolve(&account.id, id, note.as_deref(), by, self.now()));
        match self.commit_for_account(&account.id, stmts).await {
            Ok(outcomes) => {
                let outcome = outcomes.last().ok_or_else(|| Error::internal("no outcome"))?;
                let item = rows::resolved(outcome)?;
                self.notify_of_threads(&item.site_id).await;
                Ok(item)
            }
            Err(DbError::Guard(rows::UNKNOWN)) => Err(Error::not_found("feedback")),
            Err(error) => Err(error.into()),
        }
    }

    pub async fn delete_feedback(&self, account: &Account, id: &str) -> Result<()> {
        check_id(id)?;
        match self.commit_for_account(&account.id, vec![rows::delete(&account.id, id)]).await {
            Ok(outcomes) => {
                let outcome = outcomes.last().ok_or_else(|| Error::internal("no outcome"))?;
                self.notify_of_threads(&rows::deleted_from(outcome)?).await;
                Ok(())
            }
            Err(DbError::Guard(rows::UNKNOWN)) => Err(Error::not_found("feedback")),
            Err(error) => Err(error.into()),
        }
    }
}

pub(super) fn check_id(id: &str) -> Result<()> {
    if Minter::is_id("fb", id) { Ok(()) } else { Err(Error::not_found("feedback")) }
}
