//! Comments with their replies in an account export: written as records, and checked as untrusted input when imported.

use super::format::{FeedbackRecord, ReplyRecord};
use super::record_check::past;
use crate::app::App;
use dropleaf_core::feedback::{self, Feedback, FeedbackDraft, Intent, Severity};
use dropleaf_core::feedback_thread::{Author, MOST_REPLIES, MOST_SITE_REPLIES, Reply, ReplyContent};
use dropleaf_core::{Code, Error, Minter, Result};
use std::collections::HashMap;

/// Threads read from the database at a time.
const THREADS_AT_ONCE: usize = 100;
const MOST_FEEDBACK: usize = 100_000;

/// A comment of an import with the replies to it.
pub(super) type ImportedThread = (Feedback, Vec<Reply>);

impl App {
    pub(super) async fn feedback_records(
        &self,
        site_id: &str,
        feedback: Vec<Feedback>,
    ) -> Result<Vec<FeedbackRecord>> {
        let mut replies: HashMap<String, Vec<ReplyRecord>> = HashMap::new();
        let counts = self.store.count_replies(site_id).await?;
        let ids: Vec<&str> = counts.iter().map(|(id, _)| id.as_str()).collect();
        for part in ids.chunks(THREADS_AT_ONCE) {
            for reply in self.store.list_replies(site_id, part, MOST_REPLIES).await? {
                replies.entry(reply.feedback_id.clone()).or_default().push(reply_record(reply));
            }
        }
        let record = |item: Feedback| {
            let replies = replies.remove(&item.id).unwrap_or_default();
            feedback_record(item, replies)
        };
        Ok(feedback.into_iter().map(record).collect())
    }
}

fn feedback_record(item: Feedback, replies: Vec<ReplyRecord>) -> FeedbackRecord {
    let word = |by: Option<Author>| by.map(Author::as_str).map(str::to_owned);
    FeedbackRecord {
        comment: item.content.comment,
        element: item.content.element,
        element_path: item.content.element_path,
        selected_text: item.content.selected_text,
        page_url: item.content.page_url,
        intent: item.content.intent.map(Intent::as_str).map(str::to_owned),
        severity: item.content.severity.map(Severity::as_str).map(str::to_owned),
        created_at: item.created_at,
        resolved_at: item.resolved_at,
        resolved_note: item.resolved_note,
        resolved_by: word(item.resolved_by),
        reopened_at: item.reopened_at,
        reopened_by: word(item.reopened_by),
        replies,
    }
}

fn reply_record(reply: Reply) -> ReplyRecord {
    ReplyRecord {
        author: reply.author.as_str().to_owned(),
        name: reply.name,
        text: reply.text,
        reopens: reply.reopens,
        created_at: reply.created_at,
    }
}

/// Checks all comments of a page. Their ids are new; they belong to no page yet, and to no browser.
pub(super) fn check_all(
    records: Vec<FeedbackRecord>,
    minter: &Minter,
    now: i64,
) -> Result<Vec<ImportedThread>> {
    if records.len() > MOST_FEEDBACK {
        return Err(Error::new(Code::TooMany, format!("A page has at most {MOST_FEEDBACK} comments.")));
    }
    let most = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
    let lengths = records.iter().map(|item| item.replies.len());
    if lengths.clone().any(|replies| replies > most(MOST_REPLIES))
        || lengths.sum::<usize>() > most(MOST_SITE_REPLIES)
    {
        let says = format!(
            "A comment has at most {MOST_REPLIES} replies, and all comments of a page {MOST_SITE_REPLIES}."
        );
        return Err(Error::new(Code::TooMany, says));
    }
    records.into_iter().map(|item| check(item, minter, now)).collect()
}

fn check(item: FeedbackRecord, minter: &Minter, now: i64) -> Result<ImportedThread> {
    past("created_at", item.created_at, now)?;
    item.resolved_at.map_or(Ok(()), |at| past("resolved_at", at, now))?;
    item.reopened_at.map_or(Ok(()), |at| past("reopened_at", at, now))?;
    let draft = FeedbackDraft {
        comment: Some(item.comment),
        element: item.element,
        element_path: item.element_path,
        selected_text: item.selected_text,
        page_url: item.page_url,
        intent: item.intent,
        severity: item.severity,
    };
    let id = minter.ordered_id("fb", item.created_at);
    let replies = item.replies.into_iter().map(|reply| check_reply(reply, &id, minter, now));
    let replies = replies.collect::<Result<_>>()?;
    let feedback = Feedback {
        resolved_at: item.resolved_at,
        resolved_note: feedback::note(item.resolved_note)?,
        resolved_by: item.resolved_by.as_deref().map(author).transpose()?,
        reopened_at: item.reopened_at,
        reopened_by: item.reopened_by.as_deref().map(author).transpose()?,
        ..Feedback::new(id, String::new(), draft.checked()?, item.created_at)
    };
    Ok((feedback, replies))
}

fn check_reply(reply: ReplyRecord, feedback_id: &str, minter: &Minter, now: i64) -> Result<Reply> {
    past("created_at", reply.created_at, now)?;
    let content = ReplyContent::checked(Some(reply.text), reply.name)?;
    Ok(Reply {
        id: minter.ordered_id("fr", reply.created_at),
        feedback_id: feedback_id.to_owned(),
        site_id: String::new(),
        author: author(&reply.author)?,
        name: content.name,
        text: content.text,
        reopens: reply.reopens,
        created_at: reply.created_at,
    })
}

fn author(word: &str) -> Result<Author> {
    Author::parse(word).ok_or_else(|| Error::field("author", "must be viewer, owner or agent"))
}
