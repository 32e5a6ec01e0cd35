//! Replies to comments by viewers, the owner and the owner's programs, and reopening.

use crate::app::App;
use crate::notify::owner_notices::{NO_ACCOUNT, Notice, NoticeKind};
use crate::publish::idempotency::{FirstOrReplay, IdempotentRequest, IdempotentResult, StoredOutcome};
use dropleaf_core::account::Account;
use dropleaf_core::feedback::Feedback;
use dropleaf_core::feedback_thread::{Author, FeedbackVisible, Reply, ReplyContent, ViewerTokens};
use dropleaf_core::notification::NotificationKind;
use dropleaf_core::rate::RateLimitStatus;
use dropleaf_core::site::Site;
use dropleaf_core::webhook::EventType;
use dropleaf_core::{Code, Error, Result};
use dropleaf_store::{
    DbError, Stmt, counters, feedback, feedback_replies, feedback_states, idempotency, sites,
};
use std::net::IpAddr;

/// What a reply does to the state of its comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyEffect {
    Nothing,
    Resolve,
    Reopen,
}

/// A viewer's reply.
#[derive(Debug)]
pub struct ViewerReply<'a> {
    pub feedback_id: &'a str,
    /// The comments that this browser wrote.
    pub viewer: &'a ViewerTokens,
    pub content: ReplyContent,
    /// The viewer says that it is still a problem.
    pub reopens: bool,
}

/// A reply by the owner or a program of the owner.
#[derive(Debug)]
pub struct OwnerReply<'a> {
    pub feedback_id: &'a str,
    pub author: Author,
    pub text: String,
    pub effect: ReplyEffect,
}

impl App {
    /// Stores a viewer's reply. The caller has checked that the viewer may see the page.
    pub async fn reply_as_viewer(
        &self,
        site: &Site,
        ip: Option<IpAddr>,
        sent: ViewerReply<'_>,
    ) -> Result<(Feedback, Reply, Option<RateLimitStatus>)> {
        if !site.takes_feedback() {
            return Err(Error::not_found("page"));
        }
        let found = self.get_feedback_of(site, sent.feedback_id).await?;
        if site.feedback_visible != FeedbackVisible::Everyone && !found.is_of(sent.viewer) {
            // A resolved comment is not shown to other viewers, so they are not told that it exists.
            return Err(match found.resolved_at {
                Some(_) => Error::not_found("feedback"),
                None => Error::new(Code::Forbidden, "On this page you can reply only to your own comments."),
            });
        }
        let now = self.now();
        let reply = Reply {
            id: self.minter.ordered_id("fr", now),
            feedback_id: found.id.clone(),
            site_id: site.id.clone(),
            author: Author::Viewer,
            name: sent.content.name,
            text: sent.content.text,
            reopens: sent.reopens && found.resolved_at.is_some(),
            created_at: now,
        };
        let rates = self.feedback_rates(site, ip);
        let exempt = self.is_exempt(ip);
        let mut stmts = vec![sites::lock_live(&site.id)];
        if !exempt {
            stmts.extend(rates.iter().map(|(rate, key)| counters::take(key, rate, now)));
        }
        stmts.push(feedback_replies::touch(&reply));
        if reply.reopens {
            stmts.push(feedback_states::reopen(&site.id, &found.id, Author::Viewer, now));
        }
        stmts.push(feedback_replies::insert(&reply));
        let kind = if reply.reopens { NotificationKind::Reopened } else { NotificationKind::Reply };
        stmts.extend(self.feedback_email_stmt(kind, site, &found.id));
        stmts.extend(self.reply_event_stmts(site, &reply));
        let notice =
            Notice::new(site.account_id.as_deref().unwrap_or(NO_ACCOUNT), &site.id, NoticeKind::Feedback);
        self.commit_and_notify(stmts, notice).await.map_err(|error| self.reply_error(error))?;
        let (rate, key) = &rates[0];
        // The reply is stored, so a failure to read the remaining quota must not fail the request.
        let used = if exempt { None } else { self.store.count_used(key, rate, now).await.ok() };
        Ok((self.get_feedback_of(site, &found.id).await?, reply, used.map(|used| rate.status(used, now))))
    }

