//! News for an owner's programs that listen: who has an open stream hears at once that viewers have said something.

use crate::app::App;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tokio::sync::broadcast::{self, error::RecvError};

/// So many may wait for a listener that is slow; it is told of the oldest no more.
const WAITING: usize = 256;

/// A viewer has said something about this page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub site_id: String,
}

/// Who listens, by account.
#[derive(Debug, Default)]
pub(crate) struct Notices(Mutex<HashMap<String, broadcast::Sender<Notice>>>);

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

impl Notices {
    fn listen(&self, account_id: &str) -> Listener {
        let mut channels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever went away is forgotten when somebody comes.
        channels.retain(|_, channel| channel.receiver_count() > 0);
        let channel = channels.entry(account_id.to_owned()).or_insert_with(|| broadcast::channel(WAITING).0);
        Listener(channel.subscribe())
    }

    fn tell(&self, account_id: &str, notice: Notice) {
        let channels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(channel) = channels.get(account_id) {
            // Nobody there to hear it is no failure.
            let _ = channel.send(notice);
        }
    }
}

impl App {
    /// Hears what happens to an account's pages from now on.
    pub fn listen(&self, account_id: &str) -> Listener {
        self.notices.listen(account_id)
    }

    /// Tells the listeners of an account on this node.
    pub(crate) fn tell(&self, account_id: &str, notice: Notice) {
        self.notices.tell(account_id, notice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_listener_of_the_account_hears_it_and_nobody_else() {
        let notices = Notices::default();
        let (mut one, mut two) = (notices.listen("acct_1"), notices.listen("acct_1"));
        let mut other = notices.listen("acct_2");
        let notice = Notice { site_id: "site_1".into() };
        notices.tell("acct_1", notice.clone());
        notices.tell("acct_3", Notice { site_id: "site_3".into() });
        assert_eq!(one.next().await, Some(notice.clone()));
        assert_eq!(two.next().await, Some(notice));
        drop(notices);
        assert_eq!(other.next().await, None);
    }
}
