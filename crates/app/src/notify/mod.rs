//! Notifications: email to people, notices to the open streams of owners, and webhooks.

pub(crate) mod appeal_decisions;
pub(crate) mod mail;
pub(crate) mod operator_notifications;
pub(crate) mod owner_emails;
pub(crate) mod owner_notices;
pub(crate) mod webhooks;

use mail::{MailQueue, Mailer};
use owner_notices::NoticeBroker;
use std::sync::Arc;
use webhooks::{WebhookCounters, WebhookTransport};

/// The state of notifications on this node.
#[derive(Debug)]
pub(crate) struct Notify {
    pub(crate) mailer: Option<Arc<dyn Mailer>>,
    pub(crate) mail_queue: MailQueue,
    pub(crate) owner_notices: NoticeBroker,
    /// Without one no webhook is sent.
    pub(crate) webhook_transport: Option<Arc<dyn WebhookTransport>>,
    pub(crate) webhook_counters: WebhookCounters,
}

impl Notify {
    /// `node` distinguishes this node's own notices from those of others.
    pub(crate) fn new(
        mailer: Option<Arc<dyn Mailer>>,
        webhook_transport: Option<Arc<dyn WebhookTransport>>,
        node: String,
    ) -> Self {
        Self {
            mailer,
            mail_queue: MailQueue::default(),
            owner_notices: NoticeBroker::new(node),
            webhook_transport,
            webhook_counters: WebhookCounters::default(),
        }
    }
}
