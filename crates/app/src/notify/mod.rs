//! Notifications: email to people, and notices to the open streams of owners.

pub(crate) mod appeal_decisions;
pub(crate) mod mail;
pub(crate) mod operator_notifications;
pub(crate) mod owner_notices;

use mail::{MailQueue, Mailer};
use owner_notices::NoticeBroker;
use std::sync::Arc;

/// The state of notifications on this node.
#[derive(Debug)]
pub(crate) struct Notify {
    pub(crate) mailer: Option<Arc<dyn Mailer>>,
    pub(crate) mail_queue: MailQueue,
    pub(crate) owner_notices: NoticeBroker,
}

impl Notify {
    /// `node` distinguishes this node's own notices from those of others.
    pub(crate) fn new(mailer: Option<Arc<dyn Mailer>>, node: String) -> Self {
        Self { mailer, mail_queue: MailQueue::default(), owner_notices: NoticeBroker::new(node) }
    }
}