    /// Stores a reply of the owner, and resolves or reopens the comment with it if asked to. Returns both as they are then.
    pub async fn reply_to_feedback(
        &self,
        account: &Account,
        name: &str,
        sent: OwnerReply<'_>,
        once: Option<&IdempotentRequest>,
        render: impl FnOnce(&(Feedback, Reply)) -> Vec<u8>,
    ) -> Result<IdempotentResult<(Feedback, Reply)>> {
        let _guard = match self.begin_idempotent(once).await? {
            FirstOrReplay::Replay(outcome, body) => return Ok(IdempotentResult::Replayed { outcome, body }),
            FirstOrReplay::First(guard) => guard,
        };
        let content = ReplyContent::checked(Some(sent.text), None)?;
        let site = self.get_site(account, name).await?;
        let found = self.get_feedback_of(&site, sent.feedback_id).await?;
        let now = self.now();
        let reply = Reply {
            id: self.minter.ordered_id("fr", now),
            feedback_id: found.id.clone(),
            site_id: site.id.clone(),
            author: sent.author,
            name: None,
            text: content.text,
            reopens: sent.effect == ReplyEffect::Reopen && found.resolved_at.is_some(),
            created_at: now,
        };
        let replied = (after_reply(&found, &reply, sent.effect), reply.clone());
        let mut stmts = vec![sites::lock(&site.id), feedback_replies::touch(&reply)];
        if let Some(once) = once {
            stmts.push(self.store_response(once, StoredOutcome::Created, &render(&replied))?);
        }
        stmts.extend(self.reply_event_stmts(&site, &reply));
        match sent.effect {
            ReplyEffect::Resolve => {
                stmts.extend(self.resolving_stmts(&account.id, &site.id, &found.id));
                stmts.push(feedback::resolve(&account.id, &found.id, None, sent.author, now));
            }
            ReplyEffect::Reopen if reply.reopens => {
                stmts.push(feedback_states::reopen(&site.id, &found.id, sent.author, now));
            }
            ReplyEffect::Reopen | ReplyEffect::Nothing => {}
        }
        stmts.push(feedback_replies::insert(&reply));
        match (self.commit_for_account(&account.id, stmts).await, once) {
            (Ok(_), _) => {
                self.notify_of_threads(&site.id).await;
                Ok(IdempotentResult::New(replied))
            }
            (Err(DbError::Guard(idempotency::ANSWERED)), Some(once)) => self.replay_response(once).await,
            (Err(error), _) => Err(self.reply_error(error)),
        }
    }

    /// Reopens a comment. One that is not resolved stays as it is.
    pub async fn reopen_feedback(
        &self,
        account: &Account,
        name: &str,
        id: &str,
        by: Author,
    ) -> Result<Feedback> {
        let site = self.get_site(account, name).await?;
        let found = self.get_feedback_of(&site, id).await?;
        if found.resolved_at.is_none() {
            // A suspended account is told so.
            self.commit_thread(account, Vec::new()).await?;
            return Ok(found);
        }
        let mut stmts = vec![sites::lock(&site.id), feedback_states::reopen(&site.id, id, by, self.now())];
        stmts.extend(self.feedback_stmts(EventType::FeedbackReopened, &site, id));
        self.commit_thread(account, stmts).await?;
        self.notify_of_threads(&site.id).await;
        self.get_feedback_of(&site, id).await
    }

    /// The events of a reply. Their order is that of the changes: the comment got a reply, and by it was reopened.
    fn reply_event_stmts(&self, site: &Site, reply: &Reply) -> Vec<Stmt> {
        let mut stmts = self.feedback_stmts(EventType::FeedbackReplied, site, &reply.feedback_id);
        if reply.reopens {
            stmts.extend(self.feedback_stmts(EventType::FeedbackReopened, site, &reply.feedback_id));
        }
        stmts
    }

    async fn commit_thread(&self, account: &Account, stmts: Vec<Stmt>) -> Result<()> {
        match self.commit_for_account(&account.id, stmts).await {
            Ok(_) => Ok(()),
            Err(error) => Err(self.reply_error(error)),
        }
    }

    fn reply_error(&self, error: DbError) -> Error {
        match error {
            DbError::Guard(sites::CHANGED) => Error::not_found("page"),
            DbError::Guard(feedback::UNKNOWN) => Error::not_found("feedback"),
            DbError::Guard(feedback_replies::FULL) => Error::new(
                Code::TooMany,
                "This thread or this page has reached its limit of replies. Write a new comment instead.",
            ),
            DbError::Guard(feedback_states::NOT_REOPENED) => Error::new(
                Code::TooMany,
                "The comment was not reopened: another request changed it, or the page has reached its limit of open \
                 comments. Read it again, then retry.",
            ),
            error => self.guard_error(error, None),
        }
    }
}

/// The comment after a reply by the owner. One that is resolved already keeps its time and who did it.
fn after_reply(before: &Feedback, reply: &Reply, effect: ReplyEffect) -> Feedback {
    let mut comment = before.clone();
    if effect == ReplyEffect::Resolve && comment.resolved_at.is_none() {
        comment.resolved_at = Some(reply.created_at);
        comment.resolved_by = Some(reply.author);
        comment.resolved_note = None;
    } else if reply.reopens {
        (comment.resolved_at, comment.resolved_by) = (None, None);
        comment.reopened_at = Some(reply.created_at);
        comment.reopened_by = Some(reply.author);
    }
    comment
}
