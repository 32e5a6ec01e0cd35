//! Notifies an owner's programs with open streams of new feedback and page changes, and viewers' open pages of comments; on
//! PostgreSQL also of those on other nodes.

use crate::app::App;
use dropleaf_store::{DbError, Stmt};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tokio::sync::broadcast::{self, error::RecvError};

/// Notices buffered for a slow listener; it misses the oldest ones beyond that.
const NOTICES_BUFFERED: usize = 256;
/// Prefix of notices sent between nodes.
const NODE_PREFIX: &str = "n:";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeKind {
    /// A viewer left a comment.
    Feedback,
    /// The page's content, settings or state changed.
    Change,
    /// The owner or a program of the owner replied to comments, or changed or deleted them. Only viewers are notified.
    Thread,
}

/// The account of a notice about a page that has none. Only viewers are notified.
pub(crate) const NO_ACCOUNT: &str = "";

/// A notice about one page, for its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    account_id: String,
    pub site_id: String,
    pub kind: NoticeKind,
}

impl Notice {
    pub(crate) fn new(account_id: &str, site_id: &str, kind: NoticeKind) -> Self {
        Self { account_id: account_id.to_owned(), site_id: site_id.to_owned(), kind }
    }

    /// The form sent to other nodes; `node` is the sender.
    fn written(&self, node: &str) -> String {
        let code = match self.kind {
            NoticeKind::Feedback => 'f',
            NoticeKind::Change => 'c',
            NoticeKind::Thread => 't',
        };
        format!("{NODE_PREFIX}{node}:{code}:{}:{}", self.account_id, self.site_id)
    }

    /// Parses the sender and the notice.
    fn read(text: &str) -> Option<(&str, Self)> {
        let mut parts = text.strip_prefix(NODE_PREFIX)?.split(':');
        let (node, code) = (parts.next()?, parts.next()?);
        let kind = match code {
            "f" => NoticeKind::Feedback,
            "t" => NoticeKind::Thread,
            _ => NoticeKind::Change,
        };
        Some((node, Self::new(parts.next()?, parts.next()?, kind)))
    }
}

/// The listeners, by account.
#[derive(Debug)]
pub(crate) struct NoticeBroker {
    /// Distinguishes this node's own notices from those of others.
    node: String,
    channels: Mutex<HashMap<String, broadcast::Sender<Notice>>>,
}

/// One listener of one account.
#[derive(Debug)]
pub struct Listener(broadcast::Receiver<Notice>);

impl Listener {
    /// The next notice. None when there will be no more.
    pub async fn next(&mut self) -> Option<Notice> {
        loop {
            match self.0.recv().await {
                Ok(notice) => return Some(notice),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

impl NoticeBroker {
    pub(crate) fn new(node: String) -> Self {
        Self { node, channels: Mutex::default() }
    }

    fn listen(&self, account_id: &str) -> Listener {
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        // Channels without listeners are removed when a new one is added.
        channels.retain(|_, channel| channel.receiver_count() > 0);
        let channel =
            channels.entry(account_id.to_owned()).or_insert_with(|| broadcast::channel(NOTICES_BUFFERED).0);
        Listener(channel.subscribe())
    }

    fn notify_listeners(&self, notice: Notice) {
        if notice.kind == NoticeKind::Thread {
            return;
        }
        let channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(channel) = channels.get(&notice.account_id) {
            // It is not an error if there are no listeners.
            let _ = channel.send(notice);
        }
    }

    /// Forwards a notice from another node; false if the text is not a notice.
    fn receive(&self, text: &str) -> bool {
        let Some((node, notice)) = Notice::read(text) else { return false };
        if node != self.node {
            self.notify_listeners(notice);
        }
        true
    }
}

impl App {
    /// Subscribes to changes of an account's pages from now on.
    pub fn listen_for_notices(&self, account_id: &str) -> Listener {
        self.notify.owner_notices.listen(account_id)
    }

    /// The form of a notice for other nodes.
    pub(crate) fn encode_for_nodes(&self, notice: &Notice) -> String {
        notice.written(&self.notify.owner_notices.node)
    }

    /// Forwards a notice from another node; false if the text is not a notice.
    pub(crate) fn receive_notice(&self, text: &str) -> bool {
        if let Some((node, notice)) = Notice::read(text)
            && node != self.notify.owner_notices.node
        {
            self.notify_viewers(&notice);
        }
        self.notify.owner_notices.receive(text)
    }

    /// Notifies the listeners on this node: the owner's programs and, of comments, the viewers' open pages.
    pub(crate) fn notify_listeners(&self, notice: Option<Notice>) {
        if let Some(notice) = notice {
            self.notify_viewers(&notice);
            self.notify.owner_notices.notify_listeners(notice);
        }
    }

    fn notify_viewers(&self, notice: &Notice) {
        if matches!(notice.kind, NoticeKind::Feedback | NoticeKind::Thread) {
            self.caches.pages.live.feedback_changed(&notice.site_id);
        }
    }

    /// Notifies the viewers' open pages that the owner's side changed threads. Who misses it, because another node cannot be
    /// reached, sees the change when the toolbar is opened the next time.
    pub(crate) async fn notify_of_threads(&self, site_id: &str) {
        let notice = Notice::new(NO_ACCOUNT, site_id, NoticeKind::Thread);
        if let Err(error) = self.store.notify_nodes(vec![self.encode_for_nodes(&notice)]).await {
            tracing::warn!(%error, site = site_id, "other nodes not notified of changed comments");
        }
        self.notify_listeners(Some(notice));
    }

    /// Commits a change and, once it is stored, notifies the owner's listeners.
    pub(crate) async fn commit_and_notify(&self, stmts: Vec<Stmt>, notice: Notice) -> Result<(), DbError> {
        self.store.commit_changed(stmts, vec![self.encode_for_nodes(&notice)]).await?;
        self.notify_listeners(Some(notice));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_listener_of_the_account_hears_it_and_nobody_else() {
        let notices = NoticeBroker::new("a".into());
        let (mut one, mut two) = (notices.listen("acct_1"), notices.listen("acct_1"));
        let mut other = notices.listen("acct_2");
        let notice = Notice::new("acct_1", "site_1", NoticeKind::Feedback);
        notices.notify_listeners(notice.clone());
        notices.notify_listeners(Notice::new("acct_3", "site_3", NoticeKind::Change));
        assert_eq!(one.next().await, Some(notice.clone()));
        assert_eq!(two.next().await, Some(notice));
        drop(notices);
        assert_eq!(other.next().await, None);
    }

    #[tokio::test]
    async fn news_of_other_nodes_are_passed_on_and_its_own_are_not_heard_twice() {
        let (here, there) = (NoticeBroker::new("a".into()), NoticeBroker::new("b".into()));
        let mut listener = here.listen("acct_1");
        for kind in [NoticeKind::Thread, NoticeKind::Feedback, NoticeKind::Change] {
            let notice = Notice::new("acct_1", "site_1", kind);
            assert!(here.receive(&notice.written(&here.node)), "its own");
            assert!(here.receive(&notice.written(&there.node)));
            if kind != NoticeKind::Thread {
                assert_eq!(listener.next().await, Some(notice), "threads are for viewers alone");
            }
        }
        let unowned = Notice::new(NO_ACCOUNT, "site_1", NoticeKind::Feedback);
        assert_eq!(Notice::read(&unowned.written("b")), Some(("b", unowned.clone())));
        assert!(!here.receive("t:some-page") && !here.receive("*") && !here.receive("k"));
        drop(here);
        assert_eq!(listener.next().await, None);
    }
}
