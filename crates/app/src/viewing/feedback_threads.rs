//! Threads as they are shown: to the owner with the newest replies to each comment, to viewers as far as the page's setting
//! `feedback_visible` allows.

use crate::app::App;
use crate::viewing::feedback::check_id;
use dropleaf_core::account::Account;
use dropleaf_core::feedback::Feedback;
use dropleaf_core::feedback_list::{self, ANSWER_BYTES};
use dropleaf_core::feedback_thread::{
    FeedbackVisible, LISTED_REPLIES, MOST_REPLIES, Reply, Thread, ViewerTokens,
};
use dropleaf_core::site::Site;
use dropleaf_core::{Error, Result};
use std::cmp::Reverse;
use std::collections::HashMap;

/// The most comments a viewer is shown.
const VIEWER_COMMENTS_MOST: i64 = 200;
/// Threads whose replies are read from the database at a time, so that the budget of bytes ends the reading early.
const THREADS_AT_ONCE: usize = 20;
/// Replies to each comment that a viewer is shown.
const VIEWER_REPLIES: i64 = MOST_REPLIES;

/// A comment with the newest replies to it.
#[derive(Debug)]
pub struct FeedbackThread {
    pub feedback: Feedback,
    pub thread: Thread,
}

/// A comment as a viewer sees it.
#[derive(Debug)]
pub struct ShownThread {
    pub feedback: Feedback,
    /// Whether this browser wrote the comment.
    pub is_own: bool,
    /// The replies; `None` if they are not for this viewer, who cannot reply either.
    pub thread: Option<Thread>,
}

impl App {
    /// The newest replies to these comments of one site, `of_each` to each, as many as fit into this many bytes.
    pub(super) async fn add_replies(
        &self,
        site_id: &str,
        feedback: Vec<Feedback>,
        of_each: i64,
        bytes: usize,
    ) -> Result<Vec<FeedbackThread>> {
        let mut threads = self.read_threads(site_id, &feedback, of_each, bytes).await?;
        let with_thread = |feedback: Feedback| FeedbackThread {
            thread: threads.remove(&feedback.id).unwrap_or_default(),
            feedback,
        };
        Ok(feedback.into_iter().map(with_thread).collect())
    }

    async fn read_threads(
        &self,
        site_id: &str,
        feedback: &[Feedback],
        of_each: i64,
        mut bytes: usize,
    ) -> Result<HashMap<String, Thread>> {
        if feedback.is_empty() {
            return Ok(HashMap::new());
        }
        let counts: HashMap<String, i64> = self.store.count_replies(site_id).await?.into_iter().collect();
        let count = |item: &Feedback| Some((item.id.clone(), *counts.get(&item.id)?));
        let mut threads: HashMap<String, Thread> = feedback
            .iter()
            .filter_map(count)
            .map(|(id, count)| (id, Thread { count, replies: Vec::new() }))
            .collect();
        let replied: Vec<&str> =
            feedback.iter().map(|item| item.id.as_str()).filter(|id| counts.contains_key(*id)).collect();
        'all: for ids in replied.chunks(THREADS_AT_ONCE) {
            let mut found = self.store.list_replies(site_id, ids, of_each).await?;
            // Newest first, so that the oldest ones are left out if not all fit. Those of the same second keep their order.
            found.reverse();
            found.sort_by_key(|reply| Reverse(reply.created_at));
            for reply in found {
                let size = feedback_list::reply_bytes(&reply);
                if size > bytes {
                    break 'all;
                }
                bytes -= size;
                if let Some(thread) = threads.get_mut(&reply.feedback_id) {
                    thread.replies.push(reply);
                }
            }
        }
        for thread in threads.values_mut() {
            thread.replies.reverse();
        }
        Ok(threads)
    }

    /// All replies to one comment on a page of the account.
    pub async fn list_replies(&self, account: &Account, name: &str, id: &str) -> Result<Vec<Reply>> {
        let site = self.get_site(account, name).await?;
        self.get_feedback_of(&site, id).await?;
        Ok(self.store.list_replies(&site.id, &[id], MOST_REPLIES).await?)
    }

    /// One comment of a site, with all replies.
    pub async fn get_thread(&self, account: &Account, name: &str, id: &str) -> Result<FeedbackThread> {
        let site = self.get_site(account, name).await?;
        let feedback = self.get_feedback_of(&site, id).await?;
        let replies = self.store.list_replies(&site.id, &[id], MOST_REPLIES).await?;
        let count = i64::try_from(replies.len()).unwrap_or(i64::MAX);
        Ok(FeedbackThread { feedback, thread: Thread { count, replies } })
    }

    /// These comments of a page with the newest replies, in this order; unknown ones are left out.
    pub async fn list_threads(
        &self,
        account: &Account,
        name: &str,
        ids: &[String],
    ) -> Result<Vec<FeedbackThread>> {
        let site = self.get_site(account, name).await?;
        let known: Vec<&str> = ids.iter().map(String::as_str).filter(|id| check_id(id).is_ok()).collect();
        let mut found = self.store.list_feedback_by_id(&site.id, &known).await?;
        found.sort_by_key(|item| known.iter().position(|id| *id == item.id));
        self.add_replies(&site.id, found, LISTED_REPLIES, ANSWER_BYTES).await
    }

    /// The page of a comment of the account.
    pub async fn site_of_feedback(&self, account: &Account, id: &str) -> Result<String> {
        check_id(id)?;
        let found = self.store.find_site_of_feedback(&account.id, id).await?;
        found.ok_or_else(|| Error::not_found("feedback"))
    }

    pub(super) async fn get_feedback_of(&self, site: &Site, id: &str) -> Result<Feedback> {
        check_id(id)?;
        self.store.find_feedback(&site.id, id).await?.ok_or_else(|| Error::not_found("feedback"))
    }

    /// The comments on a page as a viewer sees them: the open ones, up to 200 or as many as fit into one response, and
    /// those that this browser wrote. Replies and other viewers' resolved comments are shown if the owner chose so.
    pub async fn list_shown_feedback(&self, site: &Site, viewer: &ViewerTokens) -> Result<Vec<ShownThread>> {
        let for_everyone = site.feedback_visible == FeedbackVisible::Everyone;
        let most = VIEWER_COMMENTS_MOST;
        let listed = if for_everyone {
            self.store.list_feedback(&site.id, None, most).await?
        } else {
            self.store.list_open_feedback(&site.id, None, most).await?
        };
        let mut own = self.store.list_feedback_by_id(&site.id, &viewer.ids()).await?;
        own.retain(|item| item.is_of(viewer) && !listed.iter().any(|other| other.id == item.id));
        own.sort_by(|a, b| (b.created_at, &b.id).cmp(&(a.created_at, &a.id)));
        // Own comments first, so that none of them is left out.
        own.extend(listed);
        feedback_list::cut(&mut own, ANSWER_BYTES);
        let is_shown = |item: &Feedback| for_everyone || item.is_of(viewer);
        let shown: Vec<Feedback> = own.iter().filter(|item| is_shown(item)).cloned().collect();
        let mut threads = self.read_threads(&site.id, &shown, VIEWER_REPLIES, ANSWER_BYTES).await?;
        let show = |feedback: Feedback| ShownThread {
            is_own: feedback.is_of(viewer),
            thread: is_shown(&feedback).then(|| threads.remove(&feedback.id).unwrap_or_default()),
            feedback,
        };
        Ok(own.into_iter().map(show).collect())
    }
}
